// Of GpuTiming: the views beside the cold one.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/node/gpu_timing.h"
#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::uint32_t kWarmRuns = 20;
constexpr std::uint32_t kViewWarmups = 2;    // the kernel has run cold before
constexpr std::uint32_t kLeastWarmRuns = 5;  // one may be disturbed
constexpr std::uint32_t kGraphRepeats = 3;
// Of a graph of N and 2 N launches of a long kernel, N being 3: one of N before all repeats.
constexpr double kLaunchesOfSlope = 9;
constexpr double kLaunchesBefore = 5;
// Of the time that is left, what one view of one side may take.
constexpr double kShareOfView = 0.2;
// What the views of a kernel with inout tensors may take: it may never end.
constexpr std::chrono::seconds kRepeatingLimit{2};
constexpr double kRepeatingRuns = 400;
// Beside an event's overhead, what a graph may save of a run that is timed alone: a share, and time
// for each launch, which the host queues.
constexpr double kMostSaved = 1.25;
constexpr double kMostSavedNs = 4'000;
// What a run on what the one before has left may save of that, both launched alone, and in how many
// of so many pairs it has to save more: a kernel that is quick two times of five, by chance or by
// the clock, is so in a quarter of them.
constexpr double kMostSavedAloneNs = 1'000;
constexpr std::uint32_t kLeftPairs = 24;
constexpr std::uint32_t kLeastLeftPairs = 8;
constexpr double kSureShare = 0.8;
constexpr const char* kUnexplained = "quick_in_graph";

json view_of(const Turn& turn) {
  if (turn.samples_ns.empty()) return {{"unavailable", turn.note}};
  json view = {{"median_ns", median(turn.samples_ns)},
               {"min_ns", *std::min_element(turn.samples_ns.begin(), turn.samples_ns.end())},
               {"runs", turn.samples_ns.size()}};
  if (!turn.graphs.empty()) view["beside_ns"] = turn_of(turn.graphs).beside_ns;
  return view;
}

}  // namespace

Turns GpuTiming::ask_views(Side& side, std::vector<TurnOrder> orders) {
  if (!request_.works_on_contents) return ask(side, std::move(orders));
  const auto runs = std::chrono::nanoseconds(std::llround(kRepeatingRuns * side.typical_ns));
  const auto left = execution_left_;
  execution_left_ = std::min<std::chrono::nanoseconds>(left, kRepeatingLimit + runs);
  const auto given = execution_left_;
  Turns turns = ask(side, std::move(orders));
  execution_left_ = left - (given - execution_left_);
  return turns;
}

// Those that the time that is left allows; `into` says which it does not.
std::vector<TurnOrder> GpuTiming::affordable_views(const Side& side, json& into) {
  const double typical_ns = side.typical_ns;
  const auto fits = [&](double launches) { return affords(launches, typical_ns, kShareOfView); };
  const char* const kTooLong = "it would take too much of the time that is left";
  std::vector<TurnOrder> orders;
  std::uint32_t runs = std::clamp(trials_, kLeastWarmRuns, kWarmRuns);
  while (runs > 1 && !fits(runs + 1)) --runs;
  if (fits(runs + 1)) {
    orders.push_back(order("warm", runs, typical_ns));
  } else {
    into["warm"] = {{"unavailable", kTooLong}};
  }
  std::uint32_t repeats = kGraphRepeats;
  while (repeats > 1 && !fits(repeats * kLaunchesOfSlope + kLaunchesBefore)) --repeats;
  if (request_.method == TimingMethod::events) {
    into["graph"] = {{"unavailable", "timing_method is events: nothing was captured"}};
  } else if (!no_graph_.empty()) {
    into["graph"] = {{"unavailable", no_graph_}};
  } else if (fits(repeats * kLaunchesOfSlope + kLaunchesBefore)) {
    orders.push_back(graph_order(repeats, typical_ns));
  } else {
    into["graph"] = {{"unavailable", kTooLong}};
  }
  for (TurnOrder& order : orders) order.warmups = std::min(order.warmups, kViewWarmups);
  return orders;
}

// Of a comparison a warm run is looked at like cold ones; of graphs, those that decide are
// (gpu_comparison.cc). Answers its contents.
std::vector<std::uint32_t> GpuTiming::choose_examined_views(std::vector<TurnOrder>& orders) {
  TurnOrder& warm = orders.front();
  if (std::string_view(warm.view) != "warm" || known_contents() < 2) return {};
  const std::uint32_t which = below(static_cast<std::uint32_t>(warm.runs.size()));
  RunOrder& run = warm.runs[which];
  run.content = below(known_contents());
  run.keep = true;
  for (const std::uint32_t beside : {which - 1, which + 1}) draw_between(warm, beside, run.content);
  return {run.content};
}

GpuTiming::Step GpuTiming::views_of(Side& side, json& into) {
  std::vector<TurnOrder> orders = affordable_views(side, into);
  if (orders.empty()) return std::nullopt;
  orders.back().tell_state = true;  // while what was measured still keeps the device warm
  const bool is_judged = &side == &kernel_ && !request_.works_on_contents;
  std::vector<std::uint32_t> examined;
  if (is_judged && reference_) examined = choose_examined_views(orders);
  Turns turns = ask_views(side, orders);
  for (std::size_t i = 0; i < turns.taken.size(); ++i) {
    into[orders[i].view] = view_of(turns.taken[i]);
    if (turns.taken[i].wall) side.wall = turns.taken[i].wall;
  }
  if (turns.ended) return std::move(turns.ended);
  const Turn& last = turns.taken.back();
  const bool has_graph = std::string_view(orders.back().view) == "graph";
  if (has_graph) into["graph"]["launches"] = last.launches;
  if (has_graph && last.samples_ns.empty()) return go_on_afresh(side, last.note);
  if (!examined.empty()) {
    if (auto ended = examine(examined)) return ended;
  }
  if (!is_judged || orders.size() < 2) return std::nullopt;
  const auto leaning = leaning_of(orders.front(), turns.taken.front(), last);
  return leaning ? judge_leaning(side, orders, *leaning) : std::nullopt;
}

// Cold and warm runs begin with fresh tensors, a graph's with what its last round has left: outputs
// that are right already. Which contents a graph's launches had is the runner's to know: held
// against them are those that are done soonest.
std::optional<GpuTiming::Leaning> GpuTiming::leaning_of(const TurnOrder& asked, const Turn& warm,
                                                        const Turn& graph) const {
  std::map<std::uint32_t, std::vector<double>> by_content_ns;
  for (std::size_t i = 0; i < std::min(warm.samples_ns.size(), asked.runs.size()); ++i) {
    by_content_ns[asked.runs[i].content].push_back(warm.samples_ns[i]);
  }
  if (by_content_ns.empty()) return std::nullopt;
  double soonest_ns = std::numeric_limits<double>::infinity();
  for (const auto& [content, times_ns] : by_content_ns) {
    soonest_ns = std::min(soonest_ns, median(times_ns));
  }
  const Leaning leaning{.fresh_ns = soonest_ns - warm.event_overhead_ns,
                        .repeated_ns = median(graph.samples_ns)};
  const double saved_ns = kMostSavedNs * static_cast<double>(request_.launches);
  if (leaning.fresh_ns <= kMostSaved * std::max(leaning.repeated_ns, 0.0) + saved_ns) {
    return std::nullopt;
  }
  return leaning;
}

GpuTiming::Step GpuTiming::judge_leaning(Side& side, const std::vector<TurnOrder>& orders,
                                         Leaning leaning) {
  for (std::uint32_t question = 1; question < kQuestions; ++question) {
    Turns turns = ask_views(side, orders);
    if (turns.ended) return std::move(turns.ended);
    // A graph that cannot be captured any more says nothing more, for it nor against it.
    if (turns.taken.back().samples_ns.empty()) {
      unasked_[kUnexplained] = "its graph could not be captured again";
      return go_on_afresh(side, turns.taken.back().note);
    }
    const auto again = leaning_of(orders.front(), turns.taken.front(), turns.taken.back());
    if (!again) return std::nullopt;
    leaning = *again;
  }
  // A kernel that is quick by the clock is so in most slopes of a graph: there are more of them in
  // its quick times, for they are shorter.
  std::uint32_t pairs = kLeftPairs;
  while (pairs > kLeastLeftPairs && !affords(2 * pairs, side.typical_ns, kShareOfView)) --pairs;
  if (!affords(2 * pairs, side.typical_ns, kShareOfView)) {
    return leave_unasked(kUnexplained, "it would take too much of the time that is left");
  }
  const auto leans = is_quicker_on_what_is_left(side, pairs);
  if (const auto* ended = std::get_if<Ended>(&leans)) return *ended;
  if (!std::get<bool>(leans)) {
    return leave_unasked(kUnexplained, "launched alone on what a launch has left it is no quicker");
  }
  return judge_(0, {{"outputs", json::array()},
                    {"findings",
                     {{{"check", "leans_on_outputs"},
                       {"fresh_ns", leaning.fresh_ns},
                       {"repeated_ns", leaning.repeated_ns}}}}});
}

// Places and contents in the order of a graph's.
TurnOrder GpuTiming::left_beside_fresh(std::uint32_t pairs, double typical_ns) {
  TurnOrder turn = order("warm", 0, typical_ns);
  const std::uint32_t around = std::min(places_, slots_);
  for (std::uint32_t pair = 0; pair < pairs; pair += around) {
    for (const bool as_left : {false, true}) {
      for (std::uint32_t i = 0; i < around; ++i) {
        turn.runs.push_back({.place = i, .content = i, .as_left = as_left});
      }
    }
  }
  return turn;
}

std::variant<bool, Ended> GpuTiming::is_quicker_on_what_is_left(Side& side, std::uint32_t pairs) {
  const TurnOrder asked = left_beside_fresh(pairs, side.typical_ns);
  auto reply = ask_one(side, asked);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const Turn& turn = std::get<Turn>(reply);
  const std::size_t around = std::min(places_, slots_);
  const double saved_ns = kMostSavedAloneNs * static_cast<double>(request_.launches);
  double quicker = 0;
  for (std::size_t run = 0; run < turn.samples_ns.size(); ++run) {
    if (!asked.runs.at(run).as_left) continue;
    const double fresh_ns = turn.samples_ns[run - around] - turn.event_overhead_ns;
    const double left_ns = std::max(turn.samples_ns[run] - turn.event_overhead_ns, 0.0);
    quicker += fresh_ns > kMostSaved * left_ns + saved_ns ? 1 : 0;
  }
  return quicker >= kSureShare * static_cast<double>(asked.runs.size()) / 2;
}

// The kernel's process has nothing to do while its outputs are looked at. Graphs of one that works
// on its contents would be forgotten where those are shown anew, which comes before its views.
bool GpuTiming::capture_meanwhile() {
  const bool has_graph = request_.method != TimingMethod::events;
  if (reference_ || !has_graph || !request_.renew || request_.works_on_contents) return false;
  if (std::exchange(is_captured_, true)) return false;
  kernel_.session->begin_capture(graph_order(1, kernel_.typical_ns));
  return true;
}

GpuTiming::Step GpuTiming::hear_of_capture() {
  auto heard = kernel_.session->captured();
  if (auto* ended = std::get_if<Ended>(&heard)) {
    ended->detail["which"] = kernel_.name;
    return std::move(*ended);
  }
  no_graph_ = std::get<std::string>(std::move(heard));
  return std::nullopt;
}

// What a capture that failed leaves in its process nobody knows: whatever is timed after it, is in
// another.
GpuTiming::Step GpuTiming::go_on_afresh(Side& side, const std::string& failure) {
  const bool is_reference = &side != &kernel_;
  uncaptured_ = std::string("The ") + (is_reference ? "reference" : "kernel") +
                " was timed without a graph (" + failure + ")";
  if (!request_.renew) {
    is_spent_ = true;
    uncaptured_ += ", and no more after that.";
    return std::nullopt;
  }
  uncaptured_ += ", and what followed in a fresh process.";
  return start_afresh(side);
}

GpuTiming::Step GpuTiming::start_afresh(Side& side) {
  const bool is_reference = &side != &kernel_;
  auto fresh = request_.renew(is_reference);
  if (auto* ended = std::get_if<Ended>(&fresh)) {
    ended->detail["which"] = side.name;
    return std::move(*ended);
  }
  side.session = std::get<KernelSession*>(fresh);
  alike_.begin_anew();
  auto filled = filled_arenas();
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  const auto& arenas = std::get<std::vector<LentArena>>(filled);
  if (auto ended = stage(*side.session, arenas)) return ended;
  // What it leaves is looked at by what was filled last: its guards, and what nobody wrote.
  return is_reference ? stage(*kernel_.session, arenas) : std::nullopt;
}

bool GpuTiming::is_of_repeating(const Ended& ended) const {
  const bool is_the_kernels =
      ended.verdict == job::Verdict::timed_out || ended.verdict == job::Verdict::crashed;
  return request_.works_on_contents && is_the_kernels;
}

GpuTiming::Step GpuTiming::other_views(json& body) {
  const auto views = [&](Side& side, json& into) -> Step {
    auto ended = views_of(side, into);
    if (!ended || !is_of_repeating(*ended)) return ended;
    const char* view = into.contains("warm") ? "graph" : "warm";
    unrepeatable_ = std::string("Launched again on what a launch had left in its tensors, the ") +
                    (&side == &kernel_ ? "kernel" : "reference") + " did not come to its end (" +
                    std::string(job::name(ended->verdict)) +
                    "): it was timed cold alone, which gives it its contents before each run.";
    into[view] = {{"unavailable", unrepeatable_}};
    return std::nullopt;
  };
  if (reference_) {
    if (auto ended = views(*reference_, body["reference_views"] = json::object())) return ended;
  }
  return views(kernel_, body["views"] = json::object());
}

}  // namespace assay::node
