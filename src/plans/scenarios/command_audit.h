// What one command of a script, a RUN line or a devcontainer says of caches, of wheels that were
// made elsewhere, and of the compile. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "plans/scenarios/finding.h"
#include "plans/scenarios/shell_command.h"

namespace assay::scenarios {

void audit_command(const ShellCommand& command, const std::string& file, const Subject& subject,
                   std::vector<Finding>& into);

// "CMAKE_CXX_COMPILER_LAUNCHER=ccache" and the like, wherever variables are set. `kind` and
// `message` of each thing said.
struct Remark {
  const char* kind = "";
  std::string message{};
};
[[nodiscard]] std::vector<Remark> remarks_on_settings(const std::string& text);

// The first of the forbidden images that `text` names; null if none.
[[nodiscard]] const std::string* forbidden_in(const std::string& text, const Subject& subject);

// A volume that is there before the build, by its name or by what it lies over.
[[nodiscard]] bool is_cache_volume(const std::string& mount);

}  // namespace assay::scenarios
