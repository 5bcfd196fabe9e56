// What a sweep knows of one variant. A value; used by the job's thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace assay::node {

// What a verdict's `trust` says of a kernel that something speaks against.
inline constexpr std::string_view kSuspect = "suspect";

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
  double cut_after_s = 0;        // the budget gave it no more, and it has no verdict; 0: it did
  std::string why_not_again{};   // in a later round, for no fault of its own
  std::optional<int> outputs{};  // which group's, from 1 on (sweep_agreement.h)
  std::string why_not_held{};    // against the others' outputs, though it should have been

  [[nodiscard]] bool is_suspect() const { return trust == kSuspect; }
};

// What something speaks against is quicker than nothing else.
inline bool is_quicker_alone(const SweepRow* a, const SweepRow* b) {
  if (a->is_suspect() != b->is_suspect()) return b->is_suspect();
  return a->cold_ns < b->cold_ns;
}

}  // namespace assay::node
