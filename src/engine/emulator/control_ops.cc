#include "engine/emulator/control_ops.h"

#include <atomic>

#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

unsigned first_lane(const Warp& w) { return static_cast<unsigned>(__builtin_ctz(w.active)); }

const std::uint32_t* row32(const Warp& w, std::uint32_t offset) {
  return reinterpret_cast<const std::uint32_t*>(w.rows + offset);
}

void jump(Warp& w, std::uint32_t target) {
  const bool backward = target < w.pc;
  retire(w, target);
  if (!backward) return;
  if (w.slice < 0) w.event = Event::poll;
  if (w.active != w.live && ++w.turns > 4096) w.event = Event::reschedule;
}

}  // namespace

bool leaves_at_once(const Group& g, const Op* code) {
  const Op* op = code + g.pc;
  for (int hops = 0; hops < 8 && op->full == &op_branch; ++hops) op = code + op->target;
  return (op->full == &op_return || op->full == &op_exit) && g.frame->depth == 0;
}

void op_guarded(Warp& w, const Op& op) {
  const std::uint32_t active = w.active;
  const std::uint32_t pass = active & guard_of(w, op);
  if (pass == 0) return;
  w.active = pass;
  op.inner(w, op);
  w.active = active;
}

void op_guarded_control(Warp& w, const Op& op) {
  const std::uint32_t pass = w.active & guard_of(w, op);
  if (pass == 0) return;
  if (pass != w.active) split(w, w.active & ~pass, w.pc);
  op.inner(w, op);
}

void op_checkpoint(Warp& w, const Op&) {
  retire(w, w.pc);
  --w.warp_instructions;
  w.thread_instructions -= static_cast<unsigned>(__builtin_popcount(w.active));
  if (w.slice < 0) w.event = Event::poll;
}

void op_branch(Warp& w, const Op& op) { jump(w, op.target); }

void op_branch_if(Warp& w, const Op& op) {
  const std::uint32_t taken = w.active & guard_of(w, op);
  if (taken == 0) return;
  if (taken == w.active) {
    jump(w, op.target);
    return;
  }
  if (op.target < w.pc) ++w.turns;
  split(w, taken, op.target);
}

void op_branch_table(Warp& w, const Op& op) {
  const std::vector<std::uint32_t>& table = w.block->launch().text.jump_tables[op.aux];
  const std::uint32_t* const index = row32(w, op.a);
  std::uint32_t rest = w.active;
  if (op.guard != kNowhere) rest &= guard_of(w, op);
  while (rest != 0) {
    const auto k = static_cast<unsigned>(__builtin_ctz(rest));
    if (index[k] >= table.size()) {
      fault_simple(w, op, FaultKind::invalid_call, k, "Jump outside the branch table");
      return;
    }
    std::uint32_t same = 0;
    for (std::uint32_t m = rest; m != 0; m &= m - 1) {
      const auto j = static_cast<unsigned>(__builtin_ctz(m));
      if (index[j] == index[k]) same |= 1U << j;
    }
    rest &= ~same;
    if (same == w.active) {
      jump(w, table[index[k]]);
      return;
    }
    split(w, same, table[index[k]]);
  }
}

void op_call(Warp& w, const Op& op) {
  const Module::Text& text = w.block->launch().text;
  const CallSite& call = text.calls[op.aux];
  if (call.function >= 0) {
    enter_function(w, op, text.functions[static_cast<std::size_t>(call.function)], call);
    return;
  }
  const auto* const targets = reinterpret_cast<const std::uint64_t*>(w.rows + op.a);
  const unsigned k = first_lane(w);
  std::uint32_t same = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto j = static_cast<unsigned>(__builtin_ctz(m));
    if (targets[j] == targets[k]) same |= 1U << j;
  }
  const std::uint64_t index = (targets[k] - kFunctionBase) / 16;
  if (targets[k] < kFunctionBase || targets[k] % 16 != 0 || index >= text.functions.size() ||
      !text.functions[index].compiled) {
    fault_simple(w, op, FaultKind::invalid_call, k, "Call through a pointer to no function");
    return;
  }
  // The other lanes call again when they are the first.
  if (same != w.active) {
    split(w, w.active & ~same, op_pc(w, op));
  }
  enter_function(w, op, text.functions[index], call);
}

void op_return(Warp& w, const Op& op) {
  const std::uint32_t mask = op.guard == kNowhere ? w.active : w.active & guard_of(w, op);
  if (mask == 0) return;
  if (w.frame->depth == 0) {
    exit_lanes(w, mask);
  } else {
    leave_function(w, mask);
  }
}

void op_exit(Warp& w, const Op& op) {
  const std::uint32_t mask = op.guard == kNowhere ? w.active : w.active & guard_of(w, op);
  if (mask != 0) exit_lanes(w, mask);
}

void op_trap(Warp& w, const Op& op) {
  fault_simple(w, op, FaultKind::trap, first_lane(w), "Trap instruction executed");
}

void op_unsupported(Warp& w, const Op& op) {
  const std::uint32_t pc = op_pc(w, op);
  LaunchState& launch = w.block->launch();
  Fault fault;
  fault.instruction = launch.text.instruction_at(pc);
  fault.where = launch.text.where_pc(pc);
  w.event = Event::fault;
  std::string message = "Unsupported instruction: " + fault.instruction;
  launch.end(Ending::unsupported, std::move(message), std::move(fault));
}

void op_nothing(Warp&, const Op&) {}

void op_fence(Warp& w, const Op& op) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (w.watch != nullptr) w.watch->fence(w, op_pc(w, op));
}

void op_local_address(Warp& w, const Op& op) {
  const std::uint64_t address = w.frame->local_base + static_cast<std::uint64_t>(op.imm);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    __builtin_memcpy(w.rows + op.d + static_cast<unsigned>(__builtin_ctz(m)) * op.aux, &address,
                     op.aux);
  }
}

void op_window_add(Warp& w, const Op& op) {
  auto* const d = reinterpret_cast<std::uint64_t*>(w.rows + op.d);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::uint64_t a = 0;
    __builtin_memcpy(&a, w.rows + op.a + k * op.e, op.e);
    d[k] = a + static_cast<std::uint64_t>(op.imm);
  }
}

void op_window_subtract(Warp& w, const Op& op) {
  const auto* const a = reinterpret_cast<const std::uint64_t*>(w.rows + op.a);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t v = a[k] - static_cast<std::uint64_t>(op.imm);
    __builtin_memcpy(w.rows + op.d + k * op.e, &v, op.e);
  }
}

void op_isspacep(Warp& w, const Op& op) {
  const auto* const a = reinterpret_cast<const std::uint64_t*>(w.rows + op.a);
  std::uint32_t inside = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const bool in = op.imm != 0 ? a[k] - static_cast<std::uint64_t>(op.imm) < kWindowBytes
                                : a[k] < kSharedWindow;
    inside |= static_cast<std::uint32_t>(in) << k;
  }
  std::uint32_t& p = predicate(w, op.d);
  p = (p & ~w.active) | inside;
}

void op_is_constant(Warp& w, const Op& op) {
  const auto* const a = reinterpret_cast<const std::uint64_t*>(w.rows + op.a);
  std::uint32_t inside = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::int32_t at = w.table->find(a[k], 1);
    const bool in = at >= 0 && w.objects[at].is_variable && !w.objects[at].writable;
    inside |= static_cast<std::uint32_t>(in) << k;
  }
  std::uint32_t& p = predicate(w, op.d);
  p = (p & ~w.active) | inside;
}

void op_barrier(Warp& w, const Op& op) {
  const auto kind = static_cast<BarrierKind>(op.aux & 0xFF);
  const bool is_cluster = (op.aux & kClusterBarrier) != 0;
  Block::Arrival arrival{.id = is_cluster ? kBarriers : row32(w, op.a)[first_lane(w)]};
  if (!is_cluster && arrival.id >= kBarriers) {
    fault_simple(w, op, FaultKind::invalid_barrier, first_lane(w),
                 "Barrier " + std::to_string(arrival.id) + " does not exist (0 to 15)");
    return;
  }
  if (op.b != kNowhere) {
    arrival.threads = row32(w, op.b)[first_lane(w)];
    if (arrival.threads == 0 || arrival.threads % 32 != 0) {
      fault_simple(w, op, FaultKind::invalid_barrier, first_lane(w),
                   "Barrier for " + std::to_string(arrival.threads) +
                       " threads, which is no multiple of the warp size");
      return;
    }
  }
  arrival.waits = kind != BarrierKind::arrive;
  if (op.c != kNowhere) {
    arrival.values = predicate(w, op.c);
    if ((op.aux & 0x100) != 0) arrival.values = ~arrival.values;
  }
  w.block->arrive(w, op, arrival);
}

void op_warp_barrier(Warp& w, const Op& op) {
  const std::uint32_t* const masks = row32(w, op.a);
  std::uint32_t members = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    if ((masks[k] >> k & 1U) == 0) {
      fault_simple(w, op, FaultKind::invalid_shuffle, k,
                   "Member mask of bar.warp.sync excludes its caller");
      return;
    }
    members |= masks[k];
  }
  warp_fence(w, members, masks);
}

}  // namespace assay::emulator
