#include "engine/node/gpu_pool.h"

#include <system_error>

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;

// A comparison takes two, the next job one more.
constexpr std::size_t kSpares = 3;
constexpr std::chrono::seconds kIdle{120};

}  // namespace

GpuPool::GpuPool(const Runners& runners, Gpu gpu)
    : runners_(runners),
      gpu_(std::move(gpu)),
      last_use_(Clock::now()),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

std::unique_ptr<RunnerProcess> GpuPool::start() const {
  return runners_.start_on_gpu(RunnerRole::gpu_kernel, {.nodes = gpu_.nodes(), .uuid = gpu_.uuid});
}

std::unique_ptr<RunnerProcess> GpuPool::take() {
  {
    const std::lock_guard lock(mutex_);
    last_use_ = Clock::now();
    if (!spares_.empty()) {
      auto runner = std::move(spares_.front());
      spares_.erase(spares_.begin());
      return runner;
    }
  }
  return start();
}

void GpuPool::retire(std::vector<std::unique_ptr<RunnerProcess>> used) {
  const std::lock_guard lock(mutex_);
  for (auto& runner : used) retired_.push_back(std::move(runner));
  wanted_ = kSpares;
  last_use_ = Clock::now();
  changed_.notify_all();
}

void GpuPool::keep_house(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    auto ending = std::move(retired_);
    retired_.clear();
    const bool short_of_spares = spares_.size() < wanted_;
    lock.unlock();
    // Both may take long, and neither needs what the lock protects.
    auto fresh = short_of_spares ? try_start() : nullptr;
    ending.clear();
    lock.lock();
    if (fresh) spares_.push_back(std::move(fresh));
    if (!retired_.empty() || spares_.size() < wanted_) continue;
    changed_.wait_for(lock, stop, kIdle / 4,
                      [&] { return !retired_.empty() || spares_.size() < wanted_; });
    if (Clock::now() - last_use_ >= kIdle) {
      wanted_ = 0;
      for (auto& spare : spares_) retired_.push_back(std::move(spare));
      spares_.clear();
    }
  }
}

std::unique_ptr<RunnerProcess> GpuPool::try_start() {
  try {
    return start();
  } catch (const std::system_error&) {
    // No process can be made now: the next job will try, and say so if it cannot either.
    const std::lock_guard lock(mutex_);
    wanted_ = 0;
    return nullptr;
  }
}

}  // namespace assay::node
