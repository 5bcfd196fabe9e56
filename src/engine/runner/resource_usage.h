// What each kernel of a program needs of the hardware, from the two places that say it: the
// assembler's own words in the log (`-Xptxas=-v`: registers, stack, spills, shared memory,
// barriers), and the sections of the cubin (constant memory). Both were seen to be reliable with
// NVRTC 13.0; spills stand nowhere in the cubin, constant memory of newer targets not in the log.
//
// Pure; the log and the cubin may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace assay::runner {

struct ResourceUsage {
  int registers = 0;  // per thread
  std::uint64_t stack_bytes = 0;
  std::uint64_t spill_store_bytes = 0;
  std::uint64_t spill_load_bytes = 0;
  std::uint64_t static_shared_bytes = 0;
  std::uint64_t constant_bytes = 0;         // bank 0: the driver's part and the parameters
  std::uint64_t module_constant_bytes = 0;  // the program's __constant__ variables
  int barriers = 0;
};

// By entry name. Empty when the log holds no words of the assembler's.
[[nodiscard]] std::map<std::string, ResourceUsage> resource_usage(std::string_view log,
                                                                  std::string_view cubin);

// The log without the assembler's figures.
[[nodiscard]] std::string without_figures(std::string_view log);

}  // namespace assay::runner
