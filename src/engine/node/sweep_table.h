// What a sweep says at its end: one row per variant, in the order that the measurements give them,
// ties told, and beside each that has no rank the reason. Measures nothing itself (sweep_job.h).
//
// Values; used by the job's thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/node/reporter.h"

namespace assay::node {

// What a verdict's `trust` says of a kernel that something speaks against.
inline constexpr std::string_view kSuspect = "suspect";

// What is known of one variant.
struct SweepRow {
  nlohmann::json variant = nlohmann::json::object();
  std::string verdict{};  // "" while nothing is known
  bool compiled = false;
  std::string summary{};
  nlohmann::json trust = nullptr;
  double cost = 0;  // what it is ranked by: nanoseconds, or instructions on the emulator
  const char* cost_basis = "cold";   // of nanoseconds: cold, graph, or beside_best
  double cold_ns = 0;                // the median of its cold runs, whatever it is ranked by
  std::optional<double> graph_ns{};  // the slope of a graph, where it stands for the kernel
  bool leads = false;                // beside the one whose own times were the least it was faster
  std::uint32_t runs = 0;
  nlohmann::json against_best = nullptr;  // ratio and interval, where they were compared
  bool tied = false;                      // cannot be told from the best
  bool measured = false;

  [[nodiscard]] bool is_suspect() const { return trust == kSuspect; }
};

class SweepTable {
 public:
  // An emulator's times rank nothing, its instructions do.
  enum class By { time, instructions };

  // `rows`: at least one. `ties_are_open`: the budget ended before all that may be ties were
  // compared with the best.
  SweepTable(std::vector<SweepRow> rows, By by, bool ties_are_open);

  // {ranked_by?, note?, table, best?, summary}; passed when one variant did, or else the verdict of
  // the first. A line of times: {median_ns, graph_ns?, cost_ns, cost_basis, relative, runs, …}.
  [[nodiscard]] Conclusion conclude() const;

 private:
  [[nodiscard]] nlohmann::json line_of(const SweepRow& row, std::size_t rank) const;
  [[nodiscard]] nlohmann::json lines() const;
  [[nodiscard]] std::string summary_of_passed() const;

  std::vector<SweepRow> rows_;  // the best first
  bool by_time_;
  bool ties_are_open_;
};

}  // namespace assay::node
