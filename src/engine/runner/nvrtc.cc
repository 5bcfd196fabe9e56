#include "engine/runner/nvrtc.h"

#include <dlfcn.h>
#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "engine/runner/device_math.h"

namespace assay::runner {
namespace {

constexpr int kSuccess = 0;

// libnvrtc opens its builtins by bare name and has no RUNPATH: a private folder works only if they
// are in the process already. What cannot be opened (they need libstdc++, which libnvrtc does not)
// would else be told as an error of every kernel.
void preload_builtins(const std::filesystem::path& folder) {
  std::error_code ignored;
  std::string refusal;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind("libnvrtc-builtins.so", 0) != 0) continue;
    if (::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
    refusal = ::dlerror();
  }
  if (!refusal.empty()) throw std::runtime_error(refusal);
}

std::vector<const char*> c_strings(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const auto& text : texts) pointers.push_back(text.c_str());
  return pointers;
}

}  // namespace

Nvrtc::Nvrtc(const std::string& library_path) {
  preload_builtins(std::filesystem::path(library_path).parent_path());
  void* library = ::dlopen(library_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
#define ASSAY_RESOLVE(function, type)                                          \
  call_.function = reinterpret_cast<type>(::dlsym(library, #function));        \
  if (call_.function == nullptr) {                                             \
    throw std::runtime_error(library_path + " lacks the function " #function); \
  }
  ASSAY_NVRTC_FUNCTIONS(ASSAY_RESOLVE)
#undef ASSAY_RESOLVE
}

std::pair<int, int> Nvrtc::version() const {
  int major = 0;
  int minor = 0;
  call_.nvrtcVersion(&major, &minor);
  return {major, minor};
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  if (call_.nvrtcGetNumSupportedArchs(&count) != kSuccess || count <= 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (call_.nvrtcGetSupportedArchs(numbers.data()) != kSuccess) return {};
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Compiled Nvrtc::compile(const CompileRequest& request) const {
  Compiled out;
  void* raw = nullptr;
  const int created = call_.nvrtcCreateProgram(
      &raw, request.source.c_str(), request.file_name.c_str(), 1, &kDeviceMath, &kDeviceMathName);
  if (created != kSuccess) {
    out.result = call_.nvrtcGetErrorString(created);
    return out;
  }
  const auto destroy = [this](void* program) { call_.nvrtcDestroyProgram(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(raw, destroy);

  for (const auto& expression : request.name_expressions) {
    call_.nvrtcAddNameExpression(program.get(), expression.c_str());
  }
  const auto options = c_strings(request.options);
  const int compiled =
      call_.nvrtcCompileProgram(program.get(), static_cast<int>(options.size()), options.data());
  out.ok = compiled == kSuccess;
  out.result = call_.nvrtcGetErrorString(compiled);

  std::size_t bytes = 0;
  if (call_.nvrtcGetProgramLogSize(program.get(), &bytes) == kSuccess && bytes > 1) {
    out.log.resize(bytes);
    call_.nvrtcGetProgramLog(program.get(), out.log.data());
    // NVRTC counts the terminator, and another where the assembler has spoken.
    while (out.log.ends_with('\0')) out.log.pop_back();
  }
  if (!out.ok) return out;
  if (call_.nvrtcGetPTXSize(program.get(), &bytes) == kSuccess && bytes > 1) {
    out.ptx.resize(bytes);
    call_.nvrtcGetPTX(program.get(), out.ptx.data());
    out.ptx.resize(bytes - 1);
  }
  if (call_.nvrtcGetCUBINSize(program.get(), &bytes) == kSuccess && bytes > 0) {
    out.cubin.resize(bytes);
    call_.nvrtcGetCUBIN(program.get(), out.cubin.data());
  }
  for (const auto& expression : request.name_expressions) {
    const char* lowered = nullptr;
    if (call_.nvrtcGetLoweredName(program.get(), expression.c_str(), &lowered) == kSuccess) {
      out.lowered.emplace_back(expression, lowered);
    }
  }
  return out;
}

void keep_freed_memory() {
  constexpr int kMost = 1 << 30;
  constexpr int kMostOfHeap = 32 << 20;  // glibc takes no more
  constexpr int kAtOnce = 8 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kMost);
  ::mallopt(M_MMAP_THRESHOLD, kMostOfHeap);
  ::mallopt(M_TOP_PAD, kAtOnce);
}

CompileRequest rehearsal() {
  return {.source = "__global__ void warm(float* p) { p[threadIdx.x] *= 2.0f; }\n",
          .file_name = "warm.cu",
          .options = {"--gpu-architecture=sm_90", "-lineinfo", "-Xptxas=-v", "--std=c++17"}};
}

}  // namespace assay::runner
