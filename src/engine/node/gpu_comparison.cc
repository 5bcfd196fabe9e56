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

// Two turns of each at least, none of which took no time.
bool is_ratio(const std::vector<double>& of, const std::vector<double>& to) {
  const auto takes_time = [](const std::vector<double>& turns_ns) {
    return turns_ns.size() >= 2 &&
           std::all_of(turns_ns.begin(), turns_ns.end(), [](double t) { return t > 0; });
  };
  return takes_time(of) && takes_time(to);
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

GpuTiming::Step GpuTiming::graph_turn(Side& side) {
  TurnOrder turns = order("graph", kGraphTurnRepeats);
  turns.precise = true;
  auto reply = ask_one(side, std::move(turns));
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const Turn& turn = std::get<Turn>(reply);
  side.turns_ns.push_back(median(turn.samples_ns));
  if (turn.clock_mhz) {
    side.turn_cycles.push_back(median(turn.samples_ns) * *turn.clock_mhz * 1e-3);
  }
  return std::nullopt;
}

// The order changes from pair to pair.
GpuTiming::Step GpuTiming::one_more_pair(bool by_graph) {
  const bool reference_first = kernel_.turns_ns.size() % 2 == 0;
  const ColdTurn asked = cold_turn(std::min(kRunsOfPair, trials_), 0);
  for (Side* side :
       {reference_first ? &*reference_ : &kernel_, reference_first ? &kernel_ : &*reference_}) {
    // The times that are told are those that were asked for.
    const std::size_t told = side->cold_ns.size();
    auto ended = by_graph ? graph_turn(*side) : take_turn(*side, asked);
    if (ended) return ended;
    side->cold_ns.resize(told);
  }
  return std::nullopt;
}

// More pairs narrow an interval down to what no number of them resolves.
GpuTiming::Step GpuTiming::settle(bool by_graph, double doubt_ns) {
  const double share = doubt_ns / median(kernel_.turns_ns);
  const double enough = std::max(kNarrow, share * kShareOfDoubt);
  Ratio ratio = ratio_of(reference_->turns_ns, kernel_.turns_ns);
  const auto until = Clock::now() + kSettling;
  while (ratio.high / ratio.low > 1 + 2 * enough && ratio.pairs < kMostPairs &&
         !is_unrepeatable() && Clock::now() < until) {
    if (auto ended = one_more_pair(by_graph)) return ended;
    if (!is_ratio(reference_->turns_ns, kernel_.turns_ns)) break;
    ratio = ratio_of(reference_->turns_ns, kernel_.turns_ns);
  }
  return std::nullopt;
}

GpuTiming::Step GpuTiming::compare(json& body) {
  const char* basis = "cold";
  const auto [least_ns, most_ns] = std::minmax(kernel_.typical_ns, reference_->typical_ns);
  const bool is_short = least_ns < kShortNs && most_ns < kLongNs;
  const auto has_slope = [&](const char* key) { return body[key]["graph"].contains("median_ns"); };
  const bool is_wanted = is_short || request_.method == TimingMethod::graph;
  const bool by_graph = is_wanted && has_slope("views") && has_slope("reference_views");
  if (by_graph) {
    basis = "graph";
    for (Side* side : {&kernel_, &*reference_}) {
      side->turns_ns.clear();
      side->turn_cycles.clear();
    }
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      if (auto ended = one_more_pair(true)) return ended;
    }
  }
  // A ratio needs two, however few runs were asked for.
  while (kernel_.turns_ns.size() < 2 && !is_unrepeatable()) {
    if (auto ended = one_more_pair(by_graph)) return ended;
  }
  double doubt_ns = by_graph ? kSlopeDoubtNs : kEventDoubtNs;
  if (is_ratio(reference_->turns_ns, kernel_.turns_ns)) {
    doubt_ns = std::max(doubt_ns, kDoubt * median(kernel_.turns_ns));
    if (auto ended = settle(by_graph, doubt_ns)) return ended;
  }
  if (!is_ratio(reference_->turns_ns, kernel_.turns_ns)) {
    body["speedup"] = nullptr;
    body["speedup_note"] = "too few runs, or too short to be told from nothing";
    return std::nullopt;
  }
  const Ratio ratio = ratio_of(reference_->turns_ns, kernel_.turns_ns, doubt_ns);
  body["speedup"] = describe(ratio, basis);
  body["speedup"]["doubt_ns"] = doubt_ns;
  confirm_in_cycles(ratio, doubt_ns, body);
  return std::nullopt;
}

// A difference that is not there in clock cycles is one of clocks.
void GpuTiming::confirm_in_cycles(const Ratio& ratio, double doubt_ns, json& body) const {
  const std::size_t turns = kernel_.turns_ns.size();
  if (kernel_.turn_cycles.size() != turns || reference_->turn_cycles.size() != turns) return;
  const double cycles_per_ns = median(kernel_.turn_cycles) / median(kernel_.turns_ns);
  const Ratio cycles =
      ratio_of(reference_->turn_cycles, kernel_.turn_cycles, doubt_ns * cycles_per_ns);
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
