// Of GpuTiming: one kernel beside another, by turns that they take, and the ratio of their times.
#include <algorithm>
#include <cmath>

#include "engine/node/gpu_timing.h"
#include "engine/node/median.h"
#include "engine/node/ratio.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// An interval wider than what is worth a name is narrowed by more pairs.
constexpr std::uint32_t kMostPairs = 48;
constexpr std::uint32_t kRunsOfPair = 8;
constexpr std::chrono::milliseconds kSettling{600};
// Shorter kernels are compared by the graph's slope: two events around a launch add microseconds,
// as long as they vary by a few tenths of one. The graph goes round the places, so that what does
// not fit into the cache is not there.
constexpr double kShortNs = 250'000;
// Unless the other one is so long that graphs of it would take the time of many cold runs.
constexpr double kLongNs = 2'000'000;
// A graph of shorter ones is as long as it is meant to be, whatever they take: it has three
// launches at least (runner/gpu_graphs.cc).
constexpr double kLongGraphNs = 130'000;
constexpr double kLaunchesBeside = 2;  // of a turn's runs: a warmup and a first one
// Slopes of the same kernel in two processes were seen to differ by this much, however many were
// taken: its instructions and tensors lie elsewhere.
constexpr double kSlopeDoubtNs = 100;
// And any times by this share of them, or by what an event's resolution leaves open.
constexpr double kDoubt = 0.002;
constexpr double kEventDoubtNs = 500;
// Halves of an interval wider than this are narrowed by more pairs.
constexpr double kNarrow = 0.003;
constexpr double kShareOfDoubt = 0.25;
constexpr std::uint32_t kGraphTurnRepeats = 3;
// Launches of such a turn of a long kernel: repeats of N and 2 N, N before them and a warmup.
constexpr double kLaunchesOfGraphTurn = 9 * kGraphTurnRepeats + 3 + 1;
constexpr double kTurnsOfPair = 3;      // one of each, and one of the kernel's that is looked at
constexpr double kShareOfGraphs = 0.3;  // of the time that is left
constexpr double kShareOfPair = 0.5;
constexpr double kQueueingNs = 4'000;  // of each launch but the first, where the host is late
// Pairs of graphs whose launches have their contents anew.
constexpr std::uint32_t kRenewedPairs = 4;
// A turn's graphs of N launches: three repeats of one and of two, and one before them; as long as
// this, and no more launches than that (runner/gpu_graphs.cc).
constexpr double kGraphsOfTurn = 3 * kGraphTurnRepeats + 1;
constexpr double kGraphNs = 150'000;
constexpr double kMostLaunchesOfGraph = 64;
constexpr double kRenewingNsOfByte = 3e-3;  // there and back, at 2/3 TB/s
// Of a launch's time, by which what is saved may be less where contents are put anew; and of the
// launches with that, by which they vary.
constexpr double kMissingAnew = 0.03;
constexpr double kDoubtAnew = 0.0025;
// A ratio that no interval bears out is asked likewise where it says so much.
constexpr double kWorthAsking = 0.02;
// Turns of pairs that the referee looks at: one in so many, drawn anew for each, and the first of
// graphs; all of what counts its launches, for it knows how many were before the pairs, and may
// work no more in them; and all of those whose launches have their contents anew.
constexpr std::uint32_t kExaminedPairs = 4;

// Two turns of each at least, none of which took no time.
bool is_ratio(const std::vector<double>& of, const std::vector<double>& to) {
  const auto takes_time = [](const std::vector<double>& turns_ns) {
    return turns_ns.size() >= 2 &&
           std::all_of(turns_ns.begin(), turns_ns.end(), [](double t) { return t > 0; });
  };
  return takes_time(of) && takes_time(to);
}

bool says_something(const Ratio& ratio) {
  return ratio.verdict != RatioVerdict::indistinguishable ||
         std::abs(std::log(ratio.ratio)) > kWorthAsking;
}

json describe(const Ratio& ratio, const char* basis) {
  return {{"ratio", ratio.ratio},
          {"low", ratio.low},
          {"high", ratio.high},
          {"verdict", name(ratio.verdict)},
          {"pairs", ratio.pairs},
          {"basis", basis},
          {"confidence", kRatioConfidence},
          {"minimum_effect", kMinimumEffect},
          // The least that this interval could have told from nothing.
          {"detectable", std::max(kMinimumEffect, std::sqrt(ratio.high / ratio.low) - 1)}};
}

}  // namespace

// Where contents are put anew the turn itself is looked at: all of its launches are made as if it
// were them. Else that one is another, as long: what is copied in its graphs costs time.
GpuTiming::GraphOrders GpuTiming::graph_orders(const Side& side, Series Side::*basis,
                                               bool examined) {
  const auto order = [&] {
    TurnOrder turn = graph_order(kGraphTurnRepeats, side.typical_ns);
    turn.precise = basis == &Side::graph;
    turn.renews_each = basis == &Side::renewed;
    return turn;
  };
  GraphOrders asked{.orders = {order()}};
  if (!examined) return asked;
  TurnOrder shown = order();
  RunOrder& kept = shown.runs.at(below(kGraphTurnRepeats));
  kept.keep = true;
  asked.shown_content = kept.content;
  if (shown.renews_each) {
    asked.orders.front() = std::move(shown);
    return asked;
  }
  asked.counted = below(2);
  asked.orders.insert(asked.orders.begin() + (asked.counted == 0 ? 1 : 0), std::move(shown));
  return asked;
}

GpuTiming::Step GpuTiming::graph_turn(Side& side, Series Side::*basis, bool examined) {
  const GraphOrders asked = graph_orders(side, basis, examined);
  Turns turns = ask(side, asked.orders);
  if (turns.ended) return std::move(turns.ended);
  const Turn& last = turns.taken.back();
  Series& series = side.*basis;
  if (last.graphs.empty()) {
    series.graphs.emplace_back();
    series.clocks_mhz.push_back(0);
    return go_on_afresh(side, last.note);
  }
  const Turn& counted = turns.taken.at(asked.counted);
  series.graphs.push_back(turn_of(counted.graphs));
  series.clocks_mhz.push_back(counted.clock_mhz.value_or(0));
  return examined ? examine({asked.shown_content}) : std::nullopt;
}

void GpuTiming::reckon_launches(Series Side::*basis) {
  const auto reckon = [](Series& series, const Series& other) {
    const double excess = excess_ns(series.graphs, other.graphs);
    series.turns_ns.clear();
    series.turn_cycles.clear();
    for (std::size_t i = 0; i < series.graphs.size(); ++i) {
      series.turns_ns.push_back(launch_ns(series.graphs[i], excess));
      if (series.clocks_mhz[i] == 0) continue;
      series.turn_cycles.push_back(series.turns_ns.back() * series.clocks_mhz[i] * 1e-3);
    }
  };
  reckon(kernel_.*basis, (*reference_).*basis);
  reckon((*reference_).*basis, kernel_.*basis);
}

// The order changes from pair to pair.
GpuTiming::Step GpuTiming::one_more_pair(Series Side::*basis) {
  const bool by_graph = basis != &Side::cold;
  const bool reference_first = (kernel_.*basis).turns_ns.size() % 2 == 0;
  const bool is_first = (kernel_.*basis).turns_ns.empty();
  const bool is_examined = request_.keeps_state || basis == &Side::renewed ||
                           (by_graph && is_first) || below(kExaminedPairs) == 0;
  ColdTurn asked;  // by graphs no contents are chosen
  if (!by_graph) asked = cold_turn(std::min(kRunsOfPair, trials_), is_examined ? 1 : 0);
  for (Side* side :
       {reference_first ? &*reference_ : &kernel_, reference_first ? &kernel_ : &*reference_}) {
    // The times that are told are those that were asked for.
    const std::size_t told = side->cold_ns.size();
    auto ended = by_graph ? graph_turn(*side, basis, is_examined && side == &kernel_)
                          : take_turn(*side, asked);
    if (ended) return ended;
    side->cold_ns.resize(told);
  }
  if (by_graph) reckon_launches(basis);
  return std::nullopt;
}

bool GpuTiming::affords_pair(Series Side::*basis) const {
  const double launches = basis == &Side::graph ? kLaunchesOfGraphTurn
                                                : std::min(kRunsOfPair, trials_) + kLaunchesBeside;
  return affords(kTurnsOfPair * launches, slowest_ns(), kShareOfPair);
}

// More pairs narrow an interval down to what no number of them resolves.
GpuTiming::Step GpuTiming::settle(Series Side::*basis, double doubt_ns) {
  const auto& reference_ns = ((*reference_).*basis).turns_ns;
  const auto& kernel_ns = (kernel_.*basis).turns_ns;
  const double enough = std::max(kNarrow, doubt_ns / median(kernel_ns) * kShareOfDoubt);
  Ratio ratio = ratio_of(reference_ns, kernel_ns);
  const auto until = Clock::now() + kSettling;
  while (ratio.high / ratio.low > 1 + 2 * enough && ratio.pairs < kMostPairs &&
         !is_unrepeatable() && Clock::now() < until && affords_pair(basis)) {
    if (auto ended = one_more_pair(basis)) return ended;
    if (!is_ratio(reference_ns, kernel_ns)) break;
    ratio = ratio_of(reference_ns, kernel_ns);
  }
  return std::nullopt;
}

std::string GpuTiming::no_slopes(const json& body) const {
  const auto [least_ns, most_ns] = std::minmax(kernel_.typical_ns, reference_->typical_ns);
  const bool is_short = least_ns < kShortNs && most_ns < kLongNs;
  if (!is_short && request_.method != TimingMethod::graph) return "events resolve it";
  if (request_.works_on_contents) {
    return "a launch works on what tensors begin with, and in a graph it would find what the one "
           "before has left";
  }
  const auto has_slope = [&](const char* key) {
    const json views = body.value(key, json::object());
    return views.value("graph", json::object()).contains("median_ns");
  };
  if (!has_slope("views") || !has_slope("reference_views")) return "there is no graph of both";
  if (!affords(kTurnsOfPair * kPairs * kLaunchesOfGraphTurn, most_ns > kLongGraphNs ? most_ns : 0,
               kShareOfGraphs)) {
    return "graphs of it would take too much of the time that is left";
  }
  return "";
}

GpuTiming::Step GpuTiming::compare(json& body) {
  const std::string why = no_slopes(body);
  if (!why.empty()) {
    auto ended = ratio_by(&Side::cold, body);
    const bool was_wished = request_.method == TimingMethod::graph;
    if (was_wished && !body.contains("speedup_note")) {
      body["speedup_note"] = "Cold runs decide, not graphs: " + why + ".";
    }
    return ended;
  }
  for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
    if (auto ended = one_more_pair(&Side::graph)) return ended;
    if (!is_captured(&Side::graph)) break;
  }
  if (!is_captured(&Side::graph)) {
    auto ended = ratio_by(&Side::cold, body);
    if (!body.contains("speedup_note")) body["speedup_note"] = "Cold runs decide: " + uncaptured_;
    return ended;
  }
  if (auto ended = ratio_by(&Side::graph, body)) return ended;
  if (body["speedup"].is_null()) {
    body.erase("speedup_note");
    return ratio_by(&Side::cold, body);
  }
  auto told = why_not_believed(
      says_something(ratio_of(reference_->graph.turns_ns, kernel_.graph.turns_ns)));
  if (auto* ended = std::get_if<Ended>(&told)) return std::move(*ended);
  if (is_ratio(reference_->renewed.turns_ns, kernel_.renewed.turns_ns)) {
    body["speedup"]["anew"] = {{"reference_ns", median(reference_->renewed.turns_ns)},
                               {"kernel_ns", median(kernel_.renewed.turns_ns)}};
  }
  const std::string& doubt = std::get<std::string>(told);
  if (doubt.empty()) return std::nullopt;
  const json by_graph = body["speedup"];
  auto ended = ratio_by(&Side::cold, body);
  if (body["speedup"].is_object()) body["speedup"]["by_graph"] = by_graph;
  body["speedup_note"] = "Back to back, in a graph, the ratio is " +
                         std::to_string(by_graph.at("ratio").get<double>()) + ", but " + doubt;
  return ended;
}

// Of what graphs say. Half of a difference is one of a launch alone, as far as events resolve it;
// all of it, as far as it is of the kernel that is said to be faster, is there where launches have
// their contents anew.
std::variant<std::string, Ended> GpuTiming::why_not_believed(bool is_told) {
  if (!is_borne_out(repeated(), medians(&Side::cold), kBorneOutDoubtNs + queueing_ns())) {
    return "launched alone on a cold cache no such time is saved or lost: the cold runs decide. "
           "Either what differs is there only while caches are warm, or one of both does less when "
           "it is launched again at once.";
  }
  if (!is_told) return "";
  if (!affords(1, anew_ns(), kShareOfGraphs)) {
    return "to put contents anew before each launch, which is to show as much, would take too much "
           "of the time that is left: the cold runs decide.";
  }
  for (std::uint32_t pair = 0; pair < kRenewedPairs; ++pair) {
    if (auto ended = one_more_pair(&Side::renewed)) return std::move(*ended);
    if (!is_captured(&Side::renewed)) break;
  }
  if (!is_ratio(reference_->renewed.turns_ns, kernel_.renewed.turns_ns)) {
    return "no graph could be made that puts contents anew before each launch, which is to show as "
           "much: the cold runs decide.";
  }
  if (is_shown_anew()) return "";
  return "with contents put anew before each launch no such time is saved: the cold runs decide. "
         "Either what differs is there only while tensors are in the cache, or one of both does "
         "less on what its last launch has left.";
}

// What all turns of graphs with contents put anew take: as many launches as either has.
double GpuTiming::anew_ns() {
  const double bytes = static_cast<double>(request_.arena_bytes + request_.scratch_bytes);
  double all_ns = 0;
  for (const Side* side : {&kernel_, &*reference_}) {
    const double launch_ns = side->typical_ns + kRenewingNsOfByte * bytes;
    const double launches = std::clamp(kGraphNs / std::max(side->typical_ns, 1.0),
                                       std::max(1.0 * slots_, 2.0), kMostLaunchesOfGraph);
    const double warmups = order("graph", 0, side->typical_ns).warmups;
    all_ns += kRenewedPairs * launch_ns * (kGraphsOfTurn * launches + warmups);
  }
  return all_ns;
}

bool GpuTiming::is_captured(Series Side::*basis) const {
  const auto has_launches = [](const Series& series) {
    return !series.graphs.empty() && series.graphs.back().launches > 0;
  };
  return has_launches(kernel_.*basis) && has_launches((*reference_).*basis);
}

// What the host takes to queue several launches is no run's work.
double GpuTiming::queueing_ns() const {
  return kQueueingNs * static_cast<double>(request_.launches - 1);
}

// Who is quick in some of its graphs has the median of all others, and a ratio that says more.
Medians GpuTiming::repeated() const {
  Medians medians = this->medians(&Side::graph);
  const Ratio told = ratio_of(reference_->graph.turns_ns, kernel_.graph.turns_ns);
  if (!says_something(told)) return medians;
  const double by_ratio_ns = medians.reference_ns / told.ratio;
  const auto saved_ns = [&](double ns) { return std::abs(medians.reference_ns - ns); };
  if (saved_ns(by_ratio_ns) > saved_ns(medians.candidate_ns)) medians.candidate_ns = by_ratio_ns;
  return medians;
}

Medians GpuTiming::medians(Series Side::*series) const {
  return {.reference_ns = median(((*reference_).*series).turns_ns),
          .candidate_ns = median((kernel_.*series).turns_ns)};
}

// But for what both cannot tell: a share of what is said of the quicker one, else the quicker it
// were the more could be said of it, and one of the launches that are held against it.
bool GpuTiming::is_shown_anew() const {
  const Medians told = repeated();
  const Medians anew = medians(&Side::renewed);
  const double sign = told.reference_ns < told.candidate_ns ? -1 : 1;
  const double missing_ns =
      sign * ((told.reference_ns - told.candidate_ns) - (anew.reference_ns - anew.candidate_ns));
  return missing_ns <= kSlopeDoubtNs +
                           kMissingAnew * std::min(told.reference_ns, told.candidate_ns) +
                           kDoubtAnew * std::max(anew.reference_ns, anew.candidate_ns);
}

GpuTiming::Step GpuTiming::ratio_by(Series Side::*basis, json& body) {
  const auto& reference_ns = ((*reference_).*basis).turns_ns;
  const auto& kernel_ns = (kernel_.*basis).turns_ns;
  // A ratio needs two, however few runs were asked for.
  while (kernel_ns.size() < 2 && !is_unrepeatable() && affords_pair(basis)) {
    if (auto ended = one_more_pair(basis)) return ended;
  }
  const bool by_graph = basis == &Side::graph;
  double doubt_ns = by_graph ? kSlopeDoubtNs : kEventDoubtNs;
  if (is_ratio(reference_ns, kernel_ns)) {
    doubt_ns = std::max(doubt_ns, kDoubt * median(kernel_ns));
    if (auto ended = settle(basis, doubt_ns)) return ended;
  }
  if (!is_ratio(reference_ns, kernel_ns)) {
    body["speedup"] = nullptr;
    body["speedup_note"] = "too few runs, or too short to be told from nothing";
    return std::nullopt;
  }
  const Ratio ratio = ratio_of(reference_ns, kernel_ns, doubt_ns);
  body["speedup"] = describe(ratio, by_graph ? "graph" : "cold");
  body["speedup"]["doubt_ns"] = doubt_ns;
  confirm_in_cycles(basis, ratio, doubt_ns, body);
  return std::nullopt;
}

// A difference that is not there in clock cycles is one of clocks.
void GpuTiming::confirm_in_cycles(Series Side::*basis, const Ratio& ratio, double doubt_ns,
                                  json& body) const {
  const Series& kernel = kernel_.*basis;
  const Series& reference = (*reference_).*basis;
  const std::size_t turns = kernel.turns_ns.size();
  if (kernel.turn_cycles.size() != turns || reference.turn_cycles.size() != turns) return;
  const double cycles_per_ns = median(kernel.turn_cycles) / median(kernel.turns_ns);
  const Ratio cycles =
      ratio_of(reference.turn_cycles, kernel.turn_cycles, doubt_ns * cycles_per_ns);
  json& speedup = body["speedup"];
  speedup["ratio_in_cycles"] = cycles.ratio;
  speedup["verdict_in_cycles"] = name(cycles.verdict);
  const bool is_told = ratio.verdict != RatioVerdict::indistinguishable;
  if (!is_told || cycles.verdict == ratio.verdict) return;
  speedup["verdict"] = name(RatioVerdict::indistinguishable);
  body["speedup_note"] = "In clock cycles it is " + std::string(name(cycles.verdict)) +
                         ": the device's clock moved between the turns.";
}

}  // namespace assay::node
