// One source through the compile runner. The result is a program or the reason there is none; every
// way the compiler can end (errors, crash, bomb, hang) is decided here.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <variant>

#include "engine/node/ended.h"
#include "engine/node/kernel_task.h"
#include "engine/node/runners.h"

namespace assay::node {

struct Program {
  std::string ptx{};
  std::string log{};  // warnings
  std::string compiler{};
  std::string entry{};  // of the wanted name expression, if there was one
  double elapsed_ms = 0;
};

// The virtual architecture the emulator's PTX is made for.
inline constexpr const char* kEmulatorArch = "compute_90";

[[nodiscard]] std::variant<Program, Ended> compile(const Runners& runners,
                                                   const KernelSource& source,
                                                   const std::stop_token& stop);

// The first `__global__` of a source by its place in the text, "" if there is none that a scan can
// see.
[[nodiscard]] std::string first_global(std::string_view source);

}  // namespace assay::node
