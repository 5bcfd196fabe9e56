// How a scenario is carried out: by docker or podman, by the devcontainer command, or on the host
// in a clean folder. Each gives the commands of the phases; the job runs them. Values; any thread.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::scenarios {

struct Phase {
  std::string name{};  // "remove images", "build", "start", "post-create", "verify"
  std::vector<std::string> argv{};
  std::filesystem::path cwd{};
  std::map<std::string, std::string> environment{};
  bool may_fail = false;  // an image that is not there need not be removed
  bool stays = false;     // what it starts in the background lives until the scenario ends
  int timeout_s = 3'600;
};

using Phases = std::vector<Phase>;

// `workspace`: the scenario's own copy. `request`: the order's. `label`: what all that is built and
// run is to carry (plans/owned_containers.h), whose owner takes it down. `trace`: the folder of
// command_trace.h.
[[nodiscard]] Phases carry_in_container(const nlohmann::json& request, const std::string& engine,
                                        const std::filesystem::path& workspace,
                                        const std::filesystem::path& trace,
                                        const std::string& label, const std::string& id);
// `engine`: docker or podman, which the devcontainer command is to use.
[[nodiscard]] Phases carry_in_devcontainer(const nlohmann::json& request, const std::string& engine,
                                           const std::filesystem::path& workspace,
                                           const std::string& label);
[[nodiscard]] Phases carry_on_host(const nlohmann::json& request,
                                   const std::filesystem::path& workspace,
                                   const std::filesystem::path& trace,
                                   const std::filesystem::path& home);

// devcontainer.json without what would take a shortcut: no image, no cacheFrom; the scenario's own
// Dockerfile and post-create command.
[[nodiscard]] nlohmann::json edited_devcontainer(nlohmann::json document,
                                                 const nlohmann::json& request);

// Where a file of the user's workspace is in the copy.
[[nodiscard]] std::filesystem::path in_copy(const nlohmann::json& request, const std::string& file,
                                            const std::filesystem::path& workspace);

}  // namespace assay::scenarios
