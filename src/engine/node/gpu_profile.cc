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

using Clock = std::chrono::steady_clock;

// Beside the job's timeout: reading what the chip counts, and starting each pass.
constexpr std::chrono::seconds kSetUp{5};
// Dozens of passes over a kernel of some milliseconds.
constexpr std::chrono::seconds kMostCounting{60};

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

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

TimingFacts timing_facts(const json& timed, const char* views, const char* samples) {
  TimingFacts facts;
  if (const auto found = timed.find(samples); found != timed.end() && !found->empty()) {
    auto sorted = found->get<std::vector<double>>();
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    facts.cold_ns = *middle;
  }
  const auto found = timed.find(views);
  if (found == timed.end()) return facts;
  // A slope of launches that find their work done is no kernel's time.
  const bool graph_counts = timed.value("graph_counts", true);
  for (const std::string_view view : {"graph", "warm"}) {
    if (facts.kernel_ns || !found->contains(view) || (view == "graph" && !graph_counts)) continue;
    const auto median = found->at(view).find("median_ns");
    if (median != found->at(view).end()) facts.kernel_ns = median->get<double>();
  }
  if (timed.contains("event_overhead_ns")) {
    facts.event_overhead_ns = timed.at("event_overhead_ns").get<double>();
  }
  return facts;
}

// What the manual calls original is the reference, or the one kernel there is.
void tell_of_kernel(json measured, bool has_reference, json& metrics, json& warnings) {
  if (measured.contains("unavailable")) {
    warnings.push_back(
        {{"code", "no_counters"},
         {"message", "No hardware counters: " + measured.at("unavailable").get<std::string>()}});
  }
  metrics[has_reference ? "custom_device_metrics" : "original_device_metrics"] =
      std::move(measured);
}

Counted GpuProfile::count(const Ask& load_and_ask) {
  KernelSession session(pool_.take_counting(), RunnerRole::gpu_kernel, "/kernel", stop_);
  const auto counted = load_and_ask(session);
  const auto* ended = std::get_if<Ended>(&counted);
  if (ended != nullptr && may_go_on(*ended) && !session.end()) has_left_running_ = true;
  used_.push_back(session.release());
  if (ended != nullptr) return {.missing = ended->summary};
  return std::get<Counted>(counted);
}

std::variant<Counted, Ended> GpuProfile::ask(KernelSession& session, const Fill& fill,
                                             const CounterOrder& order) {
  has_counted_ = true;
  auto arena = fill();
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  return session.profile(std::move(std::get<LentArena>(arena)), order);
}

Counted GpuProfile::count(const KernelSource& source, const Program& program,
                          const contract::Contract& judged, const CounterOrder& order,
                          std::string& entry) {
  const auto asked = Clock::now();
  return count([&](KernelSession& session) -> std::variant<Counted, Ended> {
    auto loaded = session.load(source, program, judged, referee_.places());
    runner_ms_ = milliseconds_since(asked);
    if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
    entry = std::get<Loaded>(loaded).entry;
    if (order.metrics.empty()) return Counted{};
    return ask(
        session, [this] { return referee_.fill(0); }, order);
  });
}

// Which launch takes the most time is to be seen even where nothing is counted of it.
Counted GpuProfile::count(const LiftedSequence& sequence, const Fill& fill,
                          const CounterOrder& order) {
  const auto asked = Clock::now();
  return count([&](KernelSession& session) -> std::variant<Counted, Ended> {
    auto loaded = session.load_sequence(sequence.body, sequence.blob);
    runner_ms_ = milliseconds_since(asked);
    if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
    return ask(session, fill, order);
  });
}

CounterOrder GpuProfile::order(const std::vector<std::string>& sections) const {
  CounterOrder order{.library = cupti_,
                     .metrics = counters_of(sections),
                     .limit = std::min<std::chrono::nanoseconds>(timeout_ + kSetUp, kMostCounting)};
  for (const auto& section : sections) {
    if (auto own = counters_of({section}); !own.empty()) order.groups[section] = std::move(own);
  }
  return order;
}

json GpuProfile::measure(const KernelSource& source, const Program& program,
                         const contract::Contract& judged, const std::vector<std::string>& sections,
                         const TimingFacts& timing) {
  std::string entry;
  const Counted counted = count(source, program, judged, order(sections), entry);
  const LaunchFacts launch = launch_facts(source, program, entry, pool_.gpu());
  return tell(counted, {.judged = judged,
                        .sections = sections,
                        .launch = launch,
                        .timing = timing,
                        .whole_ns = timing.kernel_ns});
}

json GpuProfile::measure(const LiftedSequence& sequence, const Fill& fill,
                         const contract::Contract& judged, const std::vector<std::string>& sections,
                         const TimingFacts& timing) {
  Counted counted = count(sequence, fill, order(sections));
  auto launch = counted.launch ? lifted_launch(sequence, *counted.launch) : std::nullopt;
  if (!launch) {
    // Of which launch they would be nobody can say.
    counted.values.clear();
    if (counted.missing.empty()) counted.missing = "the runner named no launch of it";
    launch.emplace();
  }
  add_limits(launch->facts, pool_.gpu());
  TimingFacts alone = timing;
  if (launch->alone_ns) {
    const auto duration = counted.values.find("gpu__time_duration.sum");
    alone.kernel_ns = duration != counted.values.end()
                          ? duration->second
                          : *launch->alone_ns - timing.event_overhead_ns.value_or(0);
    alone.cold_ns = launch->alone_ns;
  }
  json out = tell(counted, {.judged = judged,
                            .sections = sections,
                            .launch = launch->facts,
                            .timing = alone,
                            .whole_ns = timing.kernel_ns});
  if (launch->facts.grid_blocks == 0) {
    for (const char* key : {"limiter", "basis", "confidence", "facts", "suggestion"}) {
      out.erase(key);
    }
  }
  out.update(launch->told);
  return out;
}

json GpuProfile::tell(const Counted& counted, const Known& known) const {
  json out = tell_metrics(known.sections, counted.values, known.launch);
  if (!counted.values.empty() || counters_of(known.sections).empty()) {
    json gaps = tell_gaps(out, counted.values,
                          {.refused = counted.refused, .without_value = counted.without_value},
                          known.launch);
    if (!gaps.empty()) out["why_null"] = std::move(gaps);
    out["sections"] = tell_costs(known.sections, counted);
  }
  const json& device = pool_.gpu().facts;
  const auto recorded = recorded_median(counted.recorded);
  const Traffic traffic =
      traffic_of(device, known.judged, known.whole_ns, recorded ? recorded : known.timing.cold_ns);
  out.update(limiter_of(counted.values, known.launch, known.timing, traffic));
  out.update(tell_cost(counted));
  if (!counted.values.empty()) out["runner_ms"] = tenths(runner_ms_);
  if (!counted.missing.empty()) out["activity"] = tell_activity(counted.recorded);
  out.update(tell_roof(device, traffic));
  return out;
}

}  // namespace assay::node
