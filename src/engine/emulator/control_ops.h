// Handlers of control flow, barriers and warp-wide operations. The same for every instruction set.
#pragma once

#include "engine/emulator/op.h"

namespace assay::emulator {

struct Group;

// Runs `inner` for the lanes that pass the guard.
void op_guarded(Warp& w, const Op& op);
// The same for what may park or move the group: lanes that do not pass go on by themselves.
void op_guarded_control(Warp& w, const Op& op);
// Stands now and then in long straight code, so that a time slice ends; counts as no instruction.
void op_checkpoint(Warp& w, const Op& op);

void op_branch(Warp& w, const Op& op);
void op_branch_if(Warp& w, const Op& op);
void op_branch_table(Warp& w, const Op& op);  // a: index row, aux: table
void op_call(Warp& w, const Op& op);          // aux: call site, a: address row of an indirect call
void op_return(Warp& w, const Op& op);
void op_exit(Warp& w, const Op& op);
void op_trap(Warp& w, const Op& op);
void op_unsupported(Warp& w, const Op& op);
void op_nothing(Warp& w, const Op& op);
void op_fence(Warp& w, const Op& op);          // membar, fence
void op_local_address(Warp& w, const Op& op);  // d: row of aux bytes, imm: offset in the frame
void op_window_add(Warp& w, const Op& op);     // cvta: d = a + imm; e: lane bytes of a
void op_window_subtract(Warp& w, const Op& op);
void op_isspacep(Warp& w, const Op& op);     // d: predicate, a: address row, imm: window or 0
void op_is_constant(Warp& w, const Op& op);  // likewise, of a variable in constant memory

// a: barrier row, b: thread count row or kNowhere, c: predicate, d: result, aux: BarrierKind
enum class BarrierKind : std::uint8_t { sync, arrive, popc, conjunction, disjunction };
inline constexpr std::uint32_t kClusterBarrier = 0x200;  // in aux: it is none of the numbered ones
void op_barrier(Warp& w, const Op& op);
void op_warp_barrier(Warp& w, const Op& op);  // a: member mask row

// Whether a group that waits to run comes to the kernel's end by jumps alone.
[[nodiscard]] bool leaves_at_once(const Group& g, const Op* code);

// --- warp_ops.cc ---
// d, a: rows; b: lane or delta; c: clamp and segment; e: member mask; target: result predicate
Handlers shuffle_handlers(std::string_view mode);
enum class Vote : std::uint8_t { all, any, uniform, ballot };
Handlers vote_handlers(Vote vote);  // d: result, c: predicate (aux 1: negated), e: member mask
Handlers match_handlers(bool all, unsigned bytes);
void op_activemask(Warp& w, const Op& op);
Handlers redux_handlers(Form& form, Type& type);
void op_elect(Warp& w, const Op& op);  // d: row or kNowhere, c: predicate, e: member mask

// --- system_ops.cc ---
void op_clock32(Warp& w, const Op& op);
void op_clock64(Warp& w, const Op& op);
void op_globaltimer(Warp& w, const Op& op);
void op_globaltimer_low(Warp& w, const Op& op);
void op_globaltimer_high(Warp& w, const Op& op);
void op_nanosleep(Warp& w, const Op& op);
void op_vprintf(Warp& w, const Op& op);
void op_assertfail(Warp& w, const Op& op);

}  // namespace assay::emulator
