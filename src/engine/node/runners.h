// Where confined children come from: which executable, at which level, with which limits and
// readable folders per role. Immutable after construction; any thread may call start().
#pragma once

#include <filesystem>
#include <memory>

#include "engine/confinement/isolation.h"
#include "engine/node/runner_process.h"
#include "engine/node/toolkit.h"

namespace assay::node {

// Names the library of a profiler that follows NVTX's protocol: in the server's environment, and in
// that of the runners it is to see.
inline constexpr const char* kProfilerVariable = "NVTX_INJECTION64_PATH";

// What a runner is shown of one GPU.
struct GpuAccess {
  std::vector<std::string> nodes{};
  std::string uuid{};  // the driver is told of this one alone; "" for all
  std::vector<std::pair<std::string, std::string>> environment{};  // beside it
};

class Runners {
 public:
  // `profiler`: a library that kernel runners load to show their timed runs to a profiler (see
  // runner/nvtx.h); "" for none.
  Runners(std::filesystem::path executable, confinement::Layers layers, Toolkit toolkit,
          std::string profiler = {});

  // The same, whose emulated kernels leave cores to measurements on that many GPUs (cores.h).
  [[nodiscard]] Runners leaving_cores_to(std::size_t gpus) const;

  // Throws std::system_error when no process can be made.
  [[nodiscard]] std::unique_ptr<RunnerProcess> start(
      RunnerRole role, const Spawner& spawn = confinement::spawn) const;

  // A Python runner, forked by `spawn` from a zygote of an interpreter that needs these folders.
  // `gpu`: the one it is shown; null for none. On a GPU it may start processes: Triton and torch
  // compile with other programs.
  [[nodiscard]] std::unique_ptr<RunnerProcess> start_python(
      const std::vector<std::string>& readable, const GpuAccess* gpu, const Spawner& spawn) const;

  // A C++ compiler's process, forked likewise. It sees the toolkit and `folders` beside, and may
  // write in `own`, "" for nowhere; it starts the compiler.
  [[nodiscard]] std::unique_ptr<RunnerProcess> start_host_compiler(std::vector<std::string> folders,
                                                                   const std::string& own,
                                                                   const Spawner& spawn) const;

  // Likewise, with the driver's profile and device nodes.
  [[nodiscard]] std::unique_ptr<RunnerProcess> start_on_gpu(RunnerRole role,
                                                            const GpuAccess& gpu) const;

  // compute-sanitizer's process, and that of the launch it looks at, on a GPU; with room for
  // `arena_bytes` of tensors. REQUIRES can_sanitize().
  [[nodiscard]] std::unique_ptr<RunnerProcess> start_sanitizer(const GpuAccess& gpu,
                                                               std::uint64_t arena_bytes) const;
  // It was found, and this machine has the walls between which it may be used.
  [[nodiscard]] bool can_sanitize() const;

  // Its runners see each other's processes, and others, as the engine does.
  [[nodiscard]] bool share_processes() const {
    return !confinement::has_pid_namespace(layers_.level);
  }

  [[nodiscard]] const Toolkit& toolkit() const { return toolkit_; }
  [[nodiscard]] bool are_profiled() const { return !profiler_.empty(); }
  [[nodiscard]] const std::filesystem::path& executable() const { return executable_; }

 private:
  [[nodiscard]] confinement::SpawnRequest request(RunnerRole role,
                                                  confinement::Profile profile) const;
  void show_to_profiler(RunnerRole role, confinement::SpawnRequest& request) const;

  std::filesystem::path executable_;
  confinement::Layers layers_;
  Toolkit toolkit_;
  std::string profiler_;
  unsigned emulator_cores_;
};

// Folders that the runners of every role are shown, as the self-test should see them too.
[[nodiscard]] std::vector<std::string> readable_paths(const Toolkit& toolkit);

}  // namespace assay::node
