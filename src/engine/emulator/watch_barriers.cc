// What a watch makes of barriers and of fences.
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

// Lanes that name different masks meet only those of their own.
void Watch::warp_synchronised(Warp& w, const std::uint32_t* masks) {
  if (!wanted_.races || w.block->watch_state() == nullptr) return;
  std::uint32_t left = w.active;
  while (left != 0) {
    const std::uint32_t mask = masks[__builtin_ctz(left)];
    std::uint32_t lanes = 0;
    for (std::uint32_t m = left; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      lanes |= static_cast<std::uint32_t>(masks[k] == mask) << k;
    }
    warp_synchronised(w, lanes);
    left &= ~lanes;
  }
}

void Watch::fence(Warp& w, std::uint32_t pc) {
  if (!wanted_.races || w.block->watch_state() == nullptr) return;
  BlockClocks& clocks = w.block->watch_state()->clocks;
  if (is_for_copies(pc)) {
    clocks.proxy_fence(w.index);
  } else if (is_of_block(pc)) {
    clocks.fence(w.index);
  } else {
    clocks.device_fence(w.index);
  }
  clocks.lanes_fenced(w.index, w.active);
}

bool Watch::is_for_copies(std::uint32_t pc) {
  const auto [at, fresh] = for_copies_.try_emplace(pc, false);
  if (fresh) {
    at->second = launch_.text.instruction_at(pc).find("fence.proxy.async") != std::string::npos;
  }
  return at->second;
}

// Does a fence or an atomic order things for the threads of a block only? An mbarrier does unless
// it says more.
bool Watch::is_of_block(std::uint32_t pc) {
  const auto [at, fresh] = of_block_.try_emplace(pc, false);
  if (fresh) {
    const std::string text = launch_.text.instruction_at(pc);
    const bool is_mbarriers = text.find("mbarrier.") != std::string::npos;
    at->second = is_mbarriers && text.find(".cluster") == std::string::npos;
    for (std::size_t i = text.find(".cta"); i != std::string::npos; i = text.find(".cta", i + 1)) {
      const char after = i + 4 < text.size() ? text[i + 4] : ' ';
      at->second = at->second || after == '.' || after == ' ' || after == ';' || after == '\t';
    }
  }
  return at->second;
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
  const Op* const code = w.block->launch().text.code.data();
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    if (g.state != GroupState::ready || !leaves_at_once(g, code)) return false;
  }
  return true;
}

void Watch::barrier_arrival(Warp& w, const Op& op, const BarrierMeeting& meeting) {
  if (w.block->watch_state() == nullptr) return;
  const std::uint32_t pc = op_pc(w, op);
  if (wanted_.races) w.block->watch_state()->clocks.arrive(meeting.barrier, w.index, w.active);
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

// Written once: copies of an unrolled loop or of an inlined function are at the same place.
bool Watch::is_one_place(std::uint32_t a, std::uint32_t b) const {
  const SourceLine at = launch_.text.where_pc(a);
  const SourceLine other = launch_.text.where_pc(b);
  return a == b || (at.line != 0 && at.line == other.line && at.column == other.column &&
                    at.file == other.file);
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
  if (is_one_place(group.members, meeting.first_pc)) return;
  Finding& f =
      add({FindingKind::mismatched_barrier, group.members, lane, meeting.first_pc}, w, fresh);
  if (!fresh) return;
  f.message = "Threads of one block met at different barriers: thread " + text_of(f.thread) +
              " in block " + text_of(f.block) + " here, others at line " +
              std::to_string(f.other_where.line);
}

// Lanes that still run were on their way: what kept them is somewhere else.
bool Watch::are_under_way(const Warp& w, std::uint32_t lanes) {
  std::uint32_t running = w.active;
  for (unsigned i = 0; i < w.group_count; ++i) {
    if (w.groups[i].state == GroupState::ready) running |= w.groups[i].mask;
  }
  return lanes != 0 && (lanes & ~running) == 0;
}

void Watch::block_over(BlockWatch& block) {
  for (const PartialArrival& p : block.partial) {
    const std::uint32_t missing = p.live & ~p.lanes & p.warp->live;
    if (!are_under_way(*p.warp, missing)) report_partial(p);
  }
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

}  // namespace assay::emulator
