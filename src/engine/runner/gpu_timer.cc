#include "engine/runner/gpu_timer.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "engine/runner/clock_ramp.h"
#include "engine/runner/gpu_measurement.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kStagingLimit{60};
constexpr std::size_t kPage = 2ULL << 20;  // the driver's largest
// Memory that a runner keeps between attempts of one client.
constexpr std::size_t kKeptBytes = 2ULL << 30;

}  // namespace

GpuTimer::GpuTimer(GpuContext& context)
    : context_(context), room_(context), flush_(context), digests_(context) {
  const auto& driver = context_.driver();
  flush_.assemble();  // ahead of the job that will use it
  digests_.assemble();
  for (std::size_t i = 0; i < kBatch; ++i) {
    EventPair pair;
    driver.check(driver.EventCreate(&pair.start, 0), "cuEventCreate");
    driver.check(driver.EventCreate(&pair.stop, 0), "cuEventCreate");
    events_.push_back(pair);
  }
}

GpuTimer::~GpuTimer() {
  for (const auto& pair : events_) {
    context_.driver().EventDestroy(pair.start);
    context_.driver().EventDestroy(pair.stop);
  }
}

std::uint32_t GpuTimer::stage(std::vector<std::unique_ptr<Arena>>&& arenas, std::uint32_t places,
                              std::uint64_t scratch_bytes) {
  const auto& driver = context_.driver();
  give_up_left();
  arenas_ = std::move(arenas);
  contents_.resize(std::max(contents_.size(), arenas_.size()));
  digests_.draw();
  forget_graphs();
  flush_.prepare();
  for (std::size_t i = 0; i < arenas_.size(); ++i) {
    const Arena& arena = *arenas_[i];
    if (!contents_[i] || contents_[i]->bytes() < arena.size()) {
      contents_[i].reset();
      contents_[i] = std::make_unique<GpuMapping>(context_, arena.size(), GpuMapping::For::own);
    }
    const cuda::Address to = contents_[i]->address();
    const auto host = arena.bytes();
    driver.check(host.empty()
                     ? driver.MemcpyDtoDAsync(to, arena.address(), arena.size(), context_.stream())
                     : context_.copy_in(to, host),
                 "staging");
  }
  const std::size_t arena_bytes = arenas_.empty() ? 1 : arenas_.front()->size();
  make_places(arena_bytes + scratch_bytes, std::max(places, 1U));
  driver.check(digest_contents(), "digests");
  driver.check(context_.wait(Clock::now() + kStagingLimit), "staging");
  begun_with_ = digests_.read(arenas_.size());
  return static_cast<std::uint32_t>(places_.size());
}

// Of what was staged before: there may be no room for it and for what is staged now.
void GpuTimer::give_up_left() {
  if (!left_) return;
  const auto& driver = context_.driver();
  driver.check(driver.MemsetD32Async(left_->address(), 0, left_->bytes() / 4, context_.stream()),
               "scrubbing");
  driver.check(context_.wait(Clock::now() + kStagingLimit), "scrubbing");
  left_.reset();
}

// Here, and not where runs are held against them, which others wait for.
int GpuTimer::digest_contents() {
  if (arenas_.size() > RunDigests::kMost) throw std::runtime_error("too many contents to stage");
  int result = digests_.clear();
  for (std::size_t i = 0; i < arenas_.size() && result == cuda::kSuccess; ++i) {
    result = digests_.take(i, contents_[i]->address(), arenas_[i]->size());
  }
  // Of what is left in registers, too: l2_flush.cc.
  return result == cuda::kSuccess ? flush_.queue(place_bytes_) : result;
}

void GpuTimer::scrub() {
  const auto& driver = context_.driver();
  forget_graphs();
  std::size_t held = 0;
  const auto clear = [&](const auto& memory) {
    held += memory.bytes();
    if (memory.bytes() == 0) return;
    driver.check(driver.MemsetD32Async(memory.address(), 0, memory.bytes() / 4, context_.stream()),
                 "scrubbing");
  };
  for (const auto& memory : contents_) {
    if (memory) clear(*memory);
  }
  clear(room_);
  if (left_) clear(*left_);
  driver.check(clear_apart(), "scrubbing");
  driver.check(context_.wait(Clock::now() + kStagingLimit), "scrubbing");
  arenas_.clear();
  begun_with_.clear();
  places_.clear();
  if (held <= kKeptBytes) return;
  contents_.clear();
  left_.reset();
  room_ = GpuMemory(context_);
}

int GpuTimer::clear_apart() const {
  int result = flush_.clear();
  if (result == cuda::kSuccess) result = context_.clear_stamps();
  if (result == cuda::kSuccess) result = digests_.clear();
  return result == cuda::kSuccess ? context_.overwrite_shared() : result;
}

void GpuTimer::make_places(std::size_t bytes, std::uint32_t wished) {
  const std::size_t stride = (std::max<std::size_t>(bytes, 1) + kPage - 1) / kPage * kPage;
  places_.clear();
  for (std::uint32_t count = wished; places_.empty(); count = count / 2) {
    try {
      room_.reserve(count * stride);
    } catch (const cuda::DriverError&) {
      // Half as many, unless there is not even room for one.
      if (count == 1) throw;
      continue;
    }
    for (std::uint32_t i = 0; i < count; ++i) places_.push_back(room_.address() + i * stride);
  }
  place_bytes_ = bytes;
}

double GpuTimer::ramp_ms(double wanted_mhz) {
  const auto begin = Clock::now();
  ClockRamp ramp(wanted_mhz);
  while (ramp.goes_on()) {
    context_.driver().check(context_.stamp(0), "stamp");
    context_.driver().check(context_.burn(ClockRamp::kSlice), "burning");
    context_.driver().check(context_.stamp(1), "stamp");
    context_.driver().check(context_.wait(Clock::now() + std::chrono::seconds(10)), "burning");
    ramp.note(context_.clock_mhz());
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::string GpuTimer::capture(const GpuWork& work, const TimingPlan& plan) {
  return Measurement(*this, work, plan).capture_ahead();
}

// Where the clock was low the plan is carried out once more behind a ramp, if there is time for it:
// a check before would cost each measurement what this costs the few that need it.
Timed GpuTimer::time(const GpuWork& work, const TimingPlan& plan) {
  const auto begin = Clock::now();
  if (plan.fresh) context_.driver().check(clear_apart(), "clearing");
  Timed timed = Measurement(*this, work, plan).carry_out();
  const bool is_low = timed.clock_mhz && *timed.clock_mhz < plan.ramp_below_mhz;
  if (!is_low || plan.fresh || ramps_in_vain_ || timed.samples_ns.empty()) return timed;
  const auto took = Clock::now() - begin;
  if (took > 2 * ClockRamp::kLongest) return timed;  // it was its own ramp
  if (plan.wall.count() > 0 && 2 * took + ClockRamp::kLongest > plan.wall) return timed;
  const Ramp ramp{.from_mhz = *timed.clock_mhz, .ms = ramp_ms(plan.ramp_below_mhz)};
  TimingPlan again = plan;
  if (plan.wall.count() > 0) again.wall -= Clock::now() - begin;
  timed = Measurement(*this, work, again).carry_out();
  timed.ramp = ramp;
  ramps_in_vain_ = timed.clock_mhz && *timed.clock_mhz < plan.ramp_below_mhz;
  return timed;
}

}  // namespace assay::runner
