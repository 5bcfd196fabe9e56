// What a sweep says at its end: one row per variant, in the order that the measurements give them,
// ties told, and beside each that has no rank the reason. Measures nothing itself (sweep_job.h).
//
// Values; used by the job's thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/node/reporter.h"
#include "engine/node/sweep_row.h"

namespace assay::node {

class SweepTable {
 public:
  // An emulator's times rank nothing, its instructions do.
  enum class By { time, instructions };

  // `rows`: at least one. `ties_are_open`: the budget ended before all that may be ties were
  // compared with the best.
  SweepTable(std::vector<SweepRow> rows, By by, bool ties_are_open);

  // {ranked_by?, note?, table, best?, warnings?, summary}; passed when one variant did, or else the
  // verdict of the first that has one. `best` is null, and no line has a rank, where the variants'
  // outputs disagree. A line of times: {median_ns, graph_ns?, cost_ns, cost_basis, relative, runs,
  // …}.
  [[nodiscard]] Conclusion conclude() const;

 private:
  [[nodiscard]] nlohmann::json line_of(const SweepRow& row, std::size_t rank) const;
  [[nodiscard]] nlohmann::json lines() const;
  [[nodiscard]] std::string summary_of_passed() const;
  [[nodiscard]] Conclusion conclude_without_a_pass(Conclusion conclusion) const;

  std::vector<SweepRow> rows_;  // the best first
  bool by_time_;
  bool ties_are_open_;
  bool disagree_;  // nobody knows which outputs are right
};

}  // namespace assay::node
