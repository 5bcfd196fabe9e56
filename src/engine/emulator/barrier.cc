// Barriers of a block. As on a device since compute capability 7.0 every thread counts for itself,
// and a thread that has exited is not waited for.
#include <algorithm>
#include <utility>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/mbarrier_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

std::uint32_t Block::arrived_whole_warps(const Barrier& b) const {
  std::uint32_t n = 0;
  for (std::size_t i = 0; i < warps_.size(); ++i) {
    const std::uint32_t lanes = b.lanes[i];
    const bool whole = lanes != 0 && (warps_[i]->live & ~lanes) == 0;
    n += whole ? 32 : static_cast<std::uint32_t>(__builtin_popcount(lanes));
  }
  return n;
}

bool Block::complete(const Barrier& b) const {
  if (b.arrived == 0) return false;
  if (b.expected == 0) return b.arrived >= live_;
  return arrived_whole_warps(b) >= b.expected;
}

void Block::arrive(Warp& w, const Op& op, const Arrival& arrival) {
  if (launch_.watch != nullptr) {
    launch_.watch->barrier_arrival(
        w, op,
        {.barrier = arrival.id, .exited = threads_ - live_, .whole_block = arrival.threads == 0});
  }
  Barrier& b = barriers_[arrival.id];
  b.arrived += static_cast<std::uint32_t>(__builtin_popcount(w.active));
  b.lanes[w.index] |= w.active;
  b.expected = arrival.threads;
  b.true_count += static_cast<std::uint32_t>(__builtin_popcount(arrival.values & w.active));
  if (!arrival.waits) {
    if (complete(b)) release(arrival.id);
    return;
  }
  park(w, {.pc = w.pc,
           .state = GroupState::at_barrier,
           .members = op_pc(w, op),
           .barrier = static_cast<std::uint8_t>(arrival.id)});
  if (!complete(b)) return;
  release(arrival.id);
  leave_together(w);
}

// The one that came last does not run ahead of those it has let go.
void Block::leave_together(Warp& last) {
  if (launch_.launch.to_the_barrier || last.slice <= kFirstSlice) return;
  slice_ -= last.slice - kFirstSlice;
  last.slice = kFirstSlice;
  leaving_ &= ~(1U << last.index);
}

// A group's own instruction says whether it wants the result, and where.
void Block::deliver(const Barrier& b, const Group& g) {
  const Op& op = launch_.text.code[g.members];
  const auto kind = static_cast<BarrierKind>(op.aux & 0xFF);
  if (kind == BarrierKind::sync || op.d == kNowhere) return;
  if (kind == BarrierKind::popc) {
    auto* const d = reinterpret_cast<std::uint32_t*>(g.frame->rows + op.d);
    for (std::uint32_t m = g.mask; m != 0; m &= m - 1) d[__builtin_ctz(m)] = b.true_count;
    return;
  }
  const bool value =
      kind == BarrierKind::conjunction ? b.true_count == b.arrived : b.true_count != 0;
  auto& p = *reinterpret_cast<std::uint32_t*>(g.frame->rows + op.d);
  p = value ? p | g.mask : p & ~g.mask;
}

void Block::release(std::uint32_t id) {
  Barrier& b = barriers_[id];
  BarrierMeeting meeting{.barrier = id,
                         .exited = threads_ - live_,
                         .whole_block = b.expected == 0,
                         .first_pc = kNowhere};
  for (const auto& w : warps_) {
    for (unsigned i = 0; i < w->group_count; ++i) {
      Group& g = w->groups[i];
      if (g.state != GroupState::at_barrier || g.barrier != id) continue;
      deliver(b, g);
      g.state = GroupState::ready;
      if (!launch_.launch.to_the_barrier) leaving_ |= 1U << w->index;
      if (launch_.watch == nullptr) continue;
      if (meeting.first_pc == kNowhere) meeting.first_pc = g.members;
      launch_.watch->barrier_leave(*w, g, meeting);
    }
  }
  if (watch_state_) launch_.watch->barrier_done(*watch_state_, id);
  b.arrived = 0;
  b.expected = 0;
  b.true_count = 0;
  std::fill(b.lanes.begin(), b.lanes.end(), 0U);
}

void Block::lanes_exited(Warp&, std::uint32_t mask) {
  live_ -= static_cast<std::uint32_t>(__builtin_popcount(mask));
  for (std::uint32_t id = 0; id < barriers_.size(); ++id) {
    if (complete(barriers_[id])) release(id);
  }
}

std::string Block::stuck_message(const Group& waiting) const {
  if (waiting.state != GroupState::at_barrier) {
    return "Deadlock: a warp-wide operation waits for lanes that never arrive; waiting";
  }
  const Barrier& b = barriers_[waiting.barrier];
  const std::uint32_t expected = b.expected != 0 ? b.expected : live_;
  return "Barrier error: barrier " + std::to_string(waiting.barrier) + " was reached by " +
         std::to_string(b.arrived) + " of " + std::to_string(expected) +
         " threads and the others can never reach it; waiting";
}

// Nothing can run: a barrier is blamed before a warp-wide operation, as it is usually the cause.
void Block::stuck() {
  Warp* blamed_warp = nullptr;
  const Group* blamed = nullptr;
  for (const auto& w : warps_) {
    for (unsigned i = 0; i < w->group_count; ++i) {
      const Group& g = w->groups[i];
      const bool better = blamed == nullptr || (g.state == GroupState::at_barrier &&
                                                blamed->state != GroupState::at_barrier);
      if (better) {
        blamed = &g;
        blamed_warp = w.get();
      }
    }
  }
  if (blamed == nullptr) {
    launch_.end(Ending::faulted, "Deadlock", {.kind = FaultKind::deadlock, .message = "Deadlock"});
    return;
  }
  const bool at_barrier = blamed->state == GroupState::at_barrier;
  std::uint32_t pc = blamed->pc;
  if (at_barrier) pc = blamed->members;
  if (blamed->state == GroupState::at_warp_sync && blamed->is_fence && pc > 0) --pc;
  fault_simple(*blamed_warp, blamed_warp->code[pc],
               at_barrier ? FaultKind::barrier_divergence : FaultKind::deadlock,
               static_cast<unsigned>(__builtin_ctz(blamed->mask)), stuck_message(*blamed));
}

bool Block::all_wait_in_vain() {
  std::vector<std::pair<Warp*, VainWait>> found;
  const auto waits = [&](Warp& w, const Group& group) {
    if (group.state != GroupState::ready) return true;  // for one that is looked at as well
    const std::optional<VainWait> wait = vain_wait(w, group);
    if (wait) found.emplace_back(&w, *wait);
    return wait.has_value();
  };
  bool all = true;
  for (const auto& w : warps_) {
    if (!all || w->live == 0) continue;
    for (unsigned i = 0; i < w->group_count && all; ++i) all = waits(*w, w->groups[i]);
    if (w->active != 0 && all) all = waits(*w, {.pc = w->pc, .mask = w->active, .frame = w->frame});
  }
  if (all && !found.empty()) {
    tell_vain_waits(found);
    return true;
  }
  waits_.be_more_patient();
  return false;
}

std::string Block::state_of_mbarrier(const std::byte* barrier) const {
  Finding place{.access_bytes = 8};
  name_shared(place, launch_, static_cast<std::uint64_t>(barrier - shared_.get()));
  const MbarrierWord word = MbarrierWord::at(barrier);
  const bool is_first = place.buffer_offset_bytes == 0 && !place.buffer.empty();
  std::string text = "mbarrier " + (is_first ? "'" + place.buffer + "'" : element_text(place)) +
                     " has " + std::to_string(word.expected - word.pending) + " of " +
                     std::to_string(word.expected) + " arrivals";
  const auto seen = static_cast<std::int64_t>(waits_.bytes_arrived(barrier));
  if (seen != 0 || word.bytes != 0) {
    text += " and " + std::to_string(seen) + " of " + std::to_string(seen + word.bytes) +
            " expected bytes";
  }
  return text + " in its phase of parity " + (word.odd ? "1" : "0");
}

void Block::tell_vain_waits(const std::vector<std::pair<Warp*, VainWait>>& waits) {
  constexpr std::size_t kMostTold = 4;
  std::vector<const std::byte*> told;
  std::string message;
  for (const auto& [w, wait] : waits) {
    if (std::find(told.begin(), told.end(), wait.barrier) != told.end()) continue;
    told.push_back(wait.barrier);
    if (told.size() > kMostTold) continue;
    message += (message.empty() ? "Deadlock: " : "; ") + state_of_mbarrier(wait.barrier);
  }
  const auto& [warp, wait] = waits.front();
  const std::vector<SourceLine> callers = launch_.text.inlined_at(wait.pc);
  if (!callers.empty() && callers.back().line != launch_.text.where_pc(wait.pc).line) {
    message += "; asked from line " + std::to_string(callers.back().line);
  }
  message += "; no thread of the block can do anything but wait";
  fault_simple(*warp, warp->code[wait.pc], FaultKind::deadlock, wait.lane, std::move(message));
}

}  // namespace assay::emulator
