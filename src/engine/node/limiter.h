// What limits a kernel, from what was measured: one word, the two facts that say so, and one thing
// to try with its ground. Heuristics in the order in which a person would rule things out; each
// states the figures it rests on, so that a reader can disagree.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/node/device_metrics.h"

namespace assay::node {

struct TimingFacts {
  std::optional<double> kernel_ns{};  // by the slope of a graph, else cold
  std::optional<double> event_overhead_ns{};
};

// {limiter: memory|compute|latency|occupancy|launch|unknown, facts: [2], suggestion}.
[[nodiscard]] nlohmann::json limiter_of(const CounterValues& values, const LaunchFacts& launch,
                                        const TimingFacts& timing);

}  // namespace assay::node
