#include "engine/job/verdict.h"

#include <array>
#include <cstddef>

namespace assay::job {
namespace {

// In the order of the enumerators; tests compare these with the schemas' enums.
constexpr std::array<std::string_view, 12> kVerdicts{
    "passed",    "compile_failed", "contract_invalid", "launch_failed", "wrong_output", "crashed",
    "timed_out", "out_of_memory",  "unsupported",      "cancelled",     "engine_fault", "failed"};
constexpr std::array<std::string_view, 8> kStates{"submitted", "compiling",  "validating",
                                                  "profiling", "completed",  "failed",
                                                  "cancelled", "interrupted"};
constexpr std::array<std::string_view, 3> kStageStatuses{"passed", "failed", "skipped"};
constexpr std::array<std::string_view, 4> kTrusts{"verified", "audited", "suspect", "rejected"};

template <typename Enum, std::size_t N>
std::string_view text(const std::array<std::string_view, N>& table, Enum value) {
  return table.at(static_cast<std::size_t>(value));
}

template <typename Enum, std::size_t N>
std::optional<Enum> find(const std::array<std::string_view, N>& table, std::string_view wanted) {
  for (std::size_t i = 0; i < N; ++i) {
    if (table[i] == wanted) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Verdict verdict) { return text(kVerdicts, verdict); }
std::string_view name(State state) { return text(kStates, state); }
std::string_view name(StageStatus status) { return text(kStageStatuses, status); }
std::string_view name(Trust trust) { return text(kTrusts, trust); }

std::optional<Verdict> verdict_from(std::string_view text) {
  return find<Verdict>(kVerdicts, text);
}
std::optional<State> state_from(std::string_view text) { return find<State>(kStates, text); }
std::optional<StageStatus> stage_status_from(std::string_view text) {
  return find<StageStatus>(kStageStatuses, text);
}

bool is_final(State state) { return state >= State::completed; }

}  // namespace assay::job
