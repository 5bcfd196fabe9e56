// Of a lifted sequence's launches the one whose counters were read: the one that takes the most
// time. What several launches do to the hardware has no common percentage; the report says which
// one it speaks of, and how much of the time that is.
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "engine/node/device_metrics.h"
#include "engine/node/kernel_claim.h"
#include "engine/node/lifted_sequence.h"

namespace assay::node {

struct LiftedLaunch {
  LaunchFacts facts{};               // without the device's: multiprocessors, occupancy
  std::optional<double> alone_ns{};  // of that launch, beginning with what those before it left
  nlohmann::json told =
      nlohmann::json::object();  // {launches, launch: {index, kernel, ns?, share_pct?}}
};

// Nothing: the runner says of the sequence what cannot be.
[[nodiscard]] std::optional<LiftedLaunch> lifted_launch(const LiftedSequence& sequence,
                                                        const CountedLaunch& counted);

}  // namespace assay::node
