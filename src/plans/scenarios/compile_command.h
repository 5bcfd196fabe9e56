// Whether a command compiles a Python package from its source: editable and local installs, those
// from a version control system, builds of wheels. Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "plans/scenarios/shell_command.h"

namespace assay::scenarios {

struct PackageInstall {
  std::size_t offset = 0;      // in the command, of the program that does it
  bool compiles = false;       // from its source
  bool keeps_wheels = false;   // `pip wheel` of what is to be installed later
  bool takes_a_wheel = false;  // a wheel that lies somewhere, or the target's own from an index
};

// `target`: the package that counts, "" for any. A path that may be anything (`.`, a variable) may
// be the target's. Nothing: it does neither.
[[nodiscard]] std::optional<PackageInstall> package_install(const ShellCommand& command,
                                                            const std::string& target);

// Whether `text` names the package: letter case aside, and `-`, `_` and `.` are one.
[[nodiscard]] bool names_package(const std::string& text, const std::string& package);

}  // namespace assay::scenarios
