// mbarrier objects in shared memory, and the bulk copies that report to them. What is copied is
// read at once and arrives when somebody asks its barrier, as late as a device may be: who reads it
// before finds what was there. What reduces, or reports to no barrier, arrives at once.
#pragma once

#include <cstddef>

#include "engine/emulator/op.h"

namespace assay::emulator {

// A barrier object taken apart. 20 bits count arrivals, as on a device.
struct MbarrierWord {
  std::uint32_t pending = 0;   // arrivals
  std::uint32_t expected = 0;  // in every phase
  std::int32_t bytes = 0;      // still to come
  bool odd = false;            // the phase's parity

  static constexpr std::uint64_t kCount = (1U << 20) - 1;
  static MbarrierWord of(std::uint64_t bits) {
    return {.pending = static_cast<std::uint32_t>(bits & kCount),
            .expected = static_cast<std::uint32_t>(bits >> 20 & kCount),
            .bytes = static_cast<std::int32_t>(static_cast<std::int64_t>(bits << 1) >> 41),
            .odd = bits >> 63 != 0};
  }
  static MbarrierWord at(const std::byte* p);
  [[nodiscard]] std::uint64_t bits() const {
    return (pending & kCount) | (expected & kCount) << 20 |
           (static_cast<std::uint64_t>(bytes) & ((std::uint64_t{1} << 23) - 1)) << 40 |
           std::uint64_t{odd} << 63;
  }
  // The phase ends when everybody arrived and every byte is there.
  void settle() {
    if (pending != 0 || bytes != 0) return;
    odd = !odd;
    pending = expected;
  }
};

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
// What such a test looks at and would find now; nullptr: there is no barrier.
[[nodiscard]] std::byte* tested_barrier(Warp& w, const Op& op, unsigned lane);
[[nodiscard]] bool phase_is_over(Warp& w, const Op& op, unsigned lane, const std::byte* barrier);
void op_mbarrier_pending(Warp& w, const Op& op);  // d = arrivals missing in state a

// cp.async.bulk: d: target address row, a: source address row, b: bytes, c: barrier address row or
// kNowhere; aux: space of the target | space of the source << 8 | bytes of an element << 16; imm:
// the AtomicForm::Combine of cp.reduce.async.bulk, or 0
void op_bulk_copy(Warp& w, const Op& op);

}  // namespace assay::emulator
