#include "engine/runner/gpu_measurement.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "engine/runner/gpu_launch.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// A warm run is as short as its kernel and has nothing to hide behind: the stream is held while the
// host queues.
constexpr nanoseconds kQueueingOfRun{16'000};
constexpr std::size_t kOverheadPairs = 32;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Timed GpuTimer::Measurement::carry_out() {
  measure_overhead();
  if (plan_.fresh) forget_runs();
  int result = prepare();
  if (plan_.digests) timed_.begun_with = timer_.begun_with_;
  if (result == cuda::kSuccess) result = warm_up();
  if (result == cuda::kSuccess) result = context_.stamp(0);
  if (result == cuda::kSuccess) {
    result = plan_.view == TimingView::graph ? time_graph() : time_runs();
  }
  if (result == cuda::kSuccess) result = context_.stamp(1);
  if (result == cuda::kSuccess) result = wait();
  timed_.outcome = outcome_of(context_, result);
  if (result == cuda::kSuccess) timed_.clock_mhz = context_.clock_mhz();
  return std::move(timed_);
}

int GpuTimer::Measurement::wait() const {
  const auto limit = plan_.wall.count() > 0 ? plan_.wall : nanoseconds(std::chrono::hours(1));
  return context_.wait(Clock::now() + limit);
}

int GpuTimer::Measurement::flush() { return timer_.flush_.queue(timer_.place_bytes_); }

// Behind another run, on contents that are new to a process that has forgotten the rest: those are
// what runs are held against that found theirs before.
bool GpuTimer::Measurement::is_shown_anew(const TimedRun& run) const {
  const auto here = plan_.runs.begin() + (&run - plan_.runs.data());
  const bool is_new = std::none_of(plan_.runs.begin(), here, [&](const TimedRun& before) {
    return before.content == run.content;
  });
  return plan_.fresh && is_new && here != plan_.runs.begin();
}

// A kernel can write beside its tensors, where no run's contents are put.
void GpuTimer::Measurement::forget_runs() {
  const GpuMemory& room = timer_.room_;
  driver_.check(driver_.MemsetD32Async(room.address(), 0, room.bytes() / 4, context_.stream()),
                "clearing");
}

int GpuTimer::Measurement::prepare() const {
  int result = cuda::kSuccess;
  for (const cuda::Address place : timer_.places_) {
    if (result == cuda::kSuccess) result = work_.prepare(place);
  }
  return result;
}

// Puts a run's contents where it will work.
int GpuTimer::Measurement::restore(const TimedRun& run) const {
  const cuda::Address place = timer_.places_.at(run.place);
  const int copied =
      driver_.MemcpyDtoDAsync(place, timer_.contents_.at(run.content)->address(),
                              timer_.arenas_.at(run.content)->size(), context_.stream());
  return copied == cuda::kSuccess ? work_.clear_scratch(place) : copied;
}

// In one launch with the digest of what the last run left, where that is wanted: all arenas have
// the same size.
int GpuTimer::Measurement::restore_behind_last(const TimedRun& run) {
  if (!undigested_ || !timer_.digests_.can()) return restore(run);
  const cuda::Address place = timer_.places_.at(run.place);
  const int put = timer_.digests_.take_and_put(
      undigested_->which, timer_.places_.at(undigested_->run.place),
      timer_.arenas_.at(run.content)->size(), timer_.contents_.at(run.content)->address(), place);
  undigested_.reset();
  return put == cuda::kSuccess ? work_.clear_scratch(place) : put;
}

int GpuTimer::Measurement::launch_between(const EventPair& events, std::uint32_t place) const {
  if (const int result = driver_.EventRecord(events.start, context_.stream()); result != 0) {
    return result;
  }
  if (const int result = launch(place); result != 0) return result;
  return driver_.EventRecord(events.stop, context_.stream());
}

double GpuTimer::Measurement::elapsed_ns(const EventPair& events) const {
  float milliseconds = 0;
  driver_.check(driver_.EventElapsedTime(&milliseconds, events.start, events.stop),
                "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e6;
}

// Once: it is the device's, not the kernel's.
void GpuTimer::Measurement::measure_overhead() {
  if (timer_.overhead_ns_) {
    timed_.event_overhead_ns = *timer_.overhead_ns_;
    return;
  }
  driver_.check(flush(), "flush");
  for (std::size_t i = 0; i < kOverheadPairs; ++i) {
    driver_.check(driver_.EventRecord(timer_.events_[i].start, context_.stream()), "event");
    driver_.check(driver_.EventRecord(timer_.events_[i].stop, context_.stream()), "event");
  }
  driver_.check(context_.wait(Clock::now() + std::chrono::seconds(10)), "event overhead");
  std::vector<double> samples;
  for (std::size_t i = 0; i < kOverheadPairs; ++i) {
    samples.push_back(elapsed_ns(timer_.events_[i]));
  }
  timer_.overhead_ns_ = timed_.event_overhead_ns = median(std::move(samples));
}

int GpuTimer::Measurement::warm_up() {
  if (plan_.runs.empty()) return cuda::kSuccess;
  for (std::uint32_t i = 0; i < std::max(plan_.warmups, 1U); ++i) {
    const TimedRun& run = plan_.runs[i % plan_.runs.size()];
    if (const int result = restore(run); result != 0) return result;
    if (const int result = launch_between(timer_.events_[0], run.place); result != 0) {
      return result;
    }
  }
  // A graph's launches are held against this clock too; before other runs, waiting would leave the
  // device without work for a while.
  if (plan_.view != TimingView::graph) return cuda::kSuccess;
  const int result = wait();
  if (result == cuda::kSuccess) typical_ns_ = elapsed_ns(timer_.events_[0]);
  return result;
}

int GpuTimer::Measurement::queue_run(const TimedRun& run, std::size_t which) {
  const int begun = run.as_left ? take_digest() : restore_behind_last(run);
  if (begun != cuda::kSuccess) return begun;
  if (plan_.view == TimingView::cold) {
    const int swept = is_shown_anew(run) ? timer_.flush_.sweep() : cuda::kSuccess;
    if (swept != cuda::kSuccess) return swept;
    if (const int result = flush(); result != 0) return result;
  }
  if (const int result = launch_between(timer_.events_[which], run.place); result != 0) {
    return result;
  }
  if (plan_.digests) undigested_ = {.run = run, .which = which};
  return cuda::kSuccess;
}

// The runs queued since the last wait, in order.
int GpuTimer::Measurement::collect(std::size_t queued) {
  // What the last digest left in registers is gone before a kernel's next launch: l2_flush.cc.
  if (plan_.digests) {
    if (const int result = take_digest(); result != 0) return result;
    if (const int result = flush(); result != 0) return result;
  }
  if (const int result = wait(); result != 0) return result;
  for (std::size_t i = 0; i < queued; ++i) {
    timed_.samples_ns.push_back(elapsed_ns(timer_.events_[i]));
  }
  if (!plan_.digests) return cuda::kSuccess;
  const auto digests = timer_.digests_.read(queued);
  timed_.digests.insert(timed_.digests.end(), digests.begin(), digests.end());
  return cuda::kSuccess;
}

int GpuTimer::Measurement::begin_batch(std::size_t runs) {
  if (plan_.digests) {
    if (const int result = timer_.digests_.clear(); result != 0) return result;
  }
  if (plan_.view != TimingView::warm) return cuda::kSuccess;
  return context_.hold(kQueueingOfRun * std::min(runs, kBatch));
}

int GpuTimer::Measurement::take_digest() {
  const auto left = std::exchange(undigested_, std::nullopt);
  if (!left) return cuda::kSuccess;
  return timer_.digests_.take(left->which, timer_.places_.at(left->run.place),
                              timer_.arenas_.at(left->run.content)->size());
}

int GpuTimer::Measurement::time_runs() {
  std::size_t queued = 0;
  for (const TimedRun& run : plan_.runs) {
    if (queued == 0) {
      const auto ahead = static_cast<std::size_t>(&plan_.runs.back() - &run + 1);
      if (const int result = begin_batch(ahead); result != 0) return result;
    }
    if (const int result = queue_run(run, queued); result != 0) return result;
    ++queued;
    const bool to_host = run.keep && !timer_.arenas_.at(run.content)->bytes().empty();
    if (run.keep && !to_host) {
      if (const int result = queue_handing_back(run); result != 0) return result;
    }
    if (queued < kBatch && !to_host && &run != &plan_.runs.back()) continue;
    if (const int result = collect(queued); result != 0) return result;
    queued = 0;
    if (to_host) hand_back_to_host(run);
  }
  return cuda::kSuccess;
}

// Behind the run and before whatever works in its place next.
int GpuTimer::Measurement::queue_handing_back(const TimedRun& run) const {
  const Arena& arena = *timer_.arenas_.at(run.content);
  return driver_.MemcpyDtoDAsync(arena.address(), timer_.places_.at(run.place), arena.size(),
                                 context_.stream());
}

void GpuTimer::Measurement::hand_back_to_host(const TimedRun& run) const {
  const auto host = timer_.arenas_.at(run.content)->bytes();
  driver_.check(driver_.MemcpyDtoH(host.data(), timer_.places_.at(run.place), host.size()),
                "handing back");
}

}  // namespace assay::runner
