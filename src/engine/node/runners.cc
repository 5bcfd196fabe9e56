#include "engine/node/runners.h"

namespace assay::node {
namespace {

// Resident memory by role. NVRTC with heavy headers was measured at 236 MiB; the emulator and the
// referee hold the arena (once shared, once private per kept trial) beside their own.
constexpr std::size_t kCompileResidentBytes = 2ULL << 30;
constexpr std::size_t kKernelResidentBytes = 6ULL << 30;
constexpr std::size_t kRefereeResidentBytes = 8ULL << 30;
// What the zygote had when it forked is counted for the keeper and the init too.
constexpr std::size_t kPythonResidentBytes = 8ULL << 30;
// A print in every call of a turn is a little much and no crime; one without end is.
constexpr std::size_t kPythonOutputBytes = 1ULL << 30;

// Of what Triton and torch build for a GPU.
constexpr std::uint64_t kBuildBytes = 1ULL << 30;
constexpr std::uint64_t kBuildFiles = 65'536;

std::size_t resident_limit(RunnerRole role) {
  switch (role) {
    case RunnerRole::compile:
      return kCompileResidentBytes;
    case RunnerRole::kernel:
    case RunnerRole::gpu_kernel:
    case RunnerRole::devices:
      return kKernelResidentBytes;
    case RunnerRole::python:
      return kPythonResidentBytes;
    case RunnerRole::referee:
    case RunnerRole::gpu_referee:
      return kRefereeResidentBytes;
  }
  return kCompileResidentBytes;
}

}  // namespace

std::vector<std::string> readable_paths(const Toolkit& toolkit) {
  std::vector<std::string> paths;
  for (const auto& folder : toolkit.readable_folders()) paths.push_back(folder.string());
  return paths;
}

Runners::Runners(std::filesystem::path executable, confinement::Layers layers, Toolkit toolkit,
                 std::string profiler)
    : executable_(std::move(executable)),
      layers_(layers),
      toolkit_(std::move(toolkit)),
      profiler_(std::move(profiler)) {}

void Runners::show_to_profiler(RunnerRole role, confinement::SpawnRequest& request) const {
  if (profiler_.empty() || (role != RunnerRole::kernel && role != RunnerRole::gpu_kernel)) return;
  request.environment.emplace_back(kProfilerVariable, profiler_);
  // What it loads in turn lies beside it. The runner says so if it cannot load it.
  const auto folder = std::filesystem::path(profiler_).parent_path();
  std::error_code none;
  if (folder.is_absolute() && folder != folder.root_path() &&
      std::filesystem::is_directory(folder, none)) {
    request.confinement.readable.push_back(folder.string());
  }
}

confinement::SpawnRequest Runners::request(RunnerRole role, confinement::Profile profile) const {
  confinement::SpawnRequest request{.executable = executable_.string(),
                                    .arguments = {std::string("--role=") + name(role)},
                                    .confinement = {.layers = layers_, .profile = profile}};
  confinement::Limits& limits = request.confinement.limits;
  limits.resident_bytes = resident_limit(role);
  limits.data_bytes = limits.resident_bytes;
  // The arena comes as a memfd, whose size RLIMIT_FSIZE bounds too.
  limits.file_bytes = limits.resident_bytes;
  return request;
}

std::unique_ptr<RunnerProcess> Runners::start(RunnerRole role, const Spawner& spawn) const {
  const bool compiles = role == RunnerRole::compile;
  auto wanted = request(role, compiles ? confinement::Profile::compile : confinement::Profile::cpu);
  if (compiles) wanted.confinement.readable = readable_paths(toolkit_);
  show_to_profiler(role, wanted);
  return std::make_unique<RunnerProcess>(
      std::move(wanted), RunnerLimits{.resident_bytes = resident_limit(role)}, spawn);
}

std::unique_ptr<RunnerProcess> Runners::start_python(const std::vector<std::string>& readable,
                                                     const GpuAccess* gpu,
                                                     const Spawner& spawn) const {
  auto wanted = request(RunnerRole::python,
                        gpu != nullptr ? confinement::Profile::gpu : confinement::Profile::cpu);
  wanted.confinement.readable = readable;
  // One core each: times are comparable, and what works beside is seen.
  wanted.environment = {
      {"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"MKL_NUM_THREADS", "1"}};
  if (gpu != nullptr) {
    wanted.confinement.devices = gpu->nodes;
    wanted.confinement.may_start_processes = true;
    wanted.confinement.limits.temporary_bytes = kBuildBytes;
    wanted.confinement.limits.temporary_files = kBuildFiles;
    wanted.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpu->uuid);
    wanted.environment.emplace_back("CUDA_CACHE_DISABLE", "1");
    wanted.environment.emplace_back("CUDA_HOME", "/usr/local/cuda");
  } else {
    wanted.environment.emplace_back("CUDA_VISIBLE_DEVICES", "");
    // Triton's kernels are interpreted where there is no GPU.
    wanted.environment.emplace_back("TRITON_INTERPRET", "1");
  }
  return std::make_unique<RunnerProcess>(
      std::move(wanted),
      RunnerLimits{.resident_bytes = resident_limit(RunnerRole::python),
                   .output_bytes = kPythonOutputBytes},
      spawn);
}

std::unique_ptr<RunnerProcess> Runners::start_host_compiler(std::vector<std::string> folders,
                                                            const std::string& own,
                                                            const Spawner& spawn) const {
  auto wanted = request(RunnerRole::python, confinement::Profile::cpu);
  confinement::Confinement& walls = wanted.confinement;
  for (auto& folder : readable_paths(toolkit_)) folders.push_back(std::move(folder));
  walls.readable = std::move(folders);
  if (!own.empty()) walls.writable = {own};
  walls.may_start_processes = true;
  walls.limits.temporary_bytes = kBuildBytes;
  walls.limits.temporary_files = kBuildFiles;
  return std::make_unique<RunnerProcess>(
      std::move(wanted), RunnerLimits{.resident_bytes = resident_limit(RunnerRole::python)}, spawn);
}

std::unique_ptr<RunnerProcess> Runners::start_on_gpu(RunnerRole role, const GpuAccess& gpu) const {
  auto wanted = request(role, confinement::Profile::gpu);
  wanted.confinement.devices = gpu.nodes;
  // A referee compiles its own kernels, a kernel runner may be asked for counters.
  if (role != RunnerRole::devices) wanted.confinement.readable = readable_paths(toolkit_);
  // Of a module what is launched (torch's hold thousands of kernels; every turn has runs that do
  // not count), and nothing is written to a cache of the user's.
  wanted.environment = {{"CUDA_MODULE_LOADING", "LAZY"}, {"CUDA_CACHE_DISABLE", "1"}};
  if (!gpu.uuid.empty()) wanted.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpu.uuid);
  show_to_profiler(role, wanted);
  return std::make_unique<RunnerProcess>(std::move(wanted),
                                         RunnerLimits{.resident_bytes = resident_limit(role)});
}

}  // namespace assay::node
