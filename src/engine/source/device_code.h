// The device half of whatever people paste: a .cu file with its host code, torch bindings and
// main(), or a Python file whose strings hold CUDA. What is dropped is blanked out, so that every
// line of what stays keeps its number and the compiler's messages point at the user's own file.
//
// Reading alone: no compiler is asked. Dropped are includes that a run-time compiler has no headers
// for, functions and variables that only a host can have, and bindings; kept is everything with a
// device attribute, types, constants, macros and helpers that say nothing of the host.
//
// Values own their text. Pure; any thread; no text crashes it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/source/instances.h"

namespace assay::source {

struct Dropped {
  std::string what{};  // "#include <vector>", "function main", "Python"
  std::size_t line = 1;
};

struct DeviceCode {
  std::string text{};  // a compiler counts its lines as the file's
  std::vector<Dropped> dropped{};
  std::vector<std::string> doubts{};  // "line 12: …", of what Python may make otherwise
  // Of template kernels that the host code launches.
  std::vector<LaunchedInstance> instances{};
  // For the compiler, in the place of dropped headers: "-DFLT_MAX=…",
  // "--pre-include=cuda/std/limits".
  std::vector<std::string> options{};
  // What the Python file gives its compiler of device code, as it is: "-O3", "-DN=4".
  std::vector<std::string> flags{};
  bool is_changed = false;
};

// `contract`: of the kernel that is meant, where there is one.
[[nodiscard]] DeviceCode device_code(std::string_view file, const ArgumentTypes& contract = {});

}  // namespace assay::source
