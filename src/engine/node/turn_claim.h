// What the runner of a kernel claims of one turn: times of its runs, the clock, the device's state,
// what the runs have left. Read member by member, as kernel_claim.h says.
//
// Values; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/node/graph_slope.h"
#include "engine/node/wall_clock.h"

namespace assay::node {

// Of why something could not be captured.
inline constexpr std::size_t kToldNoteBytes = 2000;

struct Turn {
  std::vector<double> samples_ns{};  // of a graph: of one launch, each by a pair of graphs
  std::vector<GraphTimes> graphs{};  // those pairs
  std::uint32_t launches = 1;
  std::optional<double> clock_mhz{};
  double event_overhead_ns = 0;
  nlohmann::json state = nullptr;   // of the device (runner/nvml.h), if that was asked for
  std::string note{};               // why there are no samples
  std::optional<WallClaim> wall{};  // of a graph
  // Runs at this clock were thrown away, and the device was kept busy for so long.
  std::optional<double> ramped_from_mhz{};
  double ramped_ms = 0;
  // If they were asked for and could be taken: of what each run has left, and of each of the staged
  // contents as a run begins with it.
  std::vector<std::uint64_t> digests{};
  std::vector<std::uint64_t> begun_with{};
};

// What is to be heard of a turn: a time of each run, or none of a graph that cannot be captured.
struct OrderedTurn {
  std::size_t runs = 0;
  bool is_graph = false;
};

// REQUIRES that its launches completed. Throws json exceptions, as all claims do.
[[nodiscard]] Turn turn_claim(const nlohmann::json& told, const OrderedTurn& ordered);

}  // namespace assay::node
