// What the process that holds the emulator does for a wrapper on CPU tensors: its launches, and the
// variables of its device, which lie where only kernels reach. What copies to them is therefore a
// kernel, too (engine/node/wrapper_build.cc adds it to the device half).
#pragma once

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "launches.h"
#include "variables.h"

namespace assay {

// What the process does for a wrapper; given once, after loading.
struct Process {
  int module = -1;
  // 0, or `failure` says why not.
  int (*launch)(int module, const char* entry, const std::uint32_t* grid,
                const std::uint32_t* block, std::size_t shared_bytes, int cooperative,
                const void* const* arguments, const std::size_t* sizes,
                std::size_t count) = nullptr;
  const char* (*failure)() = nullptr;
  void (*add)(const void* memory, std::size_t bytes) = nullptr;
  void (*remove)(const void* memory) = nullptr;
};
inline Process& process() {
  static Process one;
  return one;
}

// What any launch may ask for, and by its assembled name (one kernel may be written in several
// ways) what each kernel's may since cudaFuncSetAttribute.
constexpr std::size_t kAnyDynamicSharedBytes = 48U << 10;
inline std::map<std::string, std::size_t>& dynamic_shared_bytes() {
  static std::map<std::string, std::size_t> most;
  return most;
}

inline void start(Entry& entry, const Configuration& configuration, const void* const* arguments,
                  const std::size_t* sizes, std::size_t count) {
  if (configuration.shared_bytes > kAnyDynamicSharedBytes &&
      configuration.shared_bytes > dynamic_shared_bytes()[entry.lowered]) {
    throw std::runtime_error(
        "kernel " + entry.name + " was not launched: it asks for " +
        std::to_string(configuration.shared_bytes) +
        " bytes of dynamic shared memory, which a GPU gives beyond 49152 only after "
        "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)");
  }
  const std::uint32_t grid[] = {configuration.grid.x, configuration.grid.y, configuration.grid.z};
  const std::uint32_t block[] = {configuration.block.x, configuration.block.y,
                                 configuration.block.z};
  Process& host = process();
  const char* name = entry.lowered.c_str();
  if (host.launch == nullptr ||
      host.launch(host.module, name, grid, block, configuration.shared_bytes,
                  configuration.cooperative ? 1 : 0, arguments, sizes, count) != 0) {
    throw std::runtime_error(host.failure != nullptr ? host.failure() : "launched while loading");
  }
}

// Not a kernel of the source's: one that the engine has added.
inline void launch_added(const char* name, const void* const* arguments, const std::size_t* sizes,
                         std::size_t count) {
  constexpr std::uint32_t kOneBlock[] = {1, 1, 1};
  constexpr std::uint32_t kThreads[] = {256, 1, 1};
  const Process& host = process();
  if (host.launch == nullptr ||
      host.launch(host.module, name, kOneBlock, kThreads, 0, 0, arguments, sizes, count) != 0) {
    throw std::runtime_error(host.failure != nullptr ? host.failure() : "copied while loading");
  }
}

// Memory that kernels may touch as long as this lives.
class Staging {
 public:
  explicit Staging(std::size_t bytes) : memory_(static_cast<char*>(std::malloc(bytes + 1))) {
    if (memory_ == nullptr) throw std::bad_alloc();
    process().add(memory_, bytes + 1);
  }
  ~Staging() {
    process().remove(memory_);
    std::free(memory_);
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  char* get() const { return memory_; }

 private:
  char* memory_;
};

inline char* address_of(const Variable& variable) {
  if (process().add == nullptr) throw std::runtime_error("copied while loading");
  const Staging answer(sizeof(char*));
  const char* const place = answer.get();
  const void* const arguments[] = {&place};
  const std::size_t sizes[] = {sizeof(place)};
  const auto name = "assay_address_" + std::to_string(variable.number);
  launch_added(name.c_str(), arguments, sizes, 1);
  char* address = nullptr;
  std::memcpy(&address, answer.get(), sizeof(address));
  return address;
}

inline cudaError_t copy_variable(Variable& variable, const Copy& copy) {
  if (variable.address == nullptr) variable.address = address_of(variable);
  const Staging between(copy.bytes);
  char* const there = variable.address + copy.offset;
  char* const to = copy.is_to_variable ? there : between.get();
  const char* const from = copy.is_to_variable ? between.get() : there;
  const unsigned long long bytes = copy.bytes;
  const void* const arguments[] = {&to, &from, &bytes};
  const std::size_t sizes[] = {sizeof(to), sizeof(from), sizeof(bytes)};
  if (copy.is_to_variable) std::memcpy(between.get(), copy.memory, copy.bytes);
  launch_added("assay_copy", arguments, sizes, 3);
  if (!copy.is_to_variable) std::memcpy(copy.memory, between.get(), copy.bytes);
  return cudaSuccess;
}

}  // namespace assay
