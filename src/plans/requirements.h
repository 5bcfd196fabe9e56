// Does this machine have what somebody needs? One answer per item, need and have beside each
// other; the same question gets the same answer, and a missing thing is never an error.
//
//   {cuda: true, sm: ">=89", cuda_version: ">=12.4", memory_gb: ">=16", gpus: 1, python: ["torch"],
//    tools: ["nvcc"], engine: "docker|podman", feature: "fp8_cutlass"}
//
// Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "plans/step_runner.h"

namespace assay::plans {

struct RequirementsAnswer {
  bool supported = true;
  std::string summary{};                           // the first things missing; "" if nothing is
  nlohmann::json items = nlohmann::json::array();  // [{requirement, need, have, ok}]
};

// `capabilities`: the engine's description of itself. An unknown requirement is not met.
[[nodiscard]] RequirementsAnswer check_requirements(const nlohmann::json& needs,
                                                    const nlohmann::json& capabilities,
                                                    const StepRunner& runner,
                                                    const std::string& python,
                                                    const std::stop_token& stop);

// {verdict: SUPPORTED | CAPABILITY_UNSUPPORTED, supported, items, summary}
[[nodiscard]] nlohmann::json to_json(const RequirementsAnswer& answer);

// A version as numbers: "12.10" is above "12.9". Nothing if it is none.
[[nodiscard]] std::optional<std::vector<int>> version_numbers(const std::string& text);
// `bound`: ">=12.4", "<13", "==9.0", or a plain number, which means at least.
[[nodiscard]] bool version_meets(const std::string& have, const std::string& bound);

// vLLM's CUTLASS FP8 kernels: SM 90 and newer from CUDA 12.0, SM 89 from CUDA 12.4.
[[nodiscard]] bool has_fp8_cutlass(int sm, const std::vector<int>& cuda);

}  // namespace assay::plans
