// Takes one run of a plan from its inputs to its verdict: inputs, prepare, command with retries,
// cleanup always, judgement. One per job, used by its thread.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "engine/node/engine.h"
#include "plans/optest/case_record.h"
#include "plans/optest/custom_functions.h"
#include "plans/optest/paths.h"

namespace assay::optest {

// Judges an order of kind "kernel" in the engine that runs this job.
using KernelJudge =
    std::function<node::Conclusion(const nlohmann::json& request, const std::stop_token& stop)>;

// What a plan's `requires` asks of the machine: "" if it is met, else the first thing missing.
using RequirementCheck = std::function<std::string(const nlohmann::json& needs)>;

struct CaseTools {
  const plans::StepRunner& steps;
  const plans::ScratchFolder& scratch;
  CustomFunctions& functions;
  KernelJudge kernels{};
  RequirementCheck unmet{};
  std::filesystem::path files{};        // "": inputs and outputs lie in the workdir
  std::optional<std::uint64_t> seed{};  // where the plan gives none
};

struct Ran {
  CaseRecord record{};
  std::string log{};  // everything the steps printed, with a line per step before it
};

class CaseRunner {
 public:
  CaseRunner(const Plan& plan, CachePolicy policy, const CaseTools& tools)
      : plan_(plan), policy_(policy), tools_(tools) {}

  [[nodiscard]] Ran run(const Run& run, const std::stop_token& stop);

 private:
  const Plan& plan_;
  const CachePolicy policy_;
  const CaseTools& tools_;
};

}  // namespace assay::optest
