#include "engine/job/kind.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

namespace assay::job {
namespace {

auto place_of(const Kind& kind, std::string_view stage) {
  const auto found = std::find_if(kind.stages.begin(), kind.stages.end(),
                                  [&](const Stage& one) { return one.name == stage; });
  if (found == kind.stages.end()) {
    throw std::invalid_argument("kind '" + kind.name + "' declares no stage '" +
                                std::string(stage) + "'");
  }
  return found;
}

}  // namespace

bool Kind::has_stage(std::string_view stage) const {
  return std::any_of(stages.begin(), stages.end(),
                     [&](const Stage& one) { return one.name == stage; });
}

bool Kind::has_verdict(Verdict verdict) const {
  return std::find(verdicts.begin(), verdicts.end(), verdict) != verdicts.end();
}

Kind kernel_kind() {
  return {.name = "kernel",
          .stages = {{.name = "received", .during = State::submitted},
                     {.name = "compiled", .during = State::compiling},
                     {.name = "prepared", .during = State::validating},
                     {.name = "validated", .during = State::validating},
                     {.name = "timed", .during = State::profiling},
                     {.name = "profiled", .during = State::profiling},
                     {.name = "generalised", .during = State::profiling},
                     {.name = "concluded", .during = State::profiling}},
          .verdicts = {Verdict::passed, Verdict::compile_failed, Verdict::contract_invalid,
                       Verdict::launch_failed, Verdict::wrong_output, Verdict::crashed,
                       Verdict::timed_out, Verdict::out_of_memory, Verdict::unsupported,
                       Verdict::cancelled, Verdict::engine_fault}};
}

std::optional<State> state_after(const Kind& kind, std::string_view stage, StageStatus status,
                                 std::string_view last_asked) {
  const auto found = place_of(kind, stage);
  const auto next = std::next(found);
  if (next == kind.stages.end()) return std::nullopt;
  const auto last = last_asked.empty() ? kind.stages.end() : place_of(kind, last_asked);
  if (found >= last) return last->during;
  return status == StageStatus::passed ? next->during : found->during;
}

State final_state(Verdict verdict) {
  if (verdict == Verdict::cancelled) return State::cancelled;
  if (verdict == Verdict::engine_fault) return State::failed;
  return State::completed;
}

}  // namespace assay::job
