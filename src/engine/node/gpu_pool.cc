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

bool empty(RunnerProcess& process, bool is_referee) {
  frames::Frame request;
  request.body = {{"type", is_referee ? "close" : "reset"}};
  const auto reply = process.ask(std::move(request), Clock::now() + kEmptyingLimit, {});
  const auto* frame = std::get_if<frames::Frame>(&reply);
  return frame != nullptr && frame->type() == (is_referee ? "closed" : "reset");
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

bool GpuPool::being_emptied(bool referee) const {
  const auto is_such = [&](const Returned& one) { return one.is_referee == referee; };
  return (in_hand_ != nullptr && is_such(*in_hand_)) ||
         std::any_of(returned_.begin(), returned_.end(), is_such);
}

void GpuPool::wait_for_returned(std::unique_lock<std::mutex>& lock, bool referee) {
  changed_.wait_for(lock, kWorthWaiting, [&] { return !being_emptied(referee); });
}

GpuPool::Runner GpuPool::take(const std::string& client) {
  {
    std::unique_lock lock(mutex_);
    last_use_ = Clock::now();
    if (!client.empty()) wait_for_returned(lock, false);
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

void GpuPool::give_back(Process runner, const std::string& client) {
  const std::lock_guard lock(mutex_);
  returned_.push_back({.process = std::move(runner), .client = client});
  changed_.notify_all();
}

GpuPool::Referee GpuPool::take_referee() {
  {
    std::unique_lock lock(mutex_);
    wait_for_returned(lock, true);
    if (!referees_.empty()) {
      Process referee = std::move(referees_.back());
      referees_.pop_back();
      return {.process = std::move(referee)};
    }
  }
  return {.process = start(RunnerRole::gpu_referee), .nvrtc = runners_.toolkit().nvrtc.string()};
}

void GpuPool::give_back_referee(Process referee) {
  const std::lock_guard lock(mutex_);
  returned_.push_back({.process = std::move(referee), .is_referee = true});
  changed_.notify_all();
}

void GpuPool::retire(std::vector<Process> used) {
  const std::lock_guard lock(mutex_);
  for (auto& runner : used) retired_.push_back(std::move(runner));
  wanted_ = kSpares;
  last_use_ = Clock::now();
  changed_.notify_all();
}

void GpuPool::clean(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !returned_.empty(); })) {
    Returned one = std::move(returned_.front());
    returned_.erase(returned_.begin());
    in_hand_ = &one;
    lock.unlock();
    const bool emptied = empty(*one.process, one.is_referee);
    lock.lock();
    in_hand_ = nullptr;
    const bool room = one.is_referee ? referees_.size() < kReferees : kept_.size() < kKept;
    if (!emptied || !room) {
      retired_.push_back(std::move(one.process));
    } else if (one.is_referee) {
      referees_.push_back(std::move(one.process));
    } else {
      kept_.push_back({.process = std::move(one.process), .client = std::move(one.client)});
    }
    changed_.notify_all();
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
