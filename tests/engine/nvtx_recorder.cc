// What a profiler would put in NVTX_INJECTION64_PATH: it writes the ranges it sees, a line each, to
// the file that ASSAY_NVTX_RECORD names, if it is set.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

// Of the protocol's C ABI what is needed, as a profiler's author reads it in nvtxTypes.h.
using FunctionPointer = void (*)();
struct Callbacks {
  std::size_t struct_size;
  int (*get_module_function_table)(int module, FunctionPointer*** table, unsigned* size);
};
constexpr std::uint32_t kCallbacks = 1;
constexpr int kCore = 1;
constexpr unsigned kRangePushA = 9;
constexpr unsigned kRangePop = 11;

void write(const char* what, const char* name) {
  const char* path = std::getenv("ASSAY_NVTX_RECORD");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "a");
  if (file == nullptr) return;
  std::fprintf(file, "%s%s\n", what, name);
  std::fclose(file);
}

int push(const char* name) {
  write("push ", name);
  return 0;
}

int pop() {
  write("pop", "");
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    const void* (*export_table)(std::uint32_t id)) {
  const auto* callbacks = static_cast<const Callbacks*>(export_table(kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(Callbacks)) return 0;
  FunctionPointer** table = nullptr;
  unsigned size = 0;
  if (callbacks->get_module_function_table(kCore, &table, &size) == 0) return 0;
  if (size <= kRangePop) return 0;
  *table[kRangePushA] = reinterpret_cast<FunctionPointer>(push);
  *table[kRangePop] = reinterpret_cast<FunctionPointer>(pop);
  return 1;
}
