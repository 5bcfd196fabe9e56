// What limits a kernel, from what was measured: one word, the two facts that say so, and one thing
// to try with its ground. Heuristics in the order in which a person would rule things out; each
// states the figures it rests on, so that a reader can disagree. Without hardware counters what the
// contract's bytes and the launch say is all there is, and often too little for a word.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/node/device_metrics.h"
#include "engine/node/roof.h"

namespace assay::node {

struct TimingFacts {
  std::optional<double> kernel_ns{};  // by the slope of a graph, else warm
  std::optional<double> cold_ns{};    // between two events
  std::optional<double> event_overhead_ns{};
};

// {limiter: memory|compute|latency|occupancy|launch|unknown, basis: counters|timing|computed,
// confidence: high|low|none, facts: [2], suggestion}.
[[nodiscard]] nlohmann::json limiter_of(const CounterValues& values, const LaunchFacts& launch,
                                        const TimingFacts& timing, const Traffic& traffic);

}  // namespace assay::node
