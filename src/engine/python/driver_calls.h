// Calls of the CUDA driver as CUPTI shows them, and what of CUPTI shows them: parameters in the
// driver's order, layouts of CUDA 12 and 13. Declared here, so that no CUDA header is needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::python::driver {

using Handle = void*;
using Address = std::uint64_t;

// CUpti_CallbackData
struct Call {
  int site = 0;  // kEnter or kExit
  const char* function = nullptr;
  const void* parameters = nullptr;
  const int* result = nullptr;
  const char* symbol = nullptr;  // of a launch
};
inline constexpr int kEnter = 0;
inline constexpr int kExit = 1;

// CUpti_ResourceData, and CUpti_ModuleResourceData of a module that was loaded
struct Resource {
  Handle context = nullptr;
  Handle stream = nullptr;
  const void* descriptor = nullptr;
};
struct LoadedModule {
  std::uint32_t id = 0;
  std::size_t bytes = 0;
  const char* cubin = nullptr;
};

// CUpti_CallbackDomain and CUpti_CallbackIdResource
inline constexpr int kDriverDomain = 1;
inline constexpr int kResourceDomain = 3;
inline constexpr std::uint32_t kModuleLoaded = 6;
// CUpti_driver_api_trace_cbid
inline constexpr std::array<std::uint32_t, 3> kModuleLoads{19, 20, 21};

struct ModuleLoad {
  Handle* module = nullptr;
  const void* image = nullptr;
};
struct Launch {
  Handle function = nullptr;
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;  // not of a cooperative launch
};
struct Attribute {
  int id = 0;
  int padding = 0;
  std::array<int, 16> value{};
};
struct LaunchConfig {
  std::array<unsigned, 3> grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  const Attribute* attributes = nullptr;
  unsigned attribute_count = 0;
};
struct LaunchEx {
  const LaunchConfig* config = nullptr;
  Handle function = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};
struct Copy {
  Address to = 0;
  Address from = 0;
  std::size_t bytes = 0;
  Handle stream = nullptr;
};
template <typename Value>
struct Fill {
  Address to = 0;
  Value value{};
  std::size_t count = 0;
  Handle stream = nullptr;
};

}  // namespace assay::python::driver
