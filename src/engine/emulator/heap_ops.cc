#include "engine/emulator/heap_ops.h"

#include <algorithm>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

std::uint64_t* row64(Warp& w, std::uint32_t offset) {
  return reinterpret_cast<std::uint64_t*>(w.rows + offset);
}

std::uint64_t first_argument(Warp& w, const CallSite& call, unsigned lane) {
  std::uint64_t value = 0;
  if (call.arguments.empty()) return 0;
  const FormalSlot& s = call.arguments[0];
  for (unsigned b = 0; b < s.bytes && b < 8; ++b) {
    value |= static_cast<std::uint64_t>(w.rows[s.at(lane, b)]) << (8 * b);
  }
  return value;
}

}  // namespace

void op_malloc(Warp& w, const Op& op) {
  LaunchState& launch = w.block->launch();
  const CallSite& call = launch.text.calls[op.aux];
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t bytes = first_argument(w, call, k);
    const std::uint64_t address = launch.heap->allocate(bytes);
    if (w.watch != nullptr && address != 0) w.watch->allocated(address, bytes);
    if (call.results.empty()) continue;
    const FormalSlot& s = call.results[0];
    for (unsigned b = 0; b < s.bytes && b < 8; ++b) {
      w.rows[s.at(k, b)] = static_cast<std::byte>(address >> (8 * b));
    }
  }
}

void op_free(Warp& w, const Op& op) {
  LaunchState& launch = w.block->launch();
  const CallSite& call = launch.text.calls[op.aux];
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    if (launch.heap->release(first_argument(w, call, k))) continue;
    fault_simple(w, op, FaultKind::trap, k, "free() of an address that malloc() did not return");
    return;
  }
}

// All lanes of an activation have one stack pointer: the largest request moves it for all.
void op_alloca(Warp& w, const Op& op) {
  std::uint64_t most = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    most = std::max(most, row64(w, op.a)[__builtin_ctz(m)]);
  }
  const std::uint64_t base =
      (w.frame->local_base + w.frame->function->local_bytes + w.frame->dynamic_bytes + 15) &
      ~std::uint64_t{15};
  if (most > w.block->local_limit() || base + most > w.block->local_limit()) {
    fault_simple(w, op, FaultKind::stack_overflow, static_cast<unsigned>(__builtin_ctz(w.active)),
                 "Stack overflow: alloca of " + std::to_string(most) + " bytes needs more than " +
                     std::to_string(w.block->local_limit()) + " bytes per thread");
    return;
  }
  if (!grow_local(w, base + most)) {
    w.block->out_of_memory(w);
    return;
  }
  w.frame->dynamic_bytes = base + most - w.frame->local_base - w.frame->function->local_bytes;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) row64(w, op.d)[__builtin_ctz(m)] = base;
}

void op_stack_save(Warp& w, const Op& op) {
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    row64(w, op.d)[__builtin_ctz(m)] = w.frame->dynamic_bytes;
  }
}

// While other lanes are elsewhere in this activation, their memory stays.
void op_stack_restore(Warp& w, const Op& op) {
  if (w.active != w.live) return;
  const std::uint64_t saved = row64(w, op.a)[__builtin_ctz(w.active)];
  w.frame->dynamic_bytes = std::min(w.frame->dynamic_bytes, saved);
}

}  // namespace assay::emulator
