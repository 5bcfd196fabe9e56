// Of GpuTiming: the views beside the cold one, and what contents cost that were not shown before.
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
// Of a graph of N and 2 N launches of a long kernel, N being 2: one of N before all repeats.
constexpr double kLaunchesOfSlope = 6;
constexpr double kLaunchesBefore = 4;
// Of the time that is left, what one view of one side may take.
constexpr double kShareOfView = 0.2;
// What the views of a kernel with inout tensors may take: it may never end.
constexpr std::chrono::seconds kRepeatingLimit{2};
constexpr double kRepeatingRuns = 400;
// What contents that were not shown before may cost more than those that were.
constexpr std::uint32_t kShownAnew = 5;
constexpr std::uint32_t kShownAnewAnyway = 3;
constexpr double kAnewBudgetNs = 5e8;
constexpr double kLaunchesAnew = 3;  // each
constexpr double kMostSlower = 1.25;
constexpr double kMostSlowerNs = 3'000;
// From which on it is looked at again, content beside content, where the scatter of an event (a
// median of 15 differences moves by 0.23 us) does not pass for it.
constexpr double kSuspectedSlower = 0.05;
constexpr double kSuspectedSlowerNs = 500;
constexpr double kRemembered = 0.1;
constexpr double kRememberedNs = 1'000;
constexpr std::uint32_t kShownTwice = 15;
constexpr std::uint32_t kLeastShownTwice = 5;
constexpr std::size_t kRunsTwice = 4;
constexpr double kLaunchesTwice = kRunsTwice + 1;  // each
constexpr std::uint32_t kFreshProcesses = 3;
// Beside an event's overhead, what a graph may save of a run that is timed alone: a share, and time
// for each launch, which the host queues.
constexpr double kMostSaved = 1.25;
constexpr double kMostSavedNs = 4'000;
// Whoever is told has to be so in each of these: a host that is late for one question, as where
// others want its processors, is late for all runs in it (4 of 478 honest evaluations were told on
// a virtual machine, 2026-11-25).
constexpr std::uint32_t kQuestions = 3;

bool is_far_slower(double anew_ns, double before_ns) {
  return anew_ns > before_ns * kMostSlower + kMostSlowerNs;
}

// A quarter of the runs on some contents took no longer.
double soonest_ns(const std::map<std::uint32_t, std::vector<double>>& by_content_ns) {
  double soonest = std::numeric_limits<double>::infinity();
  for (auto [content, times_ns] : by_content_ns) {
    if (times_ns.empty()) continue;
    const auto quarter = times_ns.begin() + static_cast<std::ptrdiff_t>(times_ns.size() / 4);
    std::nth_element(times_ns.begin(), quarter, times_ns.end());
    soonest = std::min(soonest, *quarter);
  }
  return soonest;
}

json view_of(const Turn& turn) {
  if (turn.samples_ns.empty()) return {{"unavailable", turn.note}};
  return {{"median_ns", median(turn.samples_ns)},
          {"min_ns", *std::min_element(turn.samples_ns.begin(), turn.samples_ns.end())},
          {"runs", turn.samples_ns.size()}};
}

}  // namespace

// The runs above begin with a few contents over and over. A kernel that keeps its results, in
// variables or beside its tensors, answers those at once: what it left is cleared, it runs on one
// of them, and the next is the first of its kind again.
GpuTiming::Step GpuTiming::show_anew(json& body) {
  if (!affords(kLaunchesAnew, kernel_.typical_ns, kShareOfView)) return std::nullopt;
  const double affordable = kAnewBudgetNs / (kLaunchesAnew * kernel_.typical_ns + 1);
  const auto times = static_cast<std::uint32_t>(
      std::clamp<double>(affordable, 1, request_.keeps_state ? kShownAnew : kShownAnewAnyway));
  Anew anew;
  for (std::uint32_t question = 0; question < kQuestions; ++question) {
    const std::vector<TurnOrder> orders = anew_orders(times);
    const Turns turns = ask(kernel_, orders);
    if (turns.ended) return turns.ended;
    const auto shown = anew_of(orders, turns);
    if (!shown) return std::nullopt;
    anew = *shown;
    if (!anew.is_slower) break;
  }
  body["shown_anew_ns"] = anew.shown_ns;
  if (anew.is_slower) return tell_remembered(anew.repeated_ns, anew.shown_ns);
  // Who has room for some contents only is no slower on most.
  const bool is_far_from_soonest = is_far_slower(anew.shown_ns, soonest_ns(kernel_.by_content_ns));
  if (is_far_from_soonest ||
      anew.more_ns > kSuspectedSlower * anew.repeated_ns + kSuspectedSlowerNs) {
    if (auto ended = show_twice()) return ended;
  }
  if (is_told_to_remember_) return std::nullopt;
  return request_.leaves_memory && request_.renew ? show_in_fresh_processes() : std::nullopt;
}

std::vector<TurnOrder> GpuTiming::anew_orders(std::uint32_t times) {
  std::vector<TurnOrder> orders;
  for (std::uint32_t i = 0; i < times; ++i) {
    const std::uint32_t seen = below(slots_);
    const std::uint32_t other = (seen + 1 + below(slots_ - 1)) % slots_;
    orders.push_back({.view = "cold",
                      .runs = {{.place = below(places_), .content = seen},
                               {.place = below(places_), .content = other}},
                      .warmups = 1,
                      .fresh_module = true});
  }
  return orders;
}

std::optional<GpuTiming::Anew> GpuTiming::anew_of(const std::vector<TurnOrder>& orders,
                                                  const Turns& turns) const {
  std::vector<double> anew;
  std::vector<double> repeated;
  std::vector<double> more_ns;
  std::size_t slower = 0;
  for (std::size_t i = 0; i < turns.taken.size(); ++i) {
    const auto& samples_ns = turns.taken[i].samples_ns;
    const auto& runs = orders[i].runs;
    // How long a kernel takes may depend on what it works on: of the same contents.
    const auto known = kernel_.by_content_ns.find(runs.back().content);
    if (known == kernel_.by_content_ns.end() || samples_ns.size() != runs.size()) continue;
    const double before = median(known->second);
    if (before <= 0) continue;
    anew.push_back(samples_ns.back());
    repeated.push_back(before);
    more_ns.push_back(anew.back() - before);
    slower += is_far_slower(anew.back(), before) ? 1 : 0;
  }
  if (anew.empty()) return std::nullopt;
  return Anew{.shown_ns = median(anew),
              .repeated_ns = median(repeated),
              .more_ns = median(more_ns),
              .is_slower = slower * 2 > anew.size()};
}

GpuTiming::Step GpuTiming::tell_remembered(double repeated_ns, double anew_ns) {
  is_told_to_remember_ = true;
  const json told{{"check", "remembers"}, {"repeated_ns", repeated_ns}, {"shown_anew_ns", anew_ns}};
  return judge_(0, {{"outputs", json::array()}, {"findings", json::array({told})}});
}

// All in one place: an address that is new to the device may cost time, too.
TurnOrder GpuTiming::shown_twice() {
  const std::uint32_t seen = below(slots_);
  const std::uint32_t other = (seen + 1 + below(slots_ - 1)) % slots_;
  TurnOrder order{.view = "cold", .warmups = 1, .fresh_module = true};
  const std::uint32_t place = below(places_);
  for (const std::uint32_t content : {seen, other, seen, other}) {
    order.runs.push_back({.place = place, .content = content});
  }
  return order;
}

GpuTiming::Step GpuTiming::show_twice() {
  const double affordable = kAnewBudgetNs / (kLaunchesTwice * kernel_.typical_ns + 1);
  const auto times = static_cast<std::uint32_t>(std::clamp<double>(affordable, 0, kShownTwice));
  if (times < kLeastShownTwice) return std::nullopt;
  Twice twice;
  for (std::uint32_t question = 0; question < kQuestions; ++question) {
    if (!affords(kLaunchesTwice, kernel_.typical_ns, kShareOfView)) return std::nullopt;
    std::vector<TurnOrder> orders;
    for (std::uint32_t i = 0; i < times; ++i) orders.push_back(shown_twice());
    const Turns turns = ask(kernel_, orders);
    if (turns.ended) return turns.ended;
    const auto shown = twice_of(turns);
    if (!shown) return std::nullopt;
    twice = *shown;
  }
  return tell_remembered(twice.again_ns, twice.first_ns);
}

std::optional<GpuTiming::Twice> GpuTiming::twice_of(const Turns& turns) {
  std::vector<double> first_ns;
  std::vector<double> again_ns;
  std::vector<double> more_ns;
  for (const Turn& turn : turns.taken) {
    if (turn.samples_ns.size() != kRunsTwice) return std::nullopt;
    first_ns.push_back(turn.samples_ns[1]);
    again_ns.push_back(turn.samples_ns[3]);
    more_ns.push_back(first_ns.back() - again_ns.back());
  }
  const double least_ns = std::max(kRememberedNs, kRemembered * median(again_ns));
  if (more_ns.size() < kLeastShownTwice || median(more_ns) <= least_ns) return std::nullopt;
  return Twice{.first_ns = median(first_ns), .again_ns = median(again_ns)};
}

// Who is slow on what its process never saw is asked in another, as something may have disturbed
// it.
GpuTiming::Step GpuTiming::show_in_fresh_processes() {
  std::vector<double> first_ns;
  std::vector<double> again_ns;
  for (std::uint32_t i = 0; i < kFreshProcesses; ++i) {
    if (auto ended = start_afresh(kernel_)) return ended;
    const TurnOrder order = shown_twice();
    auto reply = ask_one(kernel_, order);
    if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
    const auto& samples_ns = std::get<Turn>(reply).samples_ns;
    if (samples_ns.size() != order.runs.size()) return std::nullopt;
    if (!is_far_slower(samples_ns[1], samples_ns[3])) return std::nullopt;
    first_ns.push_back(samples_ns[1]);
    again_ns.push_back(samples_ns[3]);
  }
  return tell_remembered(median(again_ns), median(first_ns));
}

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
  } else if (fits(repeats * kLaunchesOfSlope + kLaunchesBefore)) {
    orders.push_back(graph_order(repeats, typical_ns, false));
  } else {
    into["graph"] = {{"unavailable", kTooLong}};
  }
  for (TurnOrder& order : orders) order.warmups = std::min(order.warmups, kViewWarmups);
  return orders;
}

// Where they decide which of two is faster they are looked at like cold runs: one warm run, and
// what is left in the place that begins anew within a graph. Answers their contents.
std::vector<std::uint32_t> GpuTiming::choose_examined_views(std::vector<TurnOrder>& orders) {
  std::vector<std::uint32_t> contents;
  for (TurnOrder& order : orders) {
    const bool is_graph = std::string_view(order.view) == "graph";
    if (!is_graph && known_contents() < 2) continue;
    RunOrder& run = is_graph ? order.runs.front()
                             : order.runs.at(below(static_cast<std::uint32_t>(order.runs.size())));
    if (!is_graph) run.content = (graph_content_ + 1) % known_contents();
    run.keep = true;
    contents.push_back(run.content);
  }
  return contents;
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
    // A graph that cannot be captured any more says nothing new.
    if (turns.taken.size() < orders.size() || turns.taken.back().samples_ns.empty()) break;
    const auto again = leaning_of(orders.front(), turns.taken.front(), turns.taken.back());
    if (!again) return std::nullopt;
    leaning = *again;
  }
  return judge_(0, {{"outputs", json::array()},
                    {"findings",
                     {{{"check", "leans_on_outputs"},
                       {"fresh_ns", leaning.fresh_ns},
                       {"repeated_ns", leaning.repeated_ns}}}}});
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
  auto filled = filled_arenas();
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  return stage(*side.session, std::get<std::vector<LentArena>>(filled));
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
