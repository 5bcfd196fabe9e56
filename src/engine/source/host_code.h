// The host half of a CUDA source, for a C++ compiler that knows no CUDA: device code is blanked
// out, a kernel keeps its name, its templates and its parameters and gets a body that launches it,
// and `k<float><<<grid, block>>>(x, n)` becomes
//
//   static_cast<void>(::assay::configure(grid, block), k<float>(x, n))
//
// so that C++ itself deduces the template arguments and converts the arguments, as it does for
// nvcc. Each instance that the compiler makes of such a body registers the kernel by the name that
// NVRTC takes (engine/python/wrapper/launches.h): what macros as AT_DISPATCH instantiate needs no
// reading. A variable of the device that host code names keeps a shadow, whose address stands for
// it. Every line keeps its number.
//
// Reading alone; values own their text. Pure; any thread; no text crashes it; linear.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/source/token.h"

namespace assay::source {

// What the host half does and a compiler without CUDA cannot: "cublasSgemm".
struct Obstacle {
  std::string what{};
  std::size_t line = 1;  // of the text
};

struct HostCode {
  std::string text{};
  std::vector<Obstacle> obstacles{};
  std::size_t kernels = 0;
  std::size_t launches = 0;
  // Of the device, that the host names: "ops::weights", by the number that its shadow registers.
  std::vector<std::string> variables{};
};

[[nodiscard]] HostCode host_code(std::string_view source);

}  // namespace assay::source
