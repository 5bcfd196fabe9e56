#include "engine/runner/cuda_driver.h"

#include <dlfcn.h>

namespace assay::runner::cuda {
namespace {

// The loader's cache first; then where drivers are put without telling it (containers, WSL).
constexpr const char* kLibraries[] = {"libcuda.so.1",
                                      "/usr/local/nvidia/lib64/libcuda.so.1",
                                      "/usr/local/nvidia/lib/libcuda.so.1",
                                      "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                      "/usr/lib64/libcuda.so.1",
                                      "/usr/lib/wsl/lib/libcuda.so.1"};

void* open_library() {
  for (const char* path : kLibraries) {
    if (void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw std::runtime_error("libcuda.so.1 was not found: there is no NVIDIA driver here");
}

}  // namespace

Driver::Driver() {
  void* library = open_library();
#define ASSAY_RESOLVE(name, symbol, type)                                                      \
  this->name = reinterpret_cast<type>(::dlsym(library, symbol));                               \
  if (this->name == nullptr) {                                                                 \
    throw std::runtime_error("the NVIDIA driver is too old: it lacks " + std::string(symbol)); \
  }
  ASSAY_CUDA_FUNCTIONS(ASSAY_RESOLVE)
#undef ASSAY_RESOLVE
#define ASSAY_LOOK_FOR(name, symbol, type) \
  this->name = reinterpret_cast<type>(::dlsym(library, symbol));
  ASSAY_CUDA_LATER_FUNCTIONS(ASSAY_LOOK_FOR)
#undef ASSAY_LOOK_FOR
}

std::string Driver::text(int result) const {
  const char* label = nullptr;
  const char* words = nullptr;
  GetErrorName(result, &label);
  GetErrorString(result, &words);
  std::string out = label != nullptr ? label : "CUDA error " + std::to_string(result);
  if (words != nullptr) out += std::string(": ") + words;
  return out;
}

void Driver::check(int result, const char* what) const {
  if (result != kSuccess) throw DriverError(result, std::string(what) + ": " + text(result));
}

}  // namespace assay::runner::cuda
