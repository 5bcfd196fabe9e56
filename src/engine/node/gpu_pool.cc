#include "engine/node/gpu_pool.h"

#include <algorithm>
#include <system_error>

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;

// A comparison takes two, the next job one more.
constexpr std::size_t kSpares = 4;
// Served before and kept: jobs at once of few clients.
constexpr std::size_t kKept = 4;
constexpr std::size_t kReferees = 2;
constexpr std::chrono::seconds kIdle{120};
// Emptying takes milliseconds; a process that takes longer is not worth keeping.
constexpr std::chrono::seconds kEmptyingLimit{2};
constexpr std::chrono::milliseconds kWorthWaiting{100};

bool answers(RunnerProcess& process, nlohmann::json request, const char* wanted) {
  frames::Frame frame;
  frame.body = std::move(request);
  const auto reply = process.ask(std::move(frame), Clock::now() + kEmptyingLimit, {});
  const auto* said = std::get_if<frames::Frame>(&reply);
  return said != nullptr && said->type() == wanted;
}

}  // namespace

GpuPool::GpuPool(const Runners& runners, Gpu gpu)
    : runners_(runners),
      gpu_(std::move(gpu)),
      last_use_(Clock::now()),
      cleaner_([this](const std::stop_token& stop) { clean(stop); }),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

GpuPool::Process GpuPool::start(RunnerRole role) const {
  return runners_.start_on_gpu(role, {.nodes = gpu_.nodes(), .uuid = gpu_.uuid});
}

void GpuPool::wait_for_returned(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kWorthWaiting, [&] { return !cleaning_ && returned_.empty(); });
}

GpuPool::Runner GpuPool::take(const std::string& client) {
  {
    std::unique_lock lock(mutex_);
    last_use_ = Clock::now();
    if (!client.empty()) wait_for_returned(lock);
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
      return !client.empty() && one.client == client;
    });
    if (known != kept_.end()) {
      Process runner = std::move(known->process);
      kept_.erase(known);
      return {.process = std::move(runner), .reused = true};
    }
    if (!spares_.empty()) {
      Process runner = std::move(spares_.front());
      spares_.erase(spares_.begin());
      return {.process = std::move(runner)};
    }
  }
  return {.process = start(RunnerRole::gpu_kernel)};
}

GpuPool::Referee GpuPool::take_referee() {
  {
    std::unique_lock lock(mutex_);
    wait_for_returned(lock);
    if (!referees_.empty()) {
      Process referee = std::move(referees_.back());
      referees_.pop_back();
      return {.process = std::move(referee)};
    }
  }
  return {.process = start(RunnerRole::gpu_referee), .nvrtc = runners_.toolkit().nvrtc.string()};
}

void GpuPool::give_back(Used used) {
  const std::lock_guard lock(mutex_);
  // Who used no runner here needs none ahead.
  if (used.clean || !used.ended.empty()) wanted_ = kSpares;
  returned_.push_back(std::move(used));
  last_use_ = Clock::now();
  changed_.notify_all();
}

void GpuPool::clean(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !returned_.empty(); })) {
    Used used = std::move(returned_.front());
    returned_.erase(returned_.begin());
    cleaning_ = true;
    lock.unlock();
    const bool runner_emptied = used.clean && answers(*used.clean, {{"type", "reset"}}, "reset");
    // Memory that an ended runner was lent may still be written by its kernel.
    const bool let_go_of = runner_emptied && used.ended.empty();
    const bool referee_emptied =
        used.referee && answers(*used.referee, {{"type", "close"}, {"keep", let_go_of}}, "closed");
    lock.lock();
    cleaning_ = false;
    keep(std::move(used), referee_emptied, runner_emptied);
    changed_.notify_all();
  }
}

void GpuPool::keep(Used used, bool referee_emptied, bool runner_emptied) {
  for (auto& process : used.ended) retired_.push_back(std::move(process));
  if (runner_emptied && kept_.size() < kKept) {
    kept_.push_back({.process = std::move(used.clean), .client = std::move(used.client)});
  } else if (used.clean) {
    retired_.push_back(std::move(used.clean));
  }
  if (referee_emptied && referees_.size() < kReferees) {
    referees_.push_back(std::move(used.referee));
  } else if (used.referee) {
    retired_.push_back(std::move(used.referee));
  }
}

void GpuPool::let_go() {
  wanted_ = 0;
  for (auto& spare : spares_) retired_.push_back(std::move(spare));
  for (auto& referee : referees_) retired_.push_back(std::move(referee));
  for (auto& one : kept_) retired_.push_back(std::move(one.process));
  spares_.clear();
  referees_.clear();
  kept_.clear();
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
    if (Clock::now() - last_use_ >= kIdle) let_go();
  }
}

GpuPool::Process GpuPool::try_start() {
  try {
    return start(RunnerRole::gpu_kernel);
  } catch (const std::system_error&) {
    // No process can be made now: the next job will try, and say so if it cannot either.
    const std::lock_guard lock(mutex_);
    wanted_ = 0;
    return nullptr;
  }
}

}  // namespace assay::node
