#include "engine/runner/awake.h"

#include <poll.h>

#include <chrono>
#include <thread>

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kAwake{500};
constexpr unsigned kFewCores = 4;

}  // namespace

void stay_awake(const frames::Channel& channel) {
  if (std::thread::hardware_concurrency() < kFewCores) return;
  pollfd entry{channel.descriptor(), POLLIN, 0};
  const auto until = Clock::now() + kAwake;
  while (::poll(&entry, 1, 0) == 0 && Clock::now() < until) continue;
}

}  // namespace assay::runner
