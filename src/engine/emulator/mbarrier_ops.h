// mbarrier objects in shared memory, and the bulk copies that report to them. What is copied is
// read at once and arrives when somebody asks its barrier, as late as a device may be: who reads it
// before finds what was there. What reduces, or reports to no barrier, arrives at once.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

// The word of a barrier: pending and expected arrivals, bytes still to come, the phase's parity.
enum class BarrierWord : std::uint8_t {
  init,  // b: count
  invalidate,
  arrive,        // d: state or kNowhere, b: count row or kNowhere, c: bytes row or kNowhere
  arrive_drop,   // likewise
  expect_bytes,  // b: bytes
  complete_bytes,
};
// a: 64-bit address row + imm; aux: space | BarrierWord << 8
void op_mbarrier(Warp& w, const Op& op);
// d: predicate, b: state (64 bits) or parity (aux bit 16); gives way if the phase is not over
void op_mbarrier_test(Warp& w, const Op& op);
void op_mbarrier_pending(Warp& w, const Op& op);  // d = arrivals missing in state a

// cp.async.bulk: d: target address row, a: source address row, b: bytes, c: barrier address row or
// kNowhere; aux: space of the target | space of the source << 8 | bytes of an element << 16; imm:
// the AtomicForm::Combine of cp.reduce.async.bulk, or 0
void op_bulk_copy(Warp& w, const Op& op);

}  // namespace assay::emulator
