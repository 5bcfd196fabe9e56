#include "engine/node/runners.h"

#include "engine/node/cores.h"

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
// compute-sanitizer itself, and a context with its tables.
constexpr std::size_t kSanitizerResidentBytes = 8ULL << 30;
constexpr std::uint64_t kSanitizerFileBytes = 256ULL << 20;

// A context makes a queue of the hardware for each connection, eight if nobody says how many, under
// a lock of the driver's. What our runners launch goes one after the other and needs one: a context
// takes 60 ms instead of 120, and 15 a second can be had instead of 6 (H200, driver of CUDA 13.0).
// A Python source may have streams that work side by side: its process keeps all.
constexpr const char* kOneConnection = "1";
constexpr const char* kConnectionsVariable = "CUDA_DEVICE_MAX_CONNECTIONS";

// A hundred runs of a small kernel take seven milliseconds.
constexpr std::chrono::microseconds kAwake{8'000};

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
    case RunnerRole::sanitizer:
      return kSanitizerResidentBytes;
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
      profiler_(std::move(profiler)),
      emulator_cores_(emulator_cores(cores_here(), 0)) {}

Runners Runners::leaving_cores_to(std::size_t gpus) const {
  Runners same = *this;
  same.emulator_cores_ = emulator_cores(cores_here(), gpus);
  return same;
}

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
  if (role == RunnerRole::kernel) {
    wanted.arguments.push_back("--cores=" + std::to_string(emulator_cores_));
    // The clock of a kernel that works on all of them runs as many times as fast.
    wanted.confinement.limits.cpu_seconds *= emulator_cores_;
  }
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

bool Runners::can_sanitize() const {
  return !toolkit_.sanitizer.empty() && confinement::has_pid_namespace(layers_.level);
}

std::unique_ptr<RunnerProcess> Runners::start_sanitizer(const GpuAccess& gpu,
                                                        std::uint64_t arena_bytes) const {
  auto wanted = request(RunnerRole::sanitizer, confinement::Profile::gpu);
  confinement::Confinement& walls = wanted.confinement;
  walls.may_start_processes = true;
  walls.is_company = true;
  walls.devices = gpu.nodes;
  // It starts this executable to look at, and loads libraries of its own into it.
  walls.readable = {toolkit_.sanitizer.parent_path().string(), executable_.string()};
  walls.limits.temporary_bytes = arena_bytes + kSanitizerFileBytes;
  wanted.environment = {{"CUDA_CACHE_DISABLE", "1"}, {kConnectionsVariable, kOneConnection}};
  if (!gpu.uuid.empty()) wanted.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpu.uuid);
  return std::make_unique<RunnerProcess>(
      std::move(wanted), RunnerLimits{.resident_bytes = resident_limit(RunnerRole::sanitizer)});
}

std::unique_ptr<RunnerProcess> Runners::start_on_gpu(RunnerRole role, const GpuAccess& gpu) const {
  auto wanted = request(role, confinement::Profile::gpu);
  wanted.confinement.devices = gpu.nodes;
  // A referee compiles its own kernels, a kernel runner may be asked for counters.
  if (role != RunnerRole::devices) wanted.confinement.readable = readable_paths(toolkit_);
  // Of a module what is launched (torch's hold thousands of kernels; every turn has runs that do
  // not count), and nothing is written to a cache of the user's.
  wanted.environment = {{"CUDA_MODULE_LOADING", "LAZY"},
                        {"CUDA_CACHE_DISABLE", "1"},
                        {kConnectionsVariable, kOneConnection}};
  for (const auto& variable : gpu.environment) wanted.environment.push_back(variable);
  if (!gpu.uuid.empty()) wanted.environment.emplace_back("CUDA_VISIBLE_DEVICES", gpu.uuid);
  show_to_profiler(role, wanted);
  return std::make_unique<RunnerProcess>(
      std::move(wanted), RunnerLimits{.resident_bytes = resident_limit(role), .awake = kAwake});
}

}  // namespace assay::node
