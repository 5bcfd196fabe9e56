// Of GpuTiming: timed runs that the referee looks at, which of them and what they begin with.
#include <algorithm>
#include <set>

#include "engine/node/gpu_timing.h"

namespace assay::node {

using nlohmann::json;

// Of the others nobody knows what is right.
std::uint32_t GpuTiming::known_contents() const { return std::min(slots_, request_.known_trials); }

// A kernel that answers with what it kept of another run is wrong in the examined one: each begins
// with contents that the last examined one did not have, nor the turn's first. Those of one turn
// begin with different ones, for each is handed back in its own. Answers their contents.
std::vector<std::uint32_t> GpuTiming::choose_examined(TurnOrder& turn, std::uint32_t count) {
  std::set<std::uint32_t> which;
  while (which.size() < count) {
    which.insert(1 + below(static_cast<std::uint32_t>(turn.runs.size()) - 1));
  }
  const std::uint32_t known = known_contents();
  std::vector<std::uint32_t> contents;
  for (const std::uint32_t run : which) {
    if (!contents.empty()) {
      contents.push_back((contents.back() + 1) % known);
    } else {
      contents.push_back(last_examined_ ? draw_examined(*last_examined_) : below(known));
    }
    turn.runs[run].keep = true;
    turn.runs[run].content = contents.back();
  }
  if (contents.empty()) return contents;
  last_examined_ = contents.back();
  ever_examined_.insert(contents.begin(), contents.end());
  RunOrder& first = turn.runs.front();
  if (slots_ > 1) first.content = (contents.front() + 1 + below(slots_ - 1)) % slots_;
  for (const std::uint32_t run : which) {
    for (const std::uint32_t beside : {run - 1, run + 1})
      draw_between(turn, beside, contents.front());
  }
  return contents;
}

std::uint32_t GpuTiming::draw_examined(std::uint32_t last) {
  std::vector<std::uint32_t> others;
  for (std::uint32_t content = 0; content < known_contents(); ++content) {
    if (content != last) others.push_back(content);
  }
  if (others.empty()) return last;
  const auto was = [&](std::uint32_t content) { return ever_examined_.contains(content); };
  if (!std::all_of(others.begin(), others.end(), was)) std::erase_if(others, was);
  return others[below(static_cast<std::uint32_t>(others.size()))];
}

// A run that begins like one beside it would tell that one of them is examined: there are contents
// for it that neither has, where there are three at least.
void GpuTiming::draw_between(TurnOrder& turn, std::uint32_t run, std::uint32_t first_examined) {
  if (run >= turn.runs.size() || turn.runs[run].keep || slots_ < 3) return;
  std::vector<std::uint32_t> free;
  for (std::uint32_t content = 0; content < slots_; ++content) {
    const bool before = run > 0 && turn.runs[run - 1].content == content;
    const bool after = run + 1 < turn.runs.size() && turn.runs[run + 1].content == content;
    const bool begins = run == 0 && content == first_examined;
    if (!before && !after && !begins) free.push_back(content);
  }
  const std::uint32_t now = turn.runs[run].content;
  if (free.empty() || std::find(free.begin(), free.end(), now) != free.end()) return;
  turn.runs[run].content = free[below(static_cast<std::uint32_t>(free.size()))];
}

GpuTiming::Step GpuTiming::examine(const std::vector<std::uint32_t>& slots) {
  return look_at(slots, examined_);
}

GpuTiming::Step GpuTiming::look_at(const std::vector<std::uint32_t>& slots, std::uint32_t& count) {
  auto said = referee_.check(slots);
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  const auto& checked = std::get<std::vector<json>>(said);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    ++count;
    if (auto ended = judge_(request_.first_trial + slots[i], checked[i])) return ended;
  }
  return std::nullopt;
}

}  // namespace assay::node
