#include "engine/node/gpu_profile.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/node/kernel_session.h"
#include "engine/node/launch_resources.h"
#include "engine/node/roof.h"

namespace assay::node {
namespace {

using nlohmann::json;

double tenths(double ms) { return std::round(10 * ms) / 10; }

// What each section would have cost by itself: its own passes, each as long as those that were
// made.
json tell_costs(const std::vector<std::string>& sections, const Counted& counted) {
  json out = json::object();
  const double pass_ms =
      counted.passes > 0 ? counted.counting_ms / static_cast<double>(counted.passes) : 0;
  for (const auto& section : sections) {
    const auto found = counted.group_passes.find(section);
    if (found == counted.group_passes.end() && !counters_of({section}).empty()) continue;
    const std::size_t passes = found != counted.group_passes.end() ? found->second : 0;
    out[section] = {{"passes", passes},
                    {"counting_ms", tenths(static_cast<double>(passes) * pass_ms)}};
  }
  return out;
}

json tell_cost(const Counted& counted) {
  json out = json::object();
  if (!counted.values.empty()) {
    out = {{"passes", counted.passes},
           {"setup_ms", tenths(counted.setup_ms)},
           {"counting_ms", tenths(counted.counting_ms)}};
  }
  if (!counted.missing.empty()) out["unavailable"] = counted.missing;
  if (!counted.refused.empty()) out["refused"] = counted.refused;
  return out;
}

std::optional<double> recorded_median(const RecordedLaunches& recorded) {
  if (recorded.ns.empty()) return std::nullopt;
  std::vector<double> sorted = recorded.ns;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

// What CUPTI tells without any counter.
json tell_activity(const RecordedLaunches& recorded) {
  if (recorded.ns.empty()) return {{"unavailable", recorded.missing}};
  json out = recorded.facts;
  out["launches"] = recorded.ns.size();
  out["median_ns"] = *recorded_median(recorded);
  out["min_ns"] = *std::min_element(recorded.ns.begin(), recorded.ns.end());
  out["note"] = "Launches with cold caches, from the device's own begin to its end of each.";
  return out;
}

}  // namespace

Counted GpuProfile::count(const KernelSource& source, const Program& program,
                          const contract::Contract& judged, const CounterOrder& order,
                          std::string& entry) {
  const auto asked = std::chrono::steady_clock::now();
  KernelSession session(pool_.take_counting(), RunnerRole::gpu_kernel, "/kernel", stop_);
  const auto counted = [&]() -> std::variant<Counted, Ended> {
    auto loaded = session.load(source, program, judged, referee_.places());
    runner_ms_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - asked).count();
    if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
    entry = std::get<Loaded>(loaded).entry;
    if (order.metrics.empty()) return Counted{};
    has_counted_ = true;
    auto arena = referee_.fill(0);
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    return session.profile(std::move(std::get<LentArena>(arena)), order);
  }();
  used_.push_back(session.release());
  if (const auto* ended = std::get_if<Ended>(&counted)) return {.missing = ended->summary};
  return std::get<Counted>(counted);
}

json GpuProfile::measure(const KernelSource& source, const Program& program,
                         const contract::Contract& judged, const std::vector<std::string>& sections,
                         const TimingFacts& timing) {
  CounterOrder order{.library = cupti_, .metrics = counters_of(sections)};
  for (const auto& section : sections) {
    if (auto own = counters_of({section}); !own.empty()) order.groups[section] = std::move(own);
  }
  std::string entry;
  const Counted counted = count(source, program, judged, order, entry);
  const LaunchFacts launch = launch_facts(source, program, entry, pool_.gpu());
  json out = tell_metrics(sections, counted.values, launch);
  if (!counted.values.empty() || order.metrics.empty()) {
    json gaps =
        tell_gaps(out, counted.values,
                  {.refused = counted.refused, .without_value = counted.without_value}, launch);
    if (!gaps.empty()) out["why_null"] = std::move(gaps);
    out["sections"] = tell_costs(sections, counted);
  }
  const json& device = pool_.gpu().facts;
  const auto recorded = recorded_median(counted.recorded);
  const Traffic traffic =
      traffic_of(device, judged, timing.kernel_ns, recorded ? recorded : timing.cold_ns);
  out.update(limiter_of(counted.values, launch, timing, traffic));
  out.update(tell_cost(counted));
  if (!counted.values.empty()) out["runner_ms"] = tenths(runner_ms_);
  if (!counted.missing.empty()) out["activity"] = tell_activity(counted.recorded);
  out.update(tell_roof(device, traffic));
  return out;
}

}  // namespace assay::node
