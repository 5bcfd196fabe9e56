#include "engine/runner/cupti_library.h"

#include <dlfcn.h>

namespace assay::runner::cupti {
namespace {

constexpr int kNoPrivilege = 35;
constexpr int kNoPrivilegeVirtual = 40;

}  // namespace

void* open_library(const std::string& path) {
  if (path.empty()) throw Missing{"CUPTI (libcupti.so) was not found beside the toolkit"};
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Missing{"CUPTI cannot be loaded: " + std::string(::dlerror())};
  return library;
}

Library::Library(const std::string& path) {
  void* library = open_library(path);
// The arguments become names and types, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define ASSAY_RESOLVE(name, symbol, type)                                                        \
  name = reinterpret_cast<int (*)(type*)>(::dlsym(library, symbol));                             \
  if ((name) == nullptr) {                                                                       \
    throw Missing{std::string("this CUPTI is too old for range profiling: it lacks ") + symbol}; \
  }
  ASSAY_CUPTI_FUNCTIONS(ASSAY_RESOLVE)
#undef ASSAY_RESOLVE
  // NOLINTEND(bugprone-macro-parentheses)
  result_text_ =
      reinterpret_cast<int (*)(int, const char**)>(::dlsym(library, "cuptiGetResultString"));
}

void Library::check(int result, const char* doing) const {
  if (result == 0) return;
  if (result == kNoPrivilege || result == kNoPrivilegeVirtual) {
    throw Missing{
        "the driver reserves hardware counters to administrators (ERR_NVGPUCTRPERM); it can be "
        "told otherwise with the module option NVreg_RestrictProfilingToAdminUsers=0"};
  }
  const char* text = nullptr;
  if (result_text_ != nullptr) result_text_(result, &text);
  throw Missing{std::string(doing) + ": " +
                (text != nullptr ? text : "CUPTI error " + std::to_string(result))};
}

const char* Library::chip() const {
  Head head{sizeof(Head)};
  check(initialize(&head), "starting the profiler");
  ChipName chip;
  check(chip_name(&chip), "asking for the chip");
  return chip.name;
}

}  // namespace assay::runner::cupti
