// NVRTC by dlopen: CUDA C++ in, PTX, a cubin and a log out. Loaded in the compile runner only,
// because it may crash or never return on hostile source; the process is then the thing that is
// lost.
//
// The entry points are declared here rather than taken from <nvrtc.h>, so that the project builds
// on a machine without a CUDA toolkit. Their C ABI is stable since CUDA 11.2 (NVRTC documentation,
// §3).
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::runner {

struct CompileRequest {
  std::string source{};
  std::string file_name = "kernel.cu";  // how diagnostics call the source
  std::vector<std::string> options{};
  std::vector<std::string> name_expressions{};
};

struct Compiled {
  bool ok = false;
  std::string result{};  // NVRTC's own word for what happened
  std::string log{};
  std::string ptx{};
  std::string cubin{};  // empty for a virtual architecture
  // Name expression → entry name.
  std::vector<std::pair<std::string, std::string>> lowered{};
};

class Nvrtc {
 public:
  // Throws std::runtime_error naming the file and the loader's reason.
  explicit Nvrtc(const std::string& library_path);
  Nvrtc(const Nvrtc&) = delete;
  Nvrtc& operator=(const Nvrtc&) = delete;

  [[nodiscard]] std::pair<int, int> version() const;
  // The numbers of `--gpu-architecture=sm_N`, ascending; empty if the library cannot say.
  [[nodiscard]] std::vector<int> architectures() const;
  [[nodiscard]] Compiled compile(const CompileRequest& request) const;

 private:
  // X-macro: every NVRTC entry point this program calls; nothing else is reachable.
#define ASSAY_NVRTC_FUNCTIONS(X)                                                            \
  X(nvrtcVersion, int (*)(int*, int*))                                                      \
  X(nvrtcGetErrorString, const char* (*)(int))                                              \
  X(nvrtcCreateProgram,                                                                     \
    int (*)(void**, const char*, const char*, int, const char* const*, const char* const*)) \
  X(nvrtcDestroyProgram, int (*)(void**))                                                   \
  X(nvrtcCompileProgram, int (*)(void*, int, const char* const*))                           \
  X(nvrtcGetPTXSize, int (*)(void*, std::size_t*))                                          \
  X(nvrtcGetPTX, int (*)(void*, char*))                                                     \
  X(nvrtcGetCUBINSize, int (*)(void*, std::size_t*))                                        \
  X(nvrtcGetCUBIN, int (*)(void*, char*))                                                   \
  X(nvrtcGetNumSupportedArchs, int (*)(int*))                                               \
  X(nvrtcGetSupportedArchs, int (*)(int*))                                                  \
  X(nvrtcGetProgramLogSize, int (*)(void*, std::size_t*))                                   \
  X(nvrtcGetProgramLog, int (*)(void*, char*))                                              \
  X(nvrtcAddNameExpression, int (*)(void*, const char*))                                    \
  X(nvrtcGetLoweredName, int (*)(void*, const char*, const char**))
  struct Functions {
#define ASSAY_DECLARE(function, type) std::type_identity_t<type> function = nullptr;
    ASSAY_NVRTC_FUNCTIONS(ASSAY_DECLARE)
#undef ASSAY_DECLARE
  };
  Functions call_{};
};

// A small kernel of our own, for a process to have compiled one.
[[nodiscard]] CompileRequest rehearsal();

// What a compile has freed stays the process's: giving it back and taking it anew are 1,600 page
// faults of every small compile, a seventh of its time. Before the first compile of a process that
// does nothing else; its forks inherit it.
void keep_freed_memory();

}  // namespace assay::runner
