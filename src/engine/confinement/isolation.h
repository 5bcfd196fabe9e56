// What confinement this machine gives, as seen by attacking it: the runner is started in its role
// "probe" at a level and tries what a hostile kernel would try. A level is reported only if every
// attack that it is to stop was stopped. Called at start-up by one thread; takes some tens of
// milliseconds.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/confinement/confinement.h"

namespace assay::confinement {

// To be called once, early in main() of the server and of the engine: no core dumps, and no reading
// of its memory, environment or descriptors through /proc by a process of the same user.
void harden_supervisor();

struct Attack {
  std::string name{};
  // The attack got through.
  bool open = false;
  // That it does is known of this level and said in `not_in_force`.
  bool expected_open = false;
  // Why it failed, 0 if it did not.
  int error = 0;
};

struct Isolation {
  struct Missing {
    std::string what{};
    std::string why{};
    std::string effect{};
  };

  // What children are to be given: Confinement::layers.
  Layers layers{};
  Profile profile = Profile::compile;
  // Also `layers.level`, unless an attack got through that the level is to stop.
  Level level = Level::L0;
  // The operator's minimum; a child below it must be refused.
  Level required = Level::L1;
  nlohmann::json in_force = nlohmann::json::object();
  std::vector<Missing> not_in_force{};
  std::vector<Attack> attacks{};
  std::vector<std::string> not_covered{};
  std::string outer = "unknown";
  // SHA-256 of the system call filter in force, in hexadecimal.
  std::string profile_sha256{};
  std::string tested_at{};
  // Not empty: not even a child of `layers` could be started, and why.
  std::string failure{};

  [[nodiscard]] bool sufficient() const { return failure.empty() && level >= required; }
};

// "isolation" of every report and of check_capabilities.
[[nodiscard]] nlohmann::json to_json(const Isolation& isolation);

struct SelfTest {
  // The runner, whose role "probe" calls run_probe().
  std::string runner{};
  Level required = Level::L1;
  Profile profile = Profile::compile;
  bool may_start_processes = false;
  bool is_company = false;
  // Readable paths and device nodes of the children to come, so that the probe sees what they will
  // see.
  std::vector<std::string> readable{};
  std::vector<std::string> devices{};
  // The folder in which the canaries are put; it must be writable and should be where the engine
  // keeps its state.
  std::string canary_folder = "/tmp";
};

// Attacks from within `layers`.
[[nodiscard]] Isolation self_test(const SelfTest& test, const Layers& layers);
// The strongest layers of this machine that pass: tries L2, L1n, L1u, L1 (L2 and L1n with and
// without a user namespace and, for a root engine, under a separate uid).
[[nodiscard]] Isolation best_available(const SelfTest& test);

}  // namespace assay::confinement
