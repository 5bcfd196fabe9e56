#include "engine/node/runners.h"

namespace assay::node {
namespace {

// Resident memory by role. NVRTC with heavy headers was measured at 236 MiB; the emulator and the
// referee hold the arena (once shared, once private per kept trial) beside their own.
constexpr std::size_t kCompileResidentBytes = 2ULL << 30;
constexpr std::size_t kKernelResidentBytes = 6ULL << 30;
constexpr std::size_t kRefereeResidentBytes = 8ULL << 30;

std::size_t resident_limit(RunnerRole role) {
  switch (role) {
    case RunnerRole::compile:
      return kCompileResidentBytes;
    case RunnerRole::kernel:
      return kKernelResidentBytes;
    case RunnerRole::referee:
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

Runners::Runners(std::filesystem::path executable, confinement::Layers layers, Toolkit toolkit)
    : executable_(std::move(executable)), layers_(layers), toolkit_(std::move(toolkit)) {}

std::unique_ptr<RunnerProcess> Runners::start(RunnerRole role, const Spawner& spawn) const {
  confinement::SpawnRequest request{
      .executable = executable_.string(),
      .arguments = {std::string("--role=") + name(role)},
      .confinement = {.layers = layers_,
                      .profile = role == RunnerRole::compile ? confinement::Profile::compile
                                                             : confinement::Profile::cpu}};
  if (role == RunnerRole::compile) request.confinement.readable = readable_paths(toolkit_);
  const RunnerLimits limits{.resident_bytes = resident_limit(role)};
  request.confinement.limits.resident_bytes = limits.resident_bytes;
  request.confinement.limits.data_bytes = limits.resident_bytes;
  // The arena comes as a memfd, whose size RLIMIT_FSIZE bounds too.
  request.confinement.limits.file_bytes = limits.resident_bytes;
  return std::make_unique<RunnerProcess>(std::move(request), limits, spawn);
}

}  // namespace assay::node
