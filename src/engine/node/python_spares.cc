#include "engine/node/python_spares.h"

#include <stdexcept>
#include <system_error>

namespace assay::node {
namespace {

using Clock = std::chrono::steady_clock;

// A comparison takes two.
constexpr std::size_t kSpares = 2;
constexpr std::chrono::seconds kIdle{120};
constexpr std::chrono::seconds kContextLimit{30};

struct ZygoteRefuses : std::runtime_error {
  explicit ZygoteRefuses(NoPython refusal)
      : std::runtime_error(refusal.reason), none(std::move(refusal)) {}
  NoPython none;
};

}  // namespace

std::variant<std::unique_ptr<RunnerProcess>, NoPython> fork_python(const Runners& runners,
                                                                   PythonZygote& zygote,
                                                                   const Gpu* gpu,
                                                                   const std::stop_token& stop) {
  std::optional<GpuAccess> access;
  if (gpu != nullptr) access = GpuAccess{.nodes = gpu->nodes(), .uuid = gpu->uuid};
  try {
    return runners.start_python(zygote.interpreter().readable, access ? &*access : nullptr,
                                [&](confinement::SpawnRequest request) {
                                  auto child = zygote.spawn(std::move(request), stop);
                                  if (auto* none = std::get_if<NoPython>(&child)) {
                                    throw ZygoteRefuses(std::move(*none));
                                  }
                                  return std::get<confinement::Child>(std::move(child));
                                });
  } catch (const ZygoteRefuses& refused) {
    return refused.none;
  }
}

PythonSpares::PythonSpares(const Runners& runners, PythonZygote& zygote, Gpu gpu)
    : runners_(runners),
      zygote_(zygote),
      gpu_(std::move(gpu)),
      last_use_(Clock::now()),
      housekeeper_([this](const std::stop_token& stop) { keep_house(stop); }) {}

std::variant<PythonSpares::Process, NoPython> PythonSpares::take(const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    last_use_ = Clock::now();
    if (!spares_.empty()) {
      Process spare = std::move(spares_.front());
      spares_.erase(spares_.begin());
      return spare;
    }
  }
  return fork_python(runners_, zygote_, &gpu_, stop);
}

void PythonSpares::give_back(std::vector<Process> used) {
  const std::lock_guard lock(mutex_);
  for (auto& process : used) {
    if (process) retired_.push_back(std::move(process));
  }
  wanted_ = kSpares;
  last_use_ = Clock::now();
  changed_.notify_all();
}

// Null where none can be made: the next job will try, and say so if it cannot either.
PythonSpares::Process PythonSpares::make(const std::stop_token& stop) {
  try {
    auto forked = fork_python(runners_, zygote_, &gpu_, stop);
    auto* process = std::get_if<Process>(&forked);
    if (process == nullptr) return nullptr;
    frames::Frame request;
    request.body = {{"type", "begin"}, {"seq", 0}};
    const auto reply = (*process)->ask(std::move(request), Clock::now() + kContextLimit, stop);
    const auto* said = std::get_if<frames::Frame>(&reply);
    return said != nullptr && said->type() == "begun" ? std::move(*process) : nullptr;
  } catch (const std::system_error&) {
    return nullptr;
  }
}

void PythonSpares::keep_house(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    auto ending = std::move(retired_);
    retired_.clear();
    const bool short_of_spares = spares_.size() < wanted_;
    lock.unlock();
    // Both take long, and neither needs what the lock protects.
    auto fresh = short_of_spares ? make(stop) : nullptr;
    ending.clear();
    lock.lock();
    if (fresh) {
      spares_.push_back(std::move(fresh));
    } else if (short_of_spares) {
      wanted_ = 0;
    }
    if (!retired_.empty() || spares_.size() < wanted_) continue;
    changed_.wait_for(lock, stop, kIdle / 4,
                      [&] { return !retired_.empty() || spares_.size() < wanted_; });
    if (Clock::now() - last_use_ < kIdle) continue;
    wanted_ = 0;
    for (auto& spare : spares_) retired_.push_back(std::move(spare));
    spares_.clear();
  }
}

}  // namespace assay::node
