// The parts of a job that look at a kernel beside judging it: `checks`, whose findings stand in the
// validation, and `device_metrics` counted by the emulator. Pure but for the two sessions; used by
// the job's thread.
#pragma once

#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/node/kernel_session.h"
#include "engine/node/kernel_task.h"

namespace assay::node {

struct InspectionRun {
  RefereeSession& referee;
  KernelSession& kernel;
  const KernelTask& task;
  bool on_gpu = false;
  bool has_neighbours = false;  // in memory, which no run tells apart
  // Findings of the runs before it: loads out of bounds. Of a GPU's twin there are none yet.
  nlohmann::json strays = nlohmann::json::array();
  std::chrono::nanoseconds& execution_left;
};

// What an inspection may take, which is many times slower than running: something even if the runs
// before it used up the time, for a hang is worth looking at.
[[nodiscard]] std::chrono::nanoseconds inspection_time(std::chrono::nanoseconds execution_left);
// One inspection with the inputs of the first trial, in at most the time there is for one.
[[nodiscard]] std::variant<Inspected, Ended> inspect(RefereeSession& referee, KernelSession& kernel,
                                                     const InspectionOrder& order,
                                                     std::chrono::nanoseconds& execution_left);
// {ran, checks, findings, notes, blocks: {checked, of}?}: always an answer; what could not be
// looked at says why.
[[nodiscard]] nlohmann::json run_checks(const InspectionRun& run);
// {source: "emulated", metrics: {name: value}, estimate, notes, lines?} or {reason}.
[[nodiscard]] nlohmann::json count_metrics(const InspectionRun& run);
// The findings in one sentence; "" if there are none.
[[nodiscard]] std::string findings_sentence(const nlohmann::json& checks);

}  // namespace assay::node
