#include "engine/runner/gpu_timer.h"

#include <algorithm>
#include <chrono>

#include "engine/runner/clock_ramp.h"
#include "engine/runner/gpu_launch.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

// Runs queued before the host waits: their preparation keeps the device busy while the host queues
// the next, so that no launch latency stands between a run's two events.
constexpr std::size_t kBatch = 128;
// A warm run is as short as its kernel and has nothing to hide behind: the stream is held while the
// host queues.
constexpr nanoseconds kQueueingOfRun{16'000};
constexpr std::size_t kOverheadPairs = 32;
// A graph of N launches lasts about this long, far above an event's resolution of 0.5 us; where two
// kernels are compared by it, longer.
constexpr double kGraphTargetNs = 200'000;
constexpr double kPreciseGraphTargetNs = 400'000;
// A graph goes round places that the L2 holds with room to spare, or round all of them: near its
// size what stays in it is a matter of where the driver has put them.
constexpr std::size_t kShareOfL2 = 4;
constexpr double kMaxGraphLaunches = 64;
constexpr int kRelaxedCapture = 2;
constexpr std::chrono::seconds kStagingLimit{60};
constexpr std::size_t kPage = 2ULL << 20;  // the driver's largest
// What a stretch may take beside what its events say before it is looked at again: the first launch
// and the last wait, and a share of it.
constexpr double kBesideNs = 300'000;
constexpr double kMostBeside = 0.25;
// Looks at N and 2N, each by itself. The least of them counts: a host is away at times.
constexpr std::uint32_t kMostLooks = 8;
constexpr double kHiddenNs = 500;
// Memory that a runner keeps between attempts of one client.
constexpr std::size_t kKeptBytes = 2ULL << 30;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

GpuTimer::GpuTimer(GpuContext& context) : context_(context), room_(context), flush_(context) {
  const auto& driver = context_.driver();
  flush_.assemble();  // ahead of the job that will use it
  for (std::size_t i = 0; i < std::max(kBatch, kOverheadPairs); ++i) {
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
  arenas_ = std::move(arenas);
  contents_.resize(std::max(contents_.size(), arenas_.size()));
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
  driver.check(context_.wait(Clock::now() + kStagingLimit), "staging");
  return static_cast<std::uint32_t>(places_.size());
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
  driver.check(context_.wait(Clock::now() + kStagingLimit), "scrubbing");
  arenas_.clear();
  places_.clear();
  if (held <= kKeptBytes) return;
  contents_.clear();
  room_ = GpuMemory(context_);
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

// One plan being carried out. A kernel's failure is a driver's result other than success; it ends
// the measurement.
class GpuTimer::Measurement {
 public:
  Measurement(GpuTimer& timer, const GpuWork& work, const TimingPlan& plan)
      : timer_(timer),
        context_(timer.context_),
        driver_(context_.driver()),
        work_(work),
        plan_(plan) {}

  Timed carry_out() {
    measure_overhead();
    if (plan_.fresh) forget_runs();
    int result = prepare();
    if (result == cuda::kSuccess) result = warm_up();
    if (result == cuda::kSuccess) {
      context_.stamp(0);
      result = plan_.view == TimingView::graph ? time_graph() : time_runs();
    }
    if (result == cuda::kSuccess) {
      context_.stamp(1);
      result = wait();
    }
    timed_.outcome = outcome_of(context_, result);
    if (result == cuda::kSuccess) timed_.clock_mhz = context_.clock_mhz();
    return std::move(timed_);
  }

 private:
  [[nodiscard]] int wait() const {
    const auto limit = plan_.wall.count() > 0 ? plan_.wall : nanoseconds(std::chrono::hours(1));
    return context_.wait(Clock::now() + limit);
  }

  // A kernel can write beside its tensors, where no run's contents are put.
  void forget_runs() {
    const GpuMemory& room = timer_.room_;
    driver_.check(driver_.MemsetD32Async(room.address(), 0, room.bytes() / 4, context_.stream()),
                  "clearing");
  }

  [[nodiscard]] int prepare() const {
    int result = cuda::kSuccess;
    for (const cuda::Address place : timer_.places_) {
      if (result == cuda::kSuccess) result = work_.prepare(place);
    }
    return result;
  }

  // Puts a run's contents where it will work.
  [[nodiscard]] int restore(const TimedRun& run) const {
    const cuda::Address place = timer_.places_.at(run.place);
    const int copied =
        driver_.MemcpyDtoDAsync(place, timer_.contents_.at(run.content)->address(),
                                timer_.arenas_.at(run.content)->size(), context_.stream());
    return copied == cuda::kSuccess ? work_.clear_scratch(place) : copied;
  }

  [[nodiscard]] int flush() { return timer_.flush_.queue(timer_.place_bytes_); }

  [[nodiscard]] int launch(std::uint32_t place) const {
    return work_.queue(timer_.places_.at(place));
  }

  [[nodiscard]] int launch_between(const EventPair& events, std::uint32_t place) const {
    if (const int result = driver_.EventRecord(events.start, context_.stream()); result != 0) {
      return result;
    }
    if (const int result = launch(place); result != 0) return result;
    return driver_.EventRecord(events.stop, context_.stream());
  }

  [[nodiscard]] double elapsed_ns(const EventPair& events) const {
    float milliseconds = 0;
    driver_.check(driver_.EventElapsedTime(&milliseconds, events.start, events.stop),
                  "cuEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e6;
  }

  // Once: it is the device's, not the kernel's.
  void measure_overhead() {
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

  [[nodiscard]] int warm_up() {
    if (plan_.runs.empty()) return cuda::kSuccess;
    for (std::uint32_t i = 0; i < std::max(plan_.warmups, 1U); ++i) {
      const TimedRun& run = plan_.runs[i % plan_.runs.size()];
      if (const int result = restore(run); result != 0) return result;
      if (const int result = launch_between(timer_.events_[0], run.place); result != 0) {
        return result;
      }
    }
    const int result = wait();
    if (result == cuda::kSuccess) typical_ns_ = elapsed_ns(timer_.events_[0]);
    return result;
  }

  [[nodiscard]] int queue_run(const TimedRun& run, const EventPair& events) {
    if (const int result = restore(run); result != 0) return result;
    if (plan_.view == TimingView::cold) {
      if (const int result = flush(); result != 0) return result;
    }
    return launch_between(events, run.place);
  }

  // The runs queued since the last wait, in order.
  [[nodiscard]] int collect(std::size_t queued) {
    if (const int result = wait(); result != 0) return result;
    for (std::size_t i = 0; i < queued; ++i) {
      timed_.samples_ns.push_back(elapsed_ns(timer_.events_[i]));
    }
    return cuda::kSuccess;
  }

  [[nodiscard]] int time_runs() {
    std::size_t queued = 0;
    for (const TimedRun& run : plan_.runs) {
      if (queued == 0 && plan_.view == TimingView::warm) {
        const auto ahead = std::min<std::size_t>(kBatch, &plan_.runs.back() - &run + 1);
        if (const int result = context_.hold(kQueueingOfRun * ahead); result != 0) return result;
      }
      if (const int result = queue_run(run, timer_.events_[queued]); result != 0) return result;
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
  [[nodiscard]] int queue_handing_back(const TimedRun& run) const {
    const Arena& arena = *timer_.arenas_.at(run.content);
    return driver_.MemcpyDtoDAsync(arena.address(), timer_.places_.at(run.place), arena.size(),
                                   context_.stream());
  }

  void hand_back_to_host(const TimedRun& run) const {
    const auto host = timer_.arenas_.at(run.content)->bytes();
    driver_.check(driver_.MemcpyDtoH(host.data(), timer_.places_.at(run.place), host.size()),
                  "handing back");
  }

  [[nodiscard]] std::uint32_t graph_places() const {
    const auto l2 = static_cast<std::size_t>(std::max(context_.attribute(cuda::kL2Bytes), 0));
    const std::size_t room = l2 / kShareOfL2 / std::max<std::size_t>(timer_.place_bytes_, 1);
    return static_cast<std::uint32_t>(room >= 2 ? std::min(room, timer_.places_.size())
                                                : timer_.places_.size());
  }

  // False: this kernel cannot be captured; the outcome's message says why.
  [[nodiscard]] bool capture(Graph& graph, std::uint32_t launches) {
    int result = driver_.StreamBeginCapture(context_.stream(), kRelaxedCapture);
    const std::uint32_t places = graph_places();
    for (std::uint32_t i = 0; i < launches && result == 0; ++i) result = launch(i % places);
    const int ended = driver_.StreamEndCapture(context_.stream(), &graph.graph);
    if (result == 0) result = ended;
    if (result == 0) result = driver_.GraphInstantiate(&graph.executable, graph.graph, 0);
    if (result != 0) graph_failure_ = driver_.text(result);
    return result == 0;
  }

  [[nodiscard]] int queue_graph(const Graph& graph, const EventPair& events) const {
    const cuda::Handle stream = context_.stream();
    if (const int result = driver_.EventRecord(events.start, stream); result != 0) return result;
    if (const int result = driver_.GraphLaunch(graph.executable, stream); result != 0) {
      return result;
    }
    return driver_.EventRecord(events.stop, stream);
  }

  // One behind the other, so that no launch latency stands between them.
  [[nodiscard]] int time_slopes(const Graphs& both, std::size_t count, Wall& wall) {
    for (std::size_t i = 0; i < count; ++i) {
      int result = queue_graph(both.once, timer_.events_[2 * i]);
      if (result == cuda::kSuccess) result = queue_graph(both.twice, timer_.events_[2 * i + 1]);
      if (result != cuda::kSuccess) return result;
    }
    if (const int result = wait(); result != 0) return result;
    for (std::size_t i = 0; i < count; ++i) {
      const double once_ns = elapsed_ns(timer_.events_[2 * i]);
      const double twice_ns = elapsed_ns(timer_.events_[2 * i + 1]);
      timed_.samples_ns.push_back((twice_ns - once_ns) / both.launches);
      wall.events_ns += once_ns + twice_ns;
      wall.launches += std::uint64_t{3} * both.launches;
    }
    return cuda::kSuccess;
  }

  static double since_ns(Clock::time_point begin) {
    return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
  }

  // By how much less the events of a graph's launch say than the host's clock, if that is the least
  // so far.
  [[nodiscard]] int look_at(const Graph& graph, std::optional<double>& least_ns) {
    const auto begin = Clock::now();
    int result = queue_graph(graph, timer_.events_[0]);
    if (result == cuda::kSuccess) result = wait();
    if (result != cuda::kSuccess) return result;
    const double beside_ns = since_ns(begin) - elapsed_ns(timer_.events_[0]);
    least_ns = std::min(least_ns.value_or(beside_ns), beside_ns);
    return cuda::kSuccess;
  }

  // Launching and waiting cost the same for N as for 2N: what grows with the launches was hidden.
  [[nodiscard]] int look_for_hidden(const Graphs& both, Wall& wall) {
    std::optional<double> once_ns;
    std::optional<double> twice_ns;
    const double enough_ns = kHiddenNs + kMostBeside * std::max(median(timed_.samples_ns), 0.0);
    for (std::uint32_t look = 0; look < kMostLooks; ++look) {
      int result = look_at(both.once, once_ns);
      if (result == cuda::kSuccess) result = look_at(both.twice, twice_ns);
      if (result != cuda::kSuccess) return result;
      wall.hidden_ns = (*twice_ns - *once_ns) / both.launches;
      if (*wall.hidden_ns <= enough_ns) break;
    }
    return cuda::kSuccess;
  }

  // Those of the turn before, if it was of the same work; nullptr if it cannot be captured.
  [[nodiscard]] std::unique_ptr<Graphs> graphs() {
    const double target = plan_.precise ? kPreciseGraphTargetNs : kGraphTargetNs;
    const std::string identity = work_.identity();
    auto kept = std::move(timer_.graphs_);
    if (kept && !identity.empty() && kept->identity == identity && kept->target_ns == target) {
      return kept;
    }
    kept.reset();
    auto made = std::make_unique<Graphs>(driver_);
    made->identity = identity;
    made->target_ns = target;
    made->launches = static_cast<std::uint32_t>(
        std::clamp(target / std::max(typical_ns_, 500.0), 2.0, kMaxGraphLaunches));
    if (!capture(made->once, made->launches) || !capture(made->twice, 2 * made->launches)) {
      return nullptr;
    }
    return made;
  }

  [[nodiscard]] int time_graph() {
    auto both = graphs();
    if (!both) {
      timed_.launches = 0;
      timed_.note = "graph capture failed: " + graph_failure_;
      return cuda::kSuccess;
    }
    timed_.launches = both->launches;
    // Else the first launch of a graph would upload it.
    for (const Graph* graph : {&both->once, &both->twice}) {
      const int result = driver_.GraphUpload(graph->executable, context_.stream());
      if (result != cuda::kSuccess) return result;
    }
    const auto begin = Clock::now();
    Wall wall;
    // Caches are as a launch before leaves them.
    const EventPair& before = timer_.events_.back();
    if (const int result = queue_graph(both->once, before); result != 0) return result;
    while (timed_.samples_ns.size() < plan_.runs.size()) {
      const std::size_t left = plan_.runs.size() - timed_.samples_ns.size();
      const int result = time_slopes(*both, std::min(left, kBatch / 2 - 1), wall);
      if (result != cuda::kSuccess) return result;
    }
    wall.wall_ns = since_ns(begin);
    wall.events_ns += elapsed_ns(before);
    wall.launches += both->launches;
    timed_.wall = wall;
    if (wall.wall_ns > wall.events_ns * (1 + kMostBeside) + kBesideNs) {
      const int result = look_for_hidden(*both, *timed_.wall);
      if (result != cuda::kSuccess) return result;
    }
    if (!both->identity.empty()) timer_.graphs_ = std::move(both);
    return cuda::kSuccess;
  }

  GpuTimer& timer_;
  GpuContext& context_;
  const cuda::Driver& driver_;
  const GpuWork& work_;
  const TimingPlan& plan_;
  double typical_ns_ = 0;
  std::string graph_failure_{};
  Timed timed_{};
};

double GpuTimer::ramp_ms(double wanted_mhz) {
  const auto begin = Clock::now();
  ClockRamp ramp(wanted_mhz);
  while (ramp.goes_on()) {
    context_.stamp(0);
    context_.driver().check(context_.burn(ClockRamp::kSlice), "burning");
    context_.stamp(1);
    context_.driver().check(context_.wait(Clock::now() + std::chrono::seconds(10)), "burning");
    ramp.note(context_.clock_mhz());
  }
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Where the clock was low the plan is carried out once more behind a ramp, if there is time for it:
// a check before would cost each measurement what this costs the few that need it.
Timed GpuTimer::time(const GpuWork& work, const TimingPlan& plan) {
  const auto begin = Clock::now();
  Timed timed = Measurement(*this, work, plan).carry_out();
  const bool is_low = timed.clock_mhz && *timed.clock_mhz < plan.ramp_below_mhz;
  if (!is_low || ramps_in_vain_ || timed.samples_ns.empty()) return timed;
  const auto took = Clock::now() - begin;
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
