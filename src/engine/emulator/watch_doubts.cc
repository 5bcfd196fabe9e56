// What a watch makes of values that a shuffle brought from a lane that was not there. Nobody may
// know them, and nobody needs to: a ragged end reads beyond itself and throws it away. So they are
// followed, by a code of their own that only such a warp runs, until memory, a branch or another
// thread gets one.
#include <array>
#include <functional>

#include "engine/emulator/block.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

// Of a loop that keeps such a value and never uses it.
constexpr unsigned kMostSteps = 50'000;

// The way around a stretch of code: compared is mostly the opposite of what was written, and nobody
// sees whether that was a guard against the NaN.
bool goes_around(const Op& original, std::uint32_t pc) {
  return original.masked == &op_branch_if && original.target > pc;
}

// An absent lane's value before a NaN's answer, then the earlier one.
bool comes_before(const DoubtOrigin& one, const DoubtOrigin& other) {
  const bool differ = one.number.is_known() != other.number.is_known();
  if (other.pc == 0 || differ) return other.pc == 0 || other.number.is_known();
  return one.pc < other.pc;
}

void op_doubted(Warp& w, const Op& op) { w.watch->in_doubt(w, op); }

}  // namespace

const SpokenOp& Watch::spoken_at(std::uint32_t pc) {
  const auto [at, fresh] = spoken_.try_emplace(pc);
  if (fresh) at->second = spoken(launch_.text.instruction_at(pc));
  return at->second;
}

std::uint32_t Watch::pc_of(const Op& op) const {
  return static_cast<std::uint32_t>(is_in_doubt(op) ? &op - doubted_code_.data()
                                                    : &op - code_.data());
}

bool Watch::is_in_doubt(const Op& op) const {
  const std::less<> before;
  return !doubted_code_.empty() && !before(&op, doubted_code_.data()) &&
         before(&op, doubted_code_.data() + doubted_code_.size());
}

// The warp goes on in the other code: what is at hand is still in the one it was in.
void Watch::inactive_shuffle(Warp& w, const Op& op, unsigned lane, unsigned from) {
  if (!wanted_.barriers || w.block->watch_state() == nullptr) return;
  doubt_result(w, op, 1U << lane, {.pc = pc_of(op), .lane = lane, .from = from});
}

void Watch::doubt_result(Warp& w, const Op& op, std::uint32_t lanes, const DoubtOrigin& origin) {
  const std::uint32_t pc = pc_of(op);
  if (doubted_code_.empty()) {
    doubted_code_ = code_;
    for (Op& o : doubted_code_) o.full = o.masked = &op_doubted;
  }
  const SpokenOp& s = spoken_at(pc);
  if (s.results.empty()) return;
  Doubts& doubts = w.block->watch_state()->doubts[w.index];
  doubts.add(w.frame, s.results.front(), lanes, origin);
  w.code = doubted_code_.data();
}

void Watch::tell_doubt(Warp& w, const DoubtOrigin& origin) {
  if (origin.number.is_known()) return tell_number(w, origin.lane, origin.number, true);
  bool fresh = false;
  Finding& f = add({FindingKind::inactive_shuffle, origin.pc, origin.lane, origin.pc}, w, fresh);
  if (!fresh) return;
  f.message = "Shuffle from lane " + std::to_string(origin.from) +
              ", which does not take part: the value is undefined; thread " + text_of(f.thread) +
              " in block " + text_of(f.block);
}

// Lanes for which an operand is in doubt that decides nothing: the other one has decided.
std::uint32_t Watch::undecided(Warp& w, const Op& op, const SpokenOp& s) {
  const Doubts& doubts = w.block->watch_state()->doubts[w.index];
  const auto in = [&](std::size_t i) { return doubts.lanes(w.frame, s.sources[i]); };
  std::uint32_t all = 0;
  for (std::size_t i = 0; i < s.sources.size(); ++i) all |= in(i);
  if (all == 0 || s.sources.size() < 2) return all;
  if (s.kind == SpokenOp::Kind::joins) {
    const std::uint32_t a = predicate(w, op.a);
    const std::uint32_t b = predicate(w, op.b);
    const std::uint32_t decided_by_a = ~in(0) & (s.is_or ? a : ~a);
    const std::uint32_t decided_by_b = ~in(1) & (s.is_or ? b : ~b);
    return all & ~decided_by_a & ~decided_by_b;
  }
  if (s.kind == SpokenOp::Kind::chooses && s.sources.size() == 3) {
    const std::uint32_t p = predicate(w, op.c);
    return (in(2) & ~nans_chosen_from(w, op)) | (in(0) & p) | (in(1) & ~p);
  }
  return all;
}

void Watch::in_doubt(Warp& w, const Op& op) {
  const std::uint32_t pc = op_pc(w, op);
  const SpokenOp& s = spoken_at(pc);
  Doubts& doubts = w.block->watch_state()->doubts[w.index];
  const Frame* const frame = w.frame;
  const std::uint32_t pass = op.guard == kNowhere ? w.active : w.active & guard_of(w, op);
  DoubtOrigin origin;
  for (const std::string& name : s.sources) {  // of several the one that is told is the first
    if ((doubts.lanes(frame, name) & w.active) == 0) continue;
    const DoubtOrigin one = doubts.origin(frame, name);
    if (comes_before(one, origin)) origin = one;
  }
  std::uint32_t guards = 0;
  if (!s.guard.empty()) guards = doubts.lanes(frame, s.guard) & w.active;
  if (guards != 0) origin = doubts.origin(frame, s.guard);
  const std::uint32_t doubtful = undecided(w, op, s) & pass;
  const bool is_used = s.kind == SpokenOp::Kind::uses && (doubtful | guards) != 0 &&
                       !(origin.number.is_known() && goes_around(code_[pc], pc));
  current_pc_ = pc;
  if (is_used) tell_doubt(w, origin);
  const bool shuffles = s.kind == SpokenOp::Kind::shuffles;
  if (shuffles) shuffled_doubts_ = doubts.lanes(frame, s.sources.front());
  compared_nans_ = 0;
  code_[pc].masked(w, op);
  const std::uint32_t nans = nans_resulting(w, op, pc);
  const bool writes = w.event != Event::fault && w.event != Event::parked;
  for (const std::string& name : s.results) {
    const std::uint32_t now = is_used || !writes ? 0 : (doubtful | guards) & ~nans;
    if (shuffles) break;  // shuffle_doubts() knows better
    if (writes) doubts.remove(frame, name, pass & ~guards);
    doubts.add(frame, name, now, origin);
    if (writes) doubts.add(frame, name, compared_nans_, compared_origin_);
  }
  doubts.keep_only(w.live);
  if (is_used || ++doubts.steps > kMostSteps) doubts.clear();
  if (doubts.empty()) w.code = code_of(w.block->watch_state());
}

// A lane has what the one it asked had; what that one has not got is told by inactive_shuffle().
void Watch::shuffle_doubts(Warp& w, const Op& op, const std::array<std::uint8_t, 32>& from) {
  if (w.block->watch_state() == nullptr || !is_in_doubt(op)) return;
  Doubts& doubts = w.block->watch_state()->doubts[w.index];
  const SpokenOp& s = spoken_at(pc_of(op));
  if (s.results.empty() || s.sources.empty()) return;
  DoubtOrigin origin = doubts.origin(w.frame, s.sources.front());
  const std::uint32_t before = shuffled_doubts_;
  std::uint32_t now = 0;
  std::uint32_t sure = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const bool is_there = (w.active >> from[k] & 1U) != 0;
    const bool is_doubtful = (before >> from[k] & 1U) != 0;
    now |= static_cast<std::uint32_t>(is_there && is_doubtful) << k;
    sure |= static_cast<std::uint32_t>(is_there && !is_doubtful) << k;
  }
  doubts.remove(w.frame, s.results.front(), sure);
  doubts.add(w.frame, s.results.front(), now, origin);
}

}  // namespace assay::emulator
