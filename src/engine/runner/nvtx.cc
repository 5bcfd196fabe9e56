#include "engine/runner/nvtx.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace assay::runner::nvtx {
namespace {

// NVTX version 3: the numbers of its tables, modules and functions are part of its ABI.
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kCallbacksTable = 1;
constexpr std::uint32_t kVersionTable = 3;
constexpr int kCoreModule = 1;
constexpr int kDomainModule = 5;
constexpr std::size_t kRangePush = 9;
constexpr std::size_t kRangePop = 11;
constexpr std::size_t kFunctions = 16;  // of either module, the unused number 0 among them

using Function = void (*)();
using Push = int (*)(const char* message);
using Pop = int (*)();

// A profiler is handed the addresses of these slots; what it leaves empty is not called.
struct Module {
  std::array<Function, kFunctions> functions{};
  std::array<Function*, kFunctions + 1> slots{};  // null ends it

  Module() {
    for (std::size_t i = 0; i < kFunctions; ++i) slots[i] = &functions[i];
  }
};

struct Tables {
  Module core{};
  Module domain{};
  bool loaded = false;
  std::string failure{};
};

Tables& tables() {
  static Tables tables;
  return tables;
}

int function_table(int module, Function*** table, unsigned* size) {
  if (module != kCoreModule && module != kDomainModule) return 0;
  Module& wanted = module == kCoreModule ? tables().core : tables().domain;
  if (table != nullptr) *table = wanted.slots.data();
  if (size != nullptr) *size = kFunctions;
  return 1;
}

struct CallbacksTable {
  std::size_t struct_size = sizeof(CallbacksTable);
  int (*get_function_table)(int module, Function*** table, unsigned* size) = function_table;
};

struct VersionTable {
  std::size_t struct_size = sizeof(VersionTable);
  std::uint32_t version = kVersion;
  std::uint32_t reserved = 0;
  void (*set_injection_version)(std::uint32_t version) = [](std::uint32_t) {};
};

const void* export_table(std::uint32_t id) {
  static const CallbacksTable callbacks;
  static const VersionTable version;
  if (id == kCallbacksTable) return &callbacks;
  if (id == kVersionTable) return &version;
  return nullptr;
}

using Initialize = int (*)(const void* (*export_table)(std::uint32_t id));

std::string load() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return "NVTX_INJECTION64_PATH is not set";
  void* library = ::dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return why != nullptr ? why : path;
  }
  const auto initialize =
      reinterpret_cast<Initialize>(::dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr) return std::string(path) + " has no InitializeInjectionNvtx2";
  if (initialize(export_table) == 0) return std::string(path) + " refused to begin";
  return {};
}

}  // namespace

Range::Range(const std::string& name) {
  if (name.empty()) return;
  Tables& all = tables();
  if (!all.loaded) all.failure = load();
  all.loaded = true;
  failure_ = all.failure;
  const auto push = reinterpret_cast<Push>(all.core.functions[kRangePush]);
  if (push == nullptr) return;
  push(name.c_str());
  open_ = true;
}

Range::~Range() {
  const auto pop = reinterpret_cast<Pop>(tables().core.functions[kRangePop]);
  if (open_ && pop != nullptr) pop();
}

}  // namespace assay::runner::nvtx
