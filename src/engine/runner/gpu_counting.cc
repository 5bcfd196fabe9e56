#include "engine/runner/gpu_counting.h"

#include "engine/runner/cold_caches.h"
#include "engine/runner/gpu_launch.h"
#include "engine/runner/gpu_textures.h"
#include "engine/runner/stepped_sequence.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRecordedLaunches = 5;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

int attribute_of(const GpuContext& context, cuda::Handle function, cuda::FunctionAttribute which) {
  int value = 0;
  context.driver().check(context.driver().FuncGetAttribute(&value, which, function),
                         "cuFuncGetAttribute");
  return value;
}

// One launch after the other, each on the same inputs and cold caches. Borrows all.
class Replay {
 public:
  Replay(const GpuContext& context, cuda::Handle function, const emulator::Launch& launch,
         const Arena& arena, std::chrono::nanoseconds limit)
      : context_(context),
        function_(function),
        launch_(launch),
        arena_(arena),
        before_(context),
        caches_(context),
        textures_(context, launch.textures),
        until_(Clock::now() + limit) {
    before_.reserve(std::max<std::size_t>(arena.size(), 1));
    const auto& driver = context.driver();
    if (const auto host = arena.bytes(); !host.empty()) {
      driver.check(context.copy_in(arena.address(), host), "inputs");
    }
    driver.check(
        driver.MemcpyDtoDAsync(before_.address(), arena.address(), arena.size(), context.stream()),
        "inputs");
  }

  [[nodiscard]] int restore() {
    int queued = context_.driver().MemcpyDtoDAsync(arena_.address(), before_.address(),
                                                   arena_.size(), context_.stream());
    if (queued == cuda::kSuccess) queued = caches_.queue(arena_.size());
    return queued == cuda::kSuccess ? context_.wait(until_) : queued;
  }
  [[nodiscard]] std::vector<std::function<int()>> settling() {
    return caches_.settling(arena_.address(), arena_.size(), until_);
  }
  [[nodiscard]] int run() {
    auto block = launch_.parameters;
    int queued = textures_.put_into(block);
    if (queued == cuda::kSuccess) queued = queue_launch(context_, function_, launch_, block);
    return queued == cuda::kSuccess ? context_.wait(until_) : queued;
  }

 private:
  const GpuContext& context_;
  cuda::Handle function_;
  const emulator::Launch& launch_;
  const Arena& arena_;
  GpuMemory before_;
  ColdCaches caches_;
  GpuTextures textures_;
  const Clock::time_point until_;
};

}  // namespace

Profiled GpuCounting::profile(cuda::Handle function, const emulator::Launch& launch, Arena& arena,
                              const CounterRequest& request) {
  Profiled profiled;
  const auto begin = Clock::now();
  Replay replay(context_, function, launch, arena, request.limit);
  profiled.setup_ms = milliseconds_since(begin);
  CounterPass pass{.prepare = [&] { return replay.restore(); },
                   .settle = replay.settling(),
                   .launch = [&] { return replay.run(); }};
  count({.kernel = launch.kernel, .pass = std::move(pass)}, request, profiled);
  return profiled;
}

Profiled GpuCounting::profile(const GpuSequence& work, Arena& arena,
                              const CounterRequest& request) {
  const auto begin = Clock::now();
  SteppedSequence stepped(context_, work, arena, request.limit);
  if (stepped.launches().empty()) return {.readings = {.missing = "it launches nothing"}};
  ProfiledLaunch launch;
  const int timed = stepped.time_launches(launch.launches_ns);
  Profiled profiled{.outcome = outcome_of(context_, timed), .setup_ms = milliseconds_since(begin)};
  if (timed != cuda::kSuccess) return profiled;
  launch.index = heaviest(launch.launches_ns);
  const std::size_t step = stepped.launches().at(launch.index);
  const cuda::Handle function = work.function_of(step);
  launch.registers =
      static_cast<unsigned>(attribute_of(context_, function, cuda::kFunctionRegisters));
  launch.static_shared_bytes =
      static_cast<std::uint64_t>(attribute_of(context_, function, cuda::kFunctionSharedBytes));
  profiled.launch = std::move(launch);
  CounterPass pass{.prepare = [&] { return stepped.prepare(step); },
                   .settle = stepped.settling(),
                   .launch = [&] { return stepped.run(step); }};
  count({.kernel = work.sequence().steps.at(step).launch.kernel, .pass = std::move(pass)}, request,
        profiled);
  return profiled;
}

void GpuCounting::count(const Repeated& repeated, const CounterRequest& request,
                        Profiled& profiled) {
  for (const auto& metrics : sessions_of(request.metrics)) {
    const auto begin = Clock::now();
    CounterSession session({.library = request.library, .metrics = metrics}, context_.handle());
    profiled.setup_ms += milliseconds_since(begin);
    const auto counting = Clock::now();
    const int result = session.measure(repeated.pass);
    profiled.counting_ms += milliseconds_since(counting);
    profiled.outcome = outcome_of(context_, result);
    const CounterReadings& readings = session.readings();
    profiled.readings.add(readings);
    // What one session's metrics lack others may have; any other reason is theirs too.
    const bool is_lacking = readings.refused.size() == metrics.size();
    if (result != cuda::kSuccess || (!readings.missing.empty() && !is_lacking)) break;
  }
  if (profiled.outcome.ending != emulator::Ending::completed) return;
  if (profiled.readings.values.empty()) {
    record(repeated, request, profiled);
  } else {
    count_groups(request, profiled);
  }
}

void GpuCounting::record(const Repeated& repeated, const CounterRequest& request,
                         Profiled& profiled) const {
  const auto launches = [&] {
    int result = cuda::kSuccess;
    for (int i = 0; i < kRecordedLaunches && result == cuda::kSuccess; ++i) {
      result = repeated.pass.prepare();
      if (result == cuda::kSuccess) result = repeated.pass.launch();
    }
    return result;
  };
  profiled.outcome = outcome_of(
      context_, record_kernel(request.library, repeated.kernel, launches, profiled.activity));
}

void GpuCounting::count_groups(const CounterRequest& request, Profiled& profiled) {
  const auto begin = Clock::now();
  ready(request);
  for (const auto& [group, metrics] : request.groups) {
    if (const auto passes = costs_->of(metrics)) profiled.group_passes[group] = *passes;
  }
  profiled.setup_ms += milliseconds_since(begin);
}

void GpuCounting::ready(const CounterRequest& request) {
  if (!costs_) costs_.emplace(request.library);
  for (const auto& [group, metrics] : request.groups) (void)costs_->of(metrics);
}

}  // namespace assay::runner
