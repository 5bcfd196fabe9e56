// Where the CUDA compiler is on this machine. Looked up once when the engine starts; a missing part
// is a fact that verdicts name, never an error here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace assay::node {

struct Toolkit {
  std::filesystem::path nvrtc{};                         // libnvrtc.so.N; empty: not found
  std::vector<std::filesystem::path> include_folders{};  // cuda_runtime.h and friends, then cccl
  std::filesystem::path cupti{};         // libcupti.so.N, the hardware counters'; empty: not found
  std::filesystem::path disassembler{};  // nvdisasm or cuobjdump; empty: not found
  std::filesystem::path sanitizer{};     // compute-sanitizer; empty: not found
  std::vector<std::string> searched{};

  [[nodiscard]] bool has_compiler() const { return !nvrtc.empty(); }
  // Folders a compile runner must be able to read, links resolved.
  [[nodiscard]] std::vector<std::filesystem::path> readable_folders() const;
};

// In order: $ASSAY_CUDA_DIR, `cuda` beside the folder of the executable (the build puts it there)
// or `lib/assay/cuda` there (an installation does), $CUDA_HOME, /usr/local/cuda, /usr/local/cuda-*;
// then the `nvidia-cuda-*` wheels: where the command below puts them, and in the active Python
// environments ($VIRTUAL_ENV, $CONDA_PREFIX, those of the `python3` on $PATH, the user's and the
// system's). Each is a folder with lib (or lib64) and include, and perhaps bin.
[[nodiscard]] Toolkit find_toolkit(const std::filesystem::path& executable_folder);

// The one command that makes the compiler available, to be run as the user who runs the server.
inline constexpr const char* kInstallCompiler =
    "python3 -m pip install --target ~/.local/share/assay/cuda nvidia-cuda-nvrtc "
    "nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl  (or install the CUDA toolkit, or point "
    "ASSAY_CUDA_DIR at a folder that has lib/ and include/; then start the server again)";

// Likewise for what reads machine code.
inline constexpr const char* kInstallDisassembler =
    "python3 -m pip install --target ~/.local/share/assay/cuda nvidia-cuda-nvdisasm  (or install "
    "the CUDA toolkit, or name it: --disassembler PATH; then start the server again)";

}  // namespace assay::node
