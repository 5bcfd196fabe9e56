// What a watch makes of barriers, of warp-wide operations and of fences.
#include <algorithm>
#include <string>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

void Watch::warp_synchronised(Warp& w, std::uint32_t lanes) {
  if (!wanted_.races || w.block->watch_state() == nullptr) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  clocks.warp_synchronised(w.index, lanes);
  clocks.settle_if_accessed(w.index, time_);
}

void Watch::fence(Warp& w) {
  if (!wanted_.races || w.block->watch_state() == nullptr) return;
  w.block->watch_state()->clocks.fence(w.index);
  w.block->watch_state()->clocks.lanes_fenced(w.index, w.active);
  grid_.fence(w.block->watch_state()->clocks.block(), time_);
}

bool Watch::is_aligned_barrier(std::uint32_t pc) {
  const auto [at, fresh] = aligned_.try_emplace(pc, false);
  if (fresh) {
    std::string text = launch_.text.instruction_at(pc);
    if (!text.empty() && text.front() == '@') text.erase(0, text.find_first_of(" \t") + 1);
    text = text.substr(text.find_first_not_of(" \t"));
    const std::string opcode = text.substr(0, text.find_first_of(" \t"));
    at->second = opcode.starts_with("bar.") || opcode.find(".aligned") != std::string::npos;
  }
  return at->second;
}

bool Watch::others_return(const Warp& w) {
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    const Op* op = w.code + g.pc;
    for (int hops = 0; hops < 8 && op->full == &op_branch; ++hops) op = w.code + op->target;
    const bool leaves = (op->full == &op_return || op->full == &op_exit) && g.frame->depth == 0;
    if (g.state != GroupState::ready || !leaves) return false;
  }
  return true;
}

void Watch::barrier_arrival(Warp& w, const Op& op, const BarrierMeeting& meeting) {
  if (w.block->watch_state() == nullptr) return;
  const std::uint32_t pc = op_pc(w, op);
  if (wanted_.races) w.block->watch_state()->clocks.arrive(meeting.barrier, w.index);
  if (!wanted_.barriers || !is_aligned_barrier(pc)) return;
  if (w.active != w.live && !others_return(w)) note_partial(w, pc, meeting.barrier);
}

void Watch::note_partial(Warp& w, std::uint32_t pc, unsigned barrier) {
  std::vector<PartialArrival>& all = w.block->watch_state()->partial;
  auto at = std::find_if(all.begin(), all.end(),
                         [&](const PartialArrival& p) { return p.warp == &w && p.pc == pc; });
  if (at == all.end()) {
    all.push_back({.warp = &w, .pc = pc, .barrier = barrier, .first = w.active, .live = w.live});
    at = all.end() - 1;
  }
  at->lanes |= w.active;
  if ((at->live & ~at->lanes) == 0) all.erase(at);
}

void Watch::report_partial(const PartialArrival& p) {
  bool fresh = false;
  const auto lane = static_cast<unsigned>(__builtin_ctz(p.first));
  Finding& f = add({FindingKind::divergent_barrier, p.pc, lane, p.pc}, *p.warp, fresh);
  if (!fresh) return;
  f.message = "Barrier in divergent code: " + std::to_string(__builtin_popcount(p.first)) + " of " +
              std::to_string(__builtin_popcount(p.live)) +
              " threads of the warp reached it together; first thread " + text_of(f.thread) +
              " in block " + text_of(f.block);
}

void Watch::barrier_leave(Warp& w, const Group& group, const BarrierMeeting& meeting) {
  if (w.block->watch_state() == nullptr) return;
  if (wanted_.races) {
    w.block->watch_state()->clocks.leave(meeting.barrier, w.index, group.mask);
  }
  if (!wanted_.barriers || !meeting.whole_block) return;
  bool fresh = false;
  const auto lane = static_cast<unsigned>(__builtin_ctz(group.mask));
  if (meeting.exited != 0 && is_aligned_barrier(group.members)) {
    Finding& f =
        add({FindingKind::barrier_after_exit, group.members, lane, group.members}, w, fresh);
    f.is_warning = true;
    if (fresh) {
      f.message = "Barrier passed after " + std::to_string(meeting.exited) +
                  " threads of the block had returned; block " + text_of(f.block);
    }
  }
  if (group.members == meeting.first_pc) return;
  if (!is_aligned_barrier(group.members) || !is_aligned_barrier(meeting.first_pc)) return;
  if (line_of(group.members) == line_of(meeting.first_pc)) return;
  Finding& f =
      add({FindingKind::mismatched_barrier, group.members, lane, meeting.first_pc}, w, fresh);
  if (!fresh) return;
  f.message = "Threads of one block met at different barriers: thread " + text_of(f.thread) +
              " in block " + text_of(f.block) + " here, others at line " +
              std::to_string(f.other_where.line);
}

void Watch::block_over(BlockWatch& block) {
  for (const PartialArrival& p : block.partial) report_partial(p);
  block.partial.clear();
}

void Watch::barrier_done(BlockWatch& block, unsigned barrier) {
  std::erase_if(block.partial, [&](const PartialArrival& p) {
    if (p.barrier != barrier) return false;
    report_partial(p);
    return true;
  });
  if (!wanted_.races) return;
  block.clocks.reset_barrier(barrier);
  block.clocks.settle_all(time_);
}

void Watch::inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  const std::uint32_t pc = op_pc(w, op);
  bool fresh = false;
  Finding& f = add({FindingKind::inactive_shuffle, pc, lane, pc}, w, fresh);
  if (!fresh) return;
  f.message = "Shuffle from lane " + std::to_string(from) +
              ", which does not take part: the value is undefined; thread " + text_of(f.thread) +
              " in block " + text_of(f.block);
}

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

}  // namespace assay::emulator
