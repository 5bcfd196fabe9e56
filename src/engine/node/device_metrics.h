// Device metrics: which hardware counters answer which section, what the launch itself says without
// any counter, and what limits the kernel. Names are those of the system this one replaces; each
// value's source is in the table of device_metrics.cc.
//
// Pure; any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/node/occupancy.h"

namespace assay::node {

// What is known of a launch before it runs.
struct LaunchFacts {
  std::uint64_t grid_blocks = 0;
  unsigned block_threads = 0;
  unsigned registers_per_thread = 0;
  std::uint64_t shared_bytes_per_block = 0;  // static and dynamic
  unsigned multiprocessors = 0;
  std::optional<Occupancy> occupancy{};  // nothing: the target's limits are not documented
};

using CounterValues = std::map<std::string, double>;

// Counters that were asked for and have no value.
struct CounterGaps {
  std::vector<std::string> refused{};        // the device has none of that name
  std::vector<std::string> without_value{};  // counted, but a ratio over nothing
};

// The sections there are, by the names that a report uses ("speed_of_light") and those that people
// know from Nsight Compute ("SpeedOfLight"); nothing for a name that is neither.
[[nodiscard]] std::optional<std::string> section_of(const std::string& name);
[[nodiscard]] std::vector<std::string> all_sections();
// What a request without names gets: a few passes that decide what limits the kernel.
[[nodiscard]] std::vector<std::string> default_sections();

// The counters that the sections need, without repeats.
[[nodiscard]] std::vector<std::string> counters_of(const std::vector<std::string>& sections);

// {section: {key: value}}; a value that was not counted is null.
[[nodiscard]] nlohmann::json tell_metrics(const std::vector<std::string>& sections,
                                          const CounterValues& values, const LaunchFacts& launch);

// {"section.key": why it is null}, of what tell_metrics() told after counting.
[[nodiscard]] nlohmann::json tell_gaps(const nlohmann::json& told, const CounterValues& values,
                                       const CounterGaps& gaps, const LaunchFacts& launch);

}  // namespace assay::node
