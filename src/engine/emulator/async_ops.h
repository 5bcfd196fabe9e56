// cp.async: what is copied is read at once and arrives when its thread waits for it, as late as a
// device may be: who reads it before finds what was there. Or at once, if the launch says so.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

inline constexpr std::uint32_t kAllCopies = 0xFFFF'FFFF;

// a: source row, imm: its offset; d: target row, b: its offset row; aux: bytes; c: row of the bytes
// that are read, the rest is zero, or kNowhere
void op_async_copy(Warp& w, const Op& op);
// The copies of a thread since the last one are a group.
void op_async_commit(Warp& w, const Op& op);
// aux: how many of a thread's last groups may still be under way, or kAllCopies: all copies arrive,
// those of no group too
void op_async_wait(Warp& w, const Op& op);

}  // namespace assay::emulator
