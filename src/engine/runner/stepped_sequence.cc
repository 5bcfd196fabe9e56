#include "engine/runner/stepped_sequence.h"

#include <algorithm>

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

// Of the times of single launches: one round to warm up, then as many as fit.
constexpr std::size_t kRounds = 3;
constexpr std::chrono::seconds kRoundsLimit{2};
// What the host takes to queue a launch between two events.
constexpr std::chrono::microseconds kHold{60};

}  // namespace

SteppedSequence::SteppedSequence(GpuContext& context, const GpuSequence& work, Arena& arena,
                                 Clock::duration limit)
    : context_(context),
      work_(work),
      arena_(arena),
      memory_(context),
      caches_(context),
      until_(Clock::now() + limit) {
  memory_.reserve(std::max<std::size_t>(
      {work.sequence().memory_bytes, arena.size(), static_cast<std::size_t>(1)}));
  const auto& driver = context_.driver();
  driver.check(driver.EventCreate(&start_, 0), "cuEventCreate");
  driver.check(driver.EventCreate(&stop_, 0), "cuEventCreate");
  const auto& steps = work.sequence().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].kind == SequenceStep::Kind::launch) launches_.push_back(i);
  }
}

SteppedSequence::~SteppedSequence() {
  context_.driver().EventDestroy(start_);
  context_.driver().EventDestroy(stop_);
}

int SteppedSequence::begin() {
  const auto& driver = context_.driver();
  const auto host = arena_.bytes();
  const int copied = host.empty() ? driver.MemcpyDtoDAsync(memory_.address(), arena_.address(),
                                                           arena_.size(), context_.stream())
                                  : context_.copy_in(memory_.address(), host);
  return copied == cuda::kSuccess ? work_.clear_scratch(memory_.address()) : copied;
}

int SteppedSequence::prepare(std::size_t step) {
  int result = begin();
  for (std::size_t i = 0; i < step && result == cuda::kSuccess; ++i) {
    result = work_.queue_step(i, memory_.address());
  }
  if (result == cuda::kSuccess) result = caches_.queue(memory_.bytes());
  return result == cuda::kSuccess ? context_.wait(until_) : result;
}

int SteppedSequence::run(std::size_t step) {
  const int result = work_.queue_step(step, memory_.address());
  return result == cuda::kSuccess ? context_.wait(until_) : result;
}

int SteppedSequence::time_step(std::size_t step, std::vector<double>& launches_ns) {
  const auto& driver = context_.driver();
  int result = context_.hold(kHold);
  if (result == cuda::kSuccess) result = driver.EventRecord(start_, context_.stream());
  if (result == cuda::kSuccess) result = work_.queue_step(step, memory_.address());
  if (result == cuda::kSuccess) result = driver.EventRecord(stop_, context_.stream());
  if (result == cuda::kSuccess) result = context_.wait(until_);
  if (result != cuda::kSuccess) return result;
  float milliseconds = 0;
  result = driver.EventElapsedTime(&milliseconds, start_, stop_);
  launches_ns.push_back(static_cast<double>(milliseconds) * 1e6);
  return result;
}

int SteppedSequence::time_round(std::vector<double>& launches_ns) {
  int result = prepare(0);
  for (std::size_t i = 0; i < work_.sequence().steps.size() && result == cuda::kSuccess; ++i) {
    const bool launches = std::binary_search(launches_.begin(), launches_.end(), i);
    result = launches ? time_step(i, launches_ns) : work_.queue_step(i, memory_.address());
  }
  return result;
}

int SteppedSequence::time_launches(std::vector<double>& launches_ns) {
  if (launches_.size() < 2) return cuda::kSuccess;
  std::vector<std::vector<double>> rounds;
  const auto until = Clock::now() + kRoundsLimit;
  for (std::size_t round = 0; round <= kRounds && (round < 2 || Clock::now() < until); ++round) {
    std::vector<double> times;
    const int result = time_round(times);
    if (result != cuda::kSuccess) return result;
    if (round > 0) rounds.push_back(std::move(times));
  }
  launches_ns = medians_of(rounds);
  return cuda::kSuccess;
}

std::vector<double> medians_of(const std::vector<std::vector<double>>& rounds) {
  std::vector<double> medians;
  for (std::size_t i = 0; !rounds.empty() && i < rounds.front().size(); ++i) {
    std::vector<double> times;
    for (const auto& round : rounds) times.push_back(round.at(i));
    std::sort(times.begin(), times.end());
    medians.push_back(times[times.size() / 2]);
  }
  return medians;
}

std::size_t heaviest(const std::vector<double>& launches_ns) {
  const auto most = std::max_element(launches_ns.begin(), launches_ns.end());
  return most == launches_ns.end() ? 0 : static_cast<std::size_t>(most - launches_ns.begin());
}

}  // namespace assay::runner
