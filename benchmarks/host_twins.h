// The work of the emulator's benchmark kernels done by the host's own code: the same blocks and
// threads as loops, compiled for this processor with everything the compiler can do. What an
// emulator gives up against compiling the kernel for the host.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::emulator {

struct HostTwin {
  const char* kernel = "";
  void (*run)(const std::vector<std::vector<float>>& in, std::vector<float>& out,
              std::uint32_t n) = nullptr;
};

// nullptr: none of this name.
[[nodiscard]] const HostTwin* host_twin(const char* kernel);

}  // namespace assay::emulator
