// Of GpuTiming: what a kernel's times are held against beside other times: the clocks of two hosts,
// the memory's own rate, and who else is on the device.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/node/gpu_timing.h"
#include "engine/node/median.h"
#include "engine/node/wall_clock.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr double kShareOfUnseen = 0.2;  // of the time that is left
// Of cold runs that are held against what a question for them takes.
constexpr double kHeldNs = 5e6;
constexpr double kMostHeldRuns = 20;

// 0 if it has none.
double median_of(const json& views, const char* view) {
  const auto found = views.find(view);
  if (found == views.end() || !found->contains("median_ns")) return 0;
  return found->at("median_ns").get<double>();
}

// Device time of all its runs, as far as its samples say.
double summed_ns(const TurnOrder& order, const Turn& turn) {
  if (turn.wall) return turn.wall->events_ns;
  double sum = 0;
  for (const double sample : turn.samples_ns) sum += sample;
  return std::string_view(order.view) == "graph" ? sum * turn.launches : sum;
}

json finding(const char* check, const json& told) {
  json out = told;
  out["check"] = check;
  return {{"outputs", json::array()}, {"findings", {out}}};
}

}  // namespace

void GpuTiming::note(Side& side, const std::vector<TurnOrder>& orders, const Turns& turns) {
  const bool is_first = !std::exchange(is_noted_, true);
  double sum_ns = 0;
  for (std::size_t i = 0; i < turns.taken.size(); ++i) {
    const Turn& turn = turns.taken[i];
    event_overhead_ns_ = turn.event_overhead_ns;
    clocks_.note(turn);
    note_neighbours(turn.state, is_first && i == 0);
    sum_ns += summed_ns(orders[i], turn);
  }
  const auto asked_ns = static_cast<double>(turns.asked.count());
  if (side.asked_ns > 0 && sum_ns - asked_ns <= side.summed_ns - side.asked_ns) return;
  side.summed_ns = sum_ns;
  side.asked_ns = asked_ns;
}

void GpuTiming::note_neighbours(const json& state, bool is_before) {
  if (state.is_null()) return;
  if (request_.was_quiet && is_before) busy_before_pct_ = state.value("busy_pct", json(nullptr));
  const auto engine = static_cast<unsigned>(::getpid());
  Neighbours found = neighbours_of(state, request_.others_are_visible,
                                   [&](unsigned pid) { return is_descendant(pid, engine); });
  // Whoever worked at any time, worked.
  if (!neighbours_.computing.empty() && found.computing.empty()) return;
  if (found.visible || !neighbours_.visible) neighbours_ = std::move(found);
}

// Of a cold run on any of the contents, all of which a graph goes round. Few runs have not seen all
// of them.
std::variant<double, Ended> GpuTiming::longest_ns() {
  double longest_ns = 0;
  TurnOrder unseen = order("cold", 0, kernel_.typical_ns);
  for (std::uint32_t content = 0; content < slots_; ++content) {
    const auto& times_ns = kernel_.by_content_ns[content];
    if (!times_ns.empty()) longest_ns = std::max(longest_ns, median(times_ns));
    if (times_ns.empty()) unseen.runs.push_back({.place = below(places_), .content = content});
  }
  const auto launches = static_cast<double>(unseen.runs.size() + unseen.warmups);
  if (unseen.runs.empty() || is_unrepeatable() ||
      !affords(launches, kernel_.typical_ns, kShareOfUnseen)) {
    return longest_ns;
  }
  auto reply = ask_one(kernel_, std::move(unseen));
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  for (const double ns : std::get<Turn>(reply).samples_ns) longest_ns = std::max(longest_ns, ns);
  return longest_ns;
}

// Few warmups: they are no runs, and a kernel may know it. It is asked as the runs that are told
// are, and what it does not do there is seen as it is there. One question may be one that the host
// was late for.
GpuTiming::Step GpuTiming::ask_beside(ClaimedTimes& times) {
  if (kernel_.wall || times.told_cold_ns <= 0 || is_unrepeatable()) return std::nullopt;
  const auto runs = static_cast<std::uint32_t>(
      std::clamp(std::ceil(kHeldNs / times.told_cold_ns), 2.0, kMostHeldRuns));
  for (std::uint32_t question = 0; question < kQuestions; ++question) {
    if (is_held_by_question(times) || !affords(runs + 2, times.told_cold_ns, kShareOfUnseen)) break;
    ColdTurn asked = cold_turn(runs, 1);
    asked.order.warmups = 1;
    Turns turns = ask(kernel_, {asked.order});
    if (turns.ended) return std::move(turns.ended);
    if (auto ended = look_at(asked.examined, examined_beside_)) return ended;
    alike_.note(asked.order, turns.taken.front(), 0, true, true);
    const auto took_ns = static_cast<double>(turns.asked.count());
    const auto launches = static_cast<double>(asked.order.runs.size());
    const double beside_ns = (took_ns - (launches + 1) * times.told_cold_ns) / launches;
    times.cold_beside_ns = std::min(times.cold_beside_ns.value_or(beside_ns), beside_ns);
  }
  return std::nullopt;
}

GpuTiming::Step GpuTiming::judge_claims(json& body) {
  const json views = body.value("views", json::object());
  const double slope_ns = median_of(views, "graph");
  const double cold_ns = median(kernel_.cold_ns);
  auto longest = longest_ns();
  if (auto* ended = std::get_if<Ended>(&longest)) return std::move(*ended);
  ClaimedTimes times{.slope_ns = slope_ns,
                     .cold_ns = std::get<double>(longest),
                     .kernels = request_.launches,
                     .repeats = !request_.works_on_contents && !request_.keeps_state,
                     .told_cold_ns = cold_ns};
  if (auto ended = ask_beside(times)) return ended;
  times.summed_ns = kernel_.summed_ns;
  times.asked_ns = kernel_.asked_ns;
  const WallJudgement wall = judge_wall(kernel_.wall, times);
  body["wall_clock"] = wall.told;
  if (!wall.why.empty()) {
    if (auto ended = judge_(0, finding("wall_clock", wall.told))) return ended;
  }
  if (!wall.doubt.empty()) unasked_["times_not_held"] = wall.doubt;
  // Of launches that find their work done it says nothing of the kernel's time.
  const bool slope_counts = slope_ns > 0 && !request_.works_on_contents;
  const double warm_ns = slope_counts ? slope_ns : median_of(views, "warm");
  body["floor"] = node::tell(request_.floor, warm_ns > 0 ? std::optional(warm_ns) : std::nullopt);
  const double least_ns = slope_counts ? std::min(slope_ns, cold_ns) : cold_ns;
  if (cold_ns <= 0 || !is_below(request_.floor, least_ns)) return std::nullopt;
  return judge_(0, finding("below_floor", {{"claimed_ns", least_ns},
                                           {"must_ns", *request_.floor.must_ns},
                                           {"must_bytes", request_.floor.must_bytes}}));
}

}  // namespace assay::node
