#include "engine/node/gpu_pool.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/node/device_metrics.h"

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;

// A comparison takes two, the next job one more; the job after a failure two that are ready.
constexpr std::size_t kSpares = 4;
constexpr std::size_t kReserve = 2;
// Who counts once counts again, and reading the chip's metrics takes a process half a second.
constexpr std::size_t kCounting = 1;
// Served before and kept, both sides of a comparison: jobs at once of few clients, as many as the
// memory of the device has room for beside what they work on.
constexpr std::uint64_t kBytesPerKept = 8ULL << 30;
constexpr std::uint64_t kLeastKept = 4;
constexpr std::uint64_t kMostKept = 12;
constexpr std::size_t kReferees = 4;
// A referee and a runner are left for longer: a gigabyte, for a first answer without a new context.
constexpr std::size_t kRest = 1;
// Emptying takes milliseconds; a process that takes longer is not worth keeping.
constexpr std::chrono::seconds kEmptyingLimit{2};
// Unless it has not heard yet that it was prepared for a job, which has ended meanwhile.
constexpr std::chrono::seconds kPreparingLimit{10};
constexpr std::size_t kMostUnheard = 16;  // answers that a process may still owe a job
// A new referee takes as long.
constexpr std::chrono::milliseconds kWorthWaiting{300};

// `unheard`: is told what comes before that answer.
bool answers(
    RunnerProcess& process, nlohmann::json request, const char* wanted, std::chrono::seconds limit,
    const std::function<void(frames::Frame&)>& unheard = [](frames::Frame&) {}) {
  frames::Frame frame;
  frame.body = std::move(request);
  const auto until = Clock::now() + limit;
  auto reply = process.ask(std::move(frame), until, {});
  // A job that ended early has not heard all that it had asked.
  for (std::size_t heard = 0; heard < kMostUnheard; ++heard) {
    auto* said = std::get_if<frames::Frame>(&reply);
    if (said == nullptr || said->type() == wanted) return said != nullptr;
    unheard(*said);
    reply = process.await(until, {});
  }
  return false;
}

}  // namespace

GpuPool::GpuPool(const Runners& runners, Gpu gpu, std::chrono::seconds keep_warm)
    : runners_(runners),
      gpu_(std::move(gpu)),
      most_kept_(std::clamp(gpu_.memory_bytes / kBytesPerKept, kLeastKept, kMostKept)),
      keep_warm_(keep_warm),
      idle_(idle(keep_warm)),
      referee_kernels_(std::make_shared<RefereeKernels>(runners.toolkit().nvrtc.string())),
      last_use_(Clock::now()),
      spares_([this](const std::stop_token&) { return start(RunnerRole::gpu_kernel); }, kSpares,
              idle_, kReserve, {.kept = kRest, .until = keep_warm}),
      counting_([this](const std::stop_token&) { return start_counting(); }, kCounting, idle_),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

GpuPool::Process GpuPool::start(RunnerRole role) const {
  return runners_.start_on_gpu(role, {.nodes = gpu_.nodes(), .uuid = gpu_.uuid});
}

GpuPool::Process GpuPool::start_counting() const {
  Process process = start(RunnerRole::gpu_kernel);
  const std::string library = runners_.toolkit().cupti.string();
  if (library.empty()) return process;
  frames::Frame request;
  request.body = {{"type", "ready_counters"}, {"library", library}};
  for (const auto& section : all_sections()) {
    if (auto metrics = counters_of({section}); !metrics.empty()) {
      request.body["groups"][section] = std::move(metrics);
    }
  }
  process->post(std::move(request));
  return process;
}

void GpuPool::wait_for_returned(std::unique_lock<std::mutex>& lock) {
  changed_.wait_for(lock, kWorthWaiting, [&] { return !cleaning_ && returned_.empty(); });
}

bool GpuPool::knows(const std::string& client) const {
  if (client.empty()) return false;
  const std::lock_guard lock(mutex_);
  const auto is_his = [&](const auto& one) { return one.client == client; };
  return cleaning_for_ == client || std::any_of(kept_.begin(), kept_.end(), is_his) ||
         std::any_of(returned_.begin(), returned_.end(),
                     [&](const Used& used) { return !used.clean.empty() && is_his(used); });
}

GpuPool::Runner GpuPool::take(const std::string& client, Side side) {
  {
    std::unique_lock lock(mutex_);
    last_use_ = Clock::now();
    if (!client.empty()) wait_for_returned(lock);
    const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
      return !client.empty() && one.client == client && one.side == side;
    });
    if (known != kept_.end()) {
      Process runner = std::move(known->process);
      kept_.erase(known);
      return {.process = std::move(runner), .reused = true};
    }
  }
  if (auto ready = spares_.take()) return {.process = std::move(ready)};
  return {.process = start(RunnerRole::gpu_kernel)};
}

GpuPool::Process GpuPool::take_counting() {
  if (auto ready = counting_.take()) return ready;
  return take({}, Side::judged).process;
}

GpuPool::Referee GpuPool::take_referee() {
  {
    std::unique_lock lock(mutex_);
    wait_for_returned(lock);
    if (!referees_.empty()) {
      Referee referee = std::move(referees_.back());
      referees_.pop_back();
      return referee;
    }
  }
  return {.process = start(RunnerRole::gpu_referee), .kernels = referee_kernels_};
}

void GpuPool::failed() {
  spares_.open_reserve();
  spares_.want();
}

unsigned GpuPool::discards() const {
  const std::lock_guard lock(mutex_);
  return discards_;
}

void GpuPool::give_up(Used& used) {
  for (Clean& one : used.clean) used.ended.push_back(std::move(one.process));
  for (Process& one : used.untouched) used.ended.push_back(std::move(one));
  used.ended.push_back(std::move(used.referee.process));
  used.clean.clear();
  used.untouched.clear();
}

void GpuPool::discard() {
  const std::lock_guard lock(mutex_);
  ++discards_;
  spares_.let_go();
  counting_.let_go();
  for (Used& used : returned_) {
    give_up(used);
    spares_.retire(std::move(used.ended));
  }
  returned_.clear();
  let_go(0);
  changed_.notify_all();
}

void GpuPool::give_back(Used used) {
  if (used.counted) will_count();
  // Who used no runner here needs none ahead.
  if (!used.clean.empty() || !used.ended.empty()) spares_.want();
  const std::lock_guard lock(mutex_);
  if (used.discards != discards_) give_up(used);
  for (auto& process : std::exchange(used.untouched, {})) spares_.put_back(std::move(process));
  returned_.push_back(std::move(used));
  last_use_ = Clock::now();
  changed_.notify_all();
}

void GpuPool::clean_one(std::unique_lock<std::mutex>& lock) {
  Used used = std::move(returned_.front());
  returned_.erase(returned_.begin());
  cleaning_ = true;
  cleaning_for_ = used.clean.empty() ? std::string() : used.client;
  const unsigned discards = discards_;
  lock.unlock();
  const bool none_ended = used.ended.empty();
  // A kernel that never ends slows down all that is to come.
  if (used.hung) used.ended.clear();
  spares_.retire(std::exchange(used.ended, {}));
  for (Clean& one : used.clean) {
    if (!answers(*one.process, {{"type", "reset"}}, "reset", kEmptyingLimit)) {
      used.ended.push_back(std::move(one.process));
    }
  }
  std::erase_if(used.clean, [](const Clean& one) { return !one.process; });
  const bool none_ran = used.clean.empty() && none_ended;
  // Memory that an ended runner was lent may still be written by its kernel.
  const bool let_go_of = !used.clean.empty() && used.ended.empty() && none_ended;
  const bool referee_emptied =
      used.referee.process &&
      answers(*used.referee.process, {{"type", "close"}, {"keep", let_go_of}}, "closed",
              none_ran ? kPreparingLimit : kEmptyingLimit,
              [&](frames::Frame& said) { hear(used.referee.kernels, said); });
  lock.lock();
  cleaning_ = false;
  cleaning_for_.clear();
  keep(std::move(used), referee_emptied);
  if (discards_ != discards) let_go(0);
  changed_.notify_all();
}

void GpuPool::keep(Used used, bool referee_emptied) {
  for (Clean& one : used.clean) {
    kept_.push_back({.process = std::move(one.process), .client = used.client, .side = one.side});
  }
  while (kept_.size() > most_kept_) {
    used.ended.push_back(std::move(kept_.front().process));
    kept_.erase(kept_.begin());
  }
  if (referee_emptied && referees_.size() < kReferees) {
    referees_.push_back(std::move(used.referee));
  } else {
    used.ended.push_back(std::move(used.referee.process));
  }
  spares_.retire(std::move(used.ended));
}

void GpuPool::let_go(std::size_t referees_left) {
  std::vector<Process> all;
  for (; referees_.size() > referees_left; referees_.pop_back()) {
    all.push_back(std::move(referees_.back().process));
  }
  for (auto& one : kept_) all.push_back(std::move(one.process));
  kept_.clear();
  spares_.retire(std::move(all));
}

void GpuPool::keep_house(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!returned_.empty()) {
      clean_one(lock);
      continue;
    }
    changed_.wait_for(lock, stop, std::chrono::milliseconds(idle_) / 4,
                      [&] { return !returned_.empty(); });
    const auto idled = Clock::now() - last_use_;
    if (idled >= idle_) let_go(idled < keep_warm_ ? kRest : 0);
  }
}

}  // namespace assay::node
