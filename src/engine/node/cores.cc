#include "engine/node/cores.h"

#include <algorithm>
#include <thread>

namespace assay::node {
namespace {

constexpr unsigned kLeftPerGpu = 2;
// Each is a thread, of which a runner has a limited number (Limits::tasks).
constexpr unsigned kMostEmulatorCores = 256;

}  // namespace

unsigned cores_here() { return std::max(1U, std::thread::hardware_concurrency()); }

unsigned emulator_cores(unsigned cores, std::size_t gpus) {
  const auto wished = kLeftPerGpu * static_cast<unsigned>(std::min<std::size_t>(gpus, cores));
  const unsigned left = std::min(wished, cores / 2);
  return std::clamp(cores - left, 1U, kMostEmulatorCores);
}

}  // namespace assay::node
