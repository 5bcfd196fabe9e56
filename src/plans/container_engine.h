// docker and podman by their command lines: which of them is there, and whether it can really run
// something. The two are told apart, as a client without a server is the usual case. Values; any
// thread.
#pragma once

#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "plans/step_runner.h"

namespace assay::plans {

struct ContainerEngine {
  std::string name{};  // "docker", "podman"
  bool cli_present = false;
  bool usable = false;  // its server answers; podman needs none
  std::string version{};
  std::string reason{};  // why not usable
};

[[nodiscard]] ContainerEngine look_at_engine(const StepRunner& runner, const std::string& name,
                                             const std::stop_token& stop);
[[nodiscard]] nlohmann::json to_json(const ContainerEngine& engine);

// The path of a program, or "": as the shell would find it.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace assay::plans
