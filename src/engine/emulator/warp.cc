// Which lanes run: the group with the deepest call, then the lowest pc, first. Lanes that left a
// loop early wait at its end until the rest arrive and go on together. A group that only turns in a
// loop gives way from time to time, so that lanes waiting for one another get there.
#include "engine/emulator/warp.h"

#include <utility>

#include "engine/emulator/block.h"
#include "engine/emulator/local_trial.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

constexpr std::uint32_t kTurnsBeforeYield = 4096;

bool before(const Group& a, const Group& b) {
  if (a.frame->depth != b.frame->depth) return a.frame->depth > b.frame->depth;
  if (a.pc != b.pc) return a.pc < b.pc;
  return a.frame->id < b.frame->id;
}

void remove_group(Warp& w, unsigned i) { w.groups[i] = w.groups[--w.group_count]; }

void add_group(Warp& w, const Group& g) { w.groups[w.group_count++] = g; }

// The running group back among the others.
void put_back(Warp& w) {
  if (w.active == 0) return;
  retire(w, w.pc);
  add_group(w, {.pc = w.pc, .mask = w.active, .frame = w.frame, .last_run = w.selections});
  w.active = 0;
}

void merge_equal(Warp& w, Group& into) {
  for (unsigned i = 0; i < w.group_count;) {
    const Group& g = w.groups[i];
    if (g.state == GroupState::ready && g.pc == into.pc && g.frame == into.frame) {
      into.mask |= g.mask;
      into.goes_alone = into.goes_alone || g.goes_alone;
      remove_group(w, i);
    } else {
      ++i;
    }
  }
}

// Where the running group meets the next one in order.
std::uint32_t meeting_point(const Warp& w, const Group& running) {
  const Group* next = nullptr;
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    if (g.state == GroupState::ready && (next == nullptr || before(g, *next))) next = &g;
  }
  if (next == nullptr || next->frame->depth != running.frame->depth) return kNowhere;
  return next->pc > running.pc ? next->pc : running.pc + 1;
}

bool select_group(Warp& w) {
  int best = -1;
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    if (g.state != GroupState::ready) continue;
    if (best < 0) {
      best = static_cast<int>(i);
      continue;
    }
    const Group& b = w.groups[static_cast<unsigned>(best)];
    if (w.taking_turns ? g.last_run < b.last_run : before(g, b)) best = static_cast<int>(i);
  }
  if (best < 0) return false;
  Group chosen = w.groups[static_cast<unsigned>(best)];
  remove_group(w, static_cast<unsigned>(best));
  merge_equal(w, chosen);
  ++w.selections;
  w.active = chosen.mask;
  w.pc = chosen.pc;
  w.run_start = chosen.pc;
  w.frame = chosen.frame;
  w.rows = chosen.frame->rows;
  w.goes_alone = chosen.goes_alone;
  w.pending_pc = w.taking_turns ? kNowhere : meeting_point(w, chosen);
  w.taking_turns = false;
  return true;
}

void run_converged(Warp& w) {
  do {
    const Op& op = w.code[w.pc++];
    op.full(w, op);
  } while (w.event == Event::none);
}

void run_diverged(Warp& w) {
  do {
    const Op& op = w.code[w.pc++];
    op.masked(w, op);
  } while (w.event == Event::none && w.pc < w.pending_pc);
}

std::uint32_t arrived_at(const Warp& w, std::uint32_t pc, const Frame* frame) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    if (g.state == GroupState::at_warp_sync && !g.is_fence && g.pc == pc && g.frame == frame) {
      mask |= g.mask;
    }
  }
  return mask;
}

std::uint32_t arrived_at_fence(const Warp& w) {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < w.group_count; ++i) {
    const Group& g = w.groups[i];
    if (g.state == GroupState::at_warp_sync && g.is_fence) mask |= g.mask;
  }
  return mask;
}

// Lanes that wait at different operations, all for the same lanes: a device lets each go on by
// itself (seen on one of compute capability 9.0).
void release_mutual(Warp& w) {
  for (unsigned i = 0; i < w.group_count; ++i) {
    const std::uint32_t needed = w.groups[i].members & w.live;
    std::uint32_t met = 0;
    for (unsigned j = 0; j < w.group_count; ++j) {
      const Group& other = w.groups[j];
      const bool waits = other.state == GroupState::at_warp_sync;
      if (waits && (other.members & w.live) == needed) met |= other.mask;
    }
    if (w.groups[i].state != GroupState::at_warp_sync || (needed & ~met) != 0) continue;
    for (unsigned j = 0; j < w.group_count; ++j) {
      Group& other = w.groups[j];
      if (other.state != GroupState::at_warp_sync || (other.members & w.live) != needed) continue;
      other.state = GroupState::ready;
      other.goes_alone = !other.is_fence;
    }
  }
}

// Makes ready what waits for nobody any more.
void release_syncs(Warp& w) {
  const std::uint32_t fence = arrived_at_fence(w);
  for (unsigned i = 0; i < w.group_count; ++i) {
    Group& g = w.groups[i];
    if (g.state != GroupState::at_warp_sync) continue;
    const std::uint32_t arrived = g.is_fence ? fence : arrived_at(w, g.pc, g.frame);
    if ((g.members & w.live & ~arrived) != 0) continue;
    const Group released = g;
    if (w.watch != nullptr && released.is_fence) {
      w.watch->warp_synchronised(w, released.mask | (arrived & released.members));
      w.watch->members_met(w, released.pc - 1, released.mask);
    }
    for (unsigned j = 0; j < w.group_count; ++j) {
      Group& other = w.groups[j];
      const bool together =
          other.state == GroupState::at_warp_sync && other.is_fence == released.is_fence &&
          (released.is_fence || (other.pc == released.pc && other.frame == released.frame)) &&
          (other.mask & released.members) != 0;
      if (together) other.state = GroupState::ready;
    }
    g.state = GroupState::ready;
  }
  release_mutual(w);
}

}  // namespace

void start_warp(Warp& w, std::uint32_t lanes) {
  Frame* const base = w.frames.front().get();
  w.live = lanes;
  w.active = lanes;
  w.pc = base->function->entry_pc;
  w.run_start = w.pc;
  w.pending_pc = kNowhere;
  w.event = Event::none;
  w.group_count = 0;
  w.turns = 0;
  w.taking_turns = false;
  w.goes_alone = false;
  w.copies.clear();
  w.copy_groups.fill(0);
  w.frame = base;
  w.rows = base->rows;
  base->lanes = lanes;
  base->dynamic_bytes = 0;
  if (w.exited_in_call) reclaim_frames(w);
  set_block_rows(w);
  if (w.trial != nullptr) w.trial->entered(w, lanes);
}

void run_warp(Warp& w) {
  for (;;) {
    if (w.active == 0 && !select_group(w)) return;
    w.event = Event::none;
    w.anchored = 0;
    if (w.active == w.live) {
      w.turns = 0;
      run_converged(w);
    } else {
      run_diverged(w);
    }
    switch (w.event) {
      case Event::none:
      case Event::reschedule:
        if (w.turns > kTurnsBeforeYield) {
          w.turns = 0;
          w.taking_turns = true;
        }
        put_back(w);
        break;
      case Event::parked:
      case Event::exited:
        break;
      case Event::poll:
      case Event::fault:
        return;
    }
    if (w.slice < 0) return;
  }
}

bool has_ready_group(const Warp& w) {
  if (w.active != 0) return true;
  for (unsigned i = 0; i < w.group_count; ++i) {
    if (w.groups[i].state == GroupState::ready) return true;
  }
  return false;
}

void split(Warp& w, std::uint32_t mask, std::uint32_t pc) {
  const std::uint32_t here = w.pc;
  retire(w, here);
  if (w.watch != nullptr) w.watch->diverged(here);
  w.active &= ~mask;
  add_group(w, {.pc = pc, .mask = mask, .frame = w.frame, .last_run = w.selections});
  w.event = Event::reschedule;
}

void park(Warp& w, Group group) {
  retire(w, w.pc);
  group.mask = w.active;
  group.frame = w.frame;
  add_group(w, group);
  w.active = 0;
  w.event = Event::parked;
}

void exit_lanes(Warp& w, std::uint32_t mask) {
  retire(w, w.pc);
  w.live &= ~mask;
  w.active &= ~mask;
  w.event = w.active == 0 ? Event::exited : Event::reschedule;
  if (w.frame->depth != 0) w.exited_in_call = true;
  if (w.group_count != 0) release_syncs(w);
  w.block->lanes_exited(w, mask);
}

bool gather_members(Warp& w, const Op& op, std::uint32_t members, const std::uint32_t* masks) {
  const std::uint32_t missing = members & w.live & ~w.active;
  const bool alone = std::exchange(w.goes_alone, false) && missing != 0;
  if (alone && masks == nullptr) {
    fault_simple(w, op, FaultKind::deadlock, static_cast<unsigned>(__builtin_ctz(w.active)),
                 "Deadlock: a matrix operation waits for lanes that are at another one; waiting");
    return false;
  }
  if (missing == 0 || alone) {
    if (w.watch != nullptr && masks != nullptr) w.watch->warp_synchronised(w, masks);
    if (w.watch != nullptr && masks == nullptr) w.watch->warp_synchronised(w, w.active & members);
    if (w.watch != nullptr && alone) w.watch->partial_mask(w, op, missing);
    if (w.watch != nullptr) w.watch->members_met(w, op_pc(w, op), w.active);
    if (w.watch != nullptr && masks != nullptr) w.watch->check_masks(w, op_pc(w, op), masks);
    return true;
  }
  const std::uint32_t pc = op_pc(w, op);
  if (w.watch != nullptr) w.watch->members_awaited(w, pc, missing);
  park(w, {.pc = pc, .state = GroupState::at_warp_sync, .members = members});
  release_syncs(w);
  return false;
}

void warp_fence(Warp& w, std::uint32_t members, const std::uint32_t* masks) {
  const std::uint32_t missing = members & w.live & ~w.active;
  if (w.watch != nullptr) w.watch->check_masks(w, w.pc - 1, masks);
  if (missing == 0) {
    if (w.watch != nullptr) w.watch->warp_synchronised(w, masks);
    return;
  }
  if (w.watch != nullptr) w.watch->members_awaited(w, w.pc - 1, missing);
  park(w, {.pc = w.pc, .state = GroupState::at_warp_sync, .members = members, .is_fence = true});
  release_syncs(w);
}

}  // namespace assay::emulator
