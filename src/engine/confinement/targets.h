// What a probe is told to attack, and what it answers: the two halves of the self-test, as JSON
// over the channel, ended by closing the writing side. Values; any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/confinement/isolation.h"

namespace assay::confinement {

struct Targets {
  pid_t supervisor = 0;
  // A file that only the engine's user may read, and the folder it lies in.
  std::string secret{};
  std::string folder{};
  std::uint16_t tcp_port = 0;
  std::uint16_t udp_port = 0;
  std::string path_socket{};
  std::string abstract_socket{};
  // Where the probe tries to put a socket that others would trust.
  std::string planted_socket{};
  int shared_memory_id = -1;  // -1: there is none to be had, and nothing to attack
  // Names of the variables that the worker's environment is to have.
  std::vector<std::string> environment{};
  Limits limits{};
};

[[nodiscard]] nlohmann::json to_json(const Targets& targets);
[[nodiscard]] Targets targets_from_json(const nlohmann::json& from);

// The attacks, and what the probe read about itself.
struct Findings {
  std::vector<Attack> attacks{};
  nlohmann::json self = nlohmann::json::object();
  std::string fault{};  // of ours, that kept it from trying; "" if it tried
};

[[nodiscard]] nlohmann::json to_json(const Findings& findings);
[[nodiscard]] Findings findings_from_json(const nlohmann::json& from);

}  // namespace assay::confinement
