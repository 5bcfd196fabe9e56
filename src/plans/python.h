// A Python interpreter as it was found: what it really is behind the name, and which folders it
// reads, so that a confined step can be shown them. Values; any thread.
#pragma once

#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "plans/step_runner.h"

namespace assay::plans {

struct Python {
  std::string executable{};
  std::string version{};
  std::vector<std::string> folders{};  // its prefix, its library, its path; those that exist
};

struct NoPython {
  std::string reason{};
};

// What a confined step is shown of a folder that holds a script: its files and folders one by one,
// as the folder itself may be closed to the uid that the step runs under. Bounded.
[[nodiscard]] std::vector<std::string> shown_of(const std::filesystem::path& folder);

// `wanted`: a name or a path; "" for python3. Starts it once, without any code of the user's.
[[nodiscard]] std::variant<Python, NoPython> find_python(const StepRunner& runner,
                                                         const std::string& wanted,
                                                         const std::stop_token& stop);

}  // namespace assay::plans
