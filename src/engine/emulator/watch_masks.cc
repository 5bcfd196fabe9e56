// What a watch makes of the member masks of warp-wide operations: lanes that call and are not
// named, and lanes that are named and elsewhere. Who has returned may be named: the CUDA guide asks
// for all lanes of the mask that have not. Lanes that went past an operation and return later are
// waited for until they have: whoever wrote that seldom meant it.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

bool jumps_or_leaves(const Op& op) {
  return op.full == &op_branch || op.full == &op_return || op.full == &op_exit;
}

// Do threads that stand at the one and behind the other meet before they leave? Then what is
// between was left out by some; who returns by a way of his own has left.
bool meet_again(const Module::Text& text, std::uint32_t operation, std::uint32_t at) {
  const std::vector<bool> behind = text.reached_from(operation + 1);
  const std::vector<bool> others = text.reached_from(at);
  for (std::uint32_t pc = 0; pc < text.code.size(); ++pc) {
    if (behind[pc] && others[pc] && !jumps_or_leaves(text.code[pc])) return true;
  }
  return false;
}

}  // namespace

void Watch::excluded_caller(Warp& w, const Op& op, unsigned lane) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  const std::uint32_t pc = op_pc(w, op);
  bool fresh = false;
  Finding& f = add({FindingKind::partial_mask, pc, lane, pc}, w, fresh);
  if (!fresh) return;
  f.message = "Member mask of a shuffle excludes its caller: the result is undefined; thread " +
              text_of(f.thread) + " in block " + text_of(f.block);
}

void Watch::partial_mask(Warp& w, const Op& op, std::uint32_t missing) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  const std::uint32_t pc = op_pc(w, op);
  const auto lane = static_cast<unsigned>(__builtin_ctz(w.active));
  std::uint32_t other = pc;
  for (unsigned i = 0; i < w.group_count; ++i) {
    if ((w.groups[i].mask & missing) != 0) other = w.groups[i].pc;
  }
  bool fresh = false;
  Finding& f = add({FindingKind::partial_mask, pc, lane, other}, w, fresh);
  if (!fresh) return;
  f.message = "Warp-wide operation by " + std::to_string(lanes_in(w.active)) + " lanes; " +
              std::to_string(lanes_in(missing)) + " more that its mask names are at line " +
              std::to_string(f.other_where.line) + ": the result is undefined; thread " +
              text_of(f.thread) + " in block " + text_of(f.block);
}

// Those in a function that was called come back from it, and are nobody's business yet.
void Watch::members_awaited(Warp& w, std::uint32_t pc, std::uint32_t missing) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  const Op* const code = launch_.text.code.data();
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    const std::uint32_t lanes = g.mask & missing;
    if (lanes == 0 || g.frame != w.frame || leaves_at_once(g, code)) continue;
    w.block->watch_state()->awaited.push_back({.warp = &w, .pc = pc, .lanes = lanes, .at = g.pc});
  }
}

void Watch::members_met(Warp& w, std::uint32_t pc, std::uint32_t present) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  std::erase_if(w.block->watch_state()->awaited, [&](const AwaitedLanes& a) {
    if (a.warp != &w || a.pc != pc) return false;
    const std::uint32_t gone = a.lanes & ~w.live;
    if (gone != 0 && meet_again(launch_.text, pc, a.at)) tell_passed_by(w, a, present, gone);
    return true;
  });
}

void Watch::tell_passed_by(Warp& w, const AwaitedLanes& a, std::uint32_t present,
                           std::uint32_t gone) {
  bool fresh = false;
  const auto lane = static_cast<unsigned>(__builtin_ctz(present));
  Finding& f = add({FindingKind::partial_mask, a.pc, lane, a.at}, w, fresh);
  if (!fresh) return;
  f.is_warning = true;  // a `return` whose last statements others share looks the same
  f.message = "Warp-wide operation by " + std::to_string(lanes_in(present)) + " lanes; " +
              std::to_string(lanes_in(gone)) + " more that its mask names never came to it";
  if (f.other_where.line != f.where.line) {
    f.message += " but went on at line " + std::to_string(f.other_where.line);
  }
  f.message += " and returned: it takes place without them, when they have; first thread " +
               text_of(f.thread) + " in block " + text_of(f.block);
}

void Watch::check_masks(Warp& w, std::uint32_t pc, const std::uint32_t* masks) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  const std::uint32_t first = masks[__builtin_ctz(w.active)];
  bool are_same = true;  // mostly so
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    are_same = are_same && masks[__builtin_ctz(m)] == first;
  }
  if (are_same) return;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    for (std::uint32_t n = masks[k] & w.active; n != 0; n &= n - 1) {
      const auto j = static_cast<unsigned>(__builtin_ctz(n));
      if (masks[j] != masks[k]) return tell_masks_differ(w, pc, k, j);
    }
  }
}

void Watch::tell_masks_differ(Warp& w, std::uint32_t pc, unsigned lane, unsigned other) {
  bool fresh = false;
  Finding& f = add({FindingKind::partial_mask, pc, lane, pc}, w, fresh);
  if (!fresh) return;
  f.other_block = f.block;
  f.other_thread = thread_of(w.index, other);
  f.message =
      "Lanes of one warp-wide operation name different masks: the result is undefined; thread " +
      text_of(f.thread) + " names thread " + text_of(f.other_thread) +
      ", whose mask is another, in block " + text_of(f.block);
}

}  // namespace assay::emulator
