// Of GpuTimer::Measurement: N and 2N launches in a graph, whose difference is free of what a launch
// costs; and the host's clock beside their events.
#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <vector>

#include "engine/runner/gpu_measurement.h"
#include "engine/runner/hidden_time.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;

// A graph of N launches lasts about this long, far above an event's resolution of 0.5 us; where two
// kernels are compared by it, longer. 40 launches of 3.5 us are known to 0.5 % each time, less than
// by which their medians differ from one process to the next.
constexpr double kGraphTargetNs = 150'000;
constexpr double kPreciseGraphTargetNs = 400'000;
// A graph goes round places that the L2 holds with room to spare, or round all of them: near its
// size what stays in it is a matter of where the driver has put them.
constexpr std::size_t kShareOfL2 = 4;
constexpr double kMaxGraphLaunches = 64;
constexpr int kRelaxedCapture = 2;
// Of two, a graph would go round one alone, always with the same contents.
constexpr std::size_t kPlacesWithSpare = 3;

double since_ns(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// REQUIRES a bound above 0.
std::uint32_t below(std::uint32_t bound) { return std::random_device{}() % bound; }

}  // namespace

// Which place is spare is drawn: else its address would say what is looked at.
GpuTimer::Round GpuTimer::Measurement::draw_round() const {
  const auto l2 = static_cast<std::size_t>(std::max(context_.attribute(cuda::kL2Bytes), 0));
  const std::size_t room = l2 / kShareOfL2 / std::max<std::size_t>(timer_.place_bytes_, 1);
  const std::size_t all = timer_.places_.size();
  const bool has_spare = all >= kPlacesWithSpare;
  const std::size_t places = has_spare ? all - 1 : all;
  Round round{.places = whole_rounds(
                  static_cast<std::uint32_t>(room >= 2 ? std::min(room, places) : places))};
  if (has_spare) round.spare = below(static_cast<std::uint32_t>(all));
  return round;
}

// Of all contents alike, where there are as many launches or places as that: how long a kernel
// takes may depend on what it works on.
std::uint32_t GpuTimer::Measurement::whole_rounds(std::uint32_t count) const {
  const std::uint32_t held = std::max(contents(), 1U);
  return count < held ? count : count - count % held;
}

std::uint32_t GpuTimer::Measurement::content_of(const Graphs& both, std::uint32_t launch) const {
  return launch % both.round.places % contents();
}

// Of those that have these contents in their turn.
std::optional<std::uint32_t> GpuTimer::Measurement::draw_shown(const Graphs& both,
                                                               std::uint32_t launches) const {
  if (!both.shown_content) return std::nullopt;
  std::vector<std::uint32_t> alike;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (content_of(both, i) == *both.shown_content) alike.push_back(i);
  }
  return alike.at(below(static_cast<std::uint32_t>(alike.size())));
}

// False: this kernel cannot be captured; the outcome's message says why.
bool GpuTimer::Measurement::capture(Graph& graph, std::uint32_t launches, const Graphs& both) {
  const auto shown = draw_shown(both, launches);
  int result = driver_.StreamBeginCapture(context_.stream(), kRelaxedCapture);
  for (std::uint32_t i = 0; i < launches && result == 0; ++i) {
    const TimedRun run{.place = i == shown ? *both.round.spare : both.round.place_of(i),
                       .content = content_of(both, i)};
    if (both.renews_each) result = restore(run);
    if (result == 0) result = launch(run.place);
  }
  const int ended = driver_.StreamEndCapture(context_.stream(), &graph.graph);
  if (result == 0) result = ended;
  if (result == 0) result = driver_.GraphInstantiate(&graph.executable, graph.graph, 0);
  if (result != 0) graph_failure_ = driver_.text(result);
  return result == 0;
}

int GpuTimer::Measurement::queue_graph(const Graph& graph, const EventPair& events) const {
  const cuda::Handle stream = context_.stream();
  if (const int result = driver_.EventRecord(events.start, stream); result != 0) return result;
  if (const int result = driver_.GraphLaunch(graph.executable, stream); result != 0) {
    return result;
  }
  return driver_.EventRecord(events.stop, stream);
}

// In a comparison, and where what a graph's launches leave is looked at.
std::optional<std::uint32_t> GpuTimer::Measurement::shown_content(const Graphs& of) const {
  if (plan_.runs.empty() || !of.round.spare) return std::nullopt;
  const TimedRun& run = plan_.runs.front();
  const bool has_it = run.content < std::min(of.round.places, of.launches);
  return has_it && (run.keep || plan_.precise || plan_.renews_each) ? std::optional(run.content)
                                                                    : std::nullopt;
}

// Those of the turn before, if it was of the same work, and nobody is to look at what one of them
// leaves: who has met a launch that works elsewhere is not to know it again. nullptr if it cannot
// be captured.
std::unique_ptr<GpuTimer::Graphs> GpuTimer::Measurement::graphs() {
  const double target = plan_.precise ? kPreciseGraphTargetNs : kGraphTargetNs;
  const std::string identity = work_.identity();
  const bool is_kept = !plan_.runs.empty() && plan_.runs.front().keep;
  auto kept = std::move(timer_.graphs_);
  if (kept && !identity.empty() && kept->identity == identity && kept->target_ns == target &&
      kept->shown_content == shown_content(*kept) && kept->renews_each == plan_.renews_each &&
      !is_kept) {
    return kept;
  }
  kept.reset();
  auto made = std::make_unique<Graphs>(driver_);
  made->identity = identity;
  made->target_ns = target;
  made->launches = whole_rounds(static_cast<std::uint32_t>(
      std::clamp(target / std::max(typical_ns_, 500.0), 2.0, kMaxGraphLaunches)));
  made->round = draw_round();
  made->renews_each = plan_.renews_each;
  made->shown_content = shown_content(*made);
  if (!capture(made->once, made->launches, *made) ||
      !capture(made->twice, 2 * made->launches, *made)) {
    return nullptr;
  }
  return made;
}

int GpuTimer::Measurement::begin_shown(const Graphs& both) const {
  if (!both.shown_content) return cuda::kSuccess;
  return restore({.place = *both.round.spare, .content = *both.shown_content});
}

// One behind the other, so that no launch latency stands between them.
int GpuTimer::Measurement::time_slopes(const Graphs& both, std::size_t count, Wall& wall) {
  for (std::size_t i = 0; i < count; ++i) {
    for (const bool is_twice : {false, true}) {
      int result = begin_shown(both);
      if (result == cuda::kSuccess) {
        result = queue_graph(is_twice ? both.twice : both.once, timer_.events_[2 * i + is_twice]);
      }
      if (result != cuda::kSuccess) return result;
    }
  }
  if (const int result = wait(); result != 0) return result;
  for (std::size_t i = 0; i < count; ++i) {
    const double once_ns = elapsed_ns(timer_.events_[2 * i]);
    const double twice_ns = elapsed_ns(timer_.events_[2 * i + 1]);
    timed_.samples_ns.push_back((twice_ns - once_ns) / both.launches);
    timed_.once_ns.push_back(once_ns);
    wall.events_ns += once_ns + twice_ns;
    wall.launches += std::uint64_t{3} * both.launches;
  }
  return cuda::kSuccess;
}

// Behind a first launch: caches are as a launch before leaves them.
int GpuTimer::Measurement::time_stretch(const Graphs& both, Wall& wall) {
  const auto begin = Clock::now();
  const EventPair& before = timer_.events_.back();
  if (const int result = begin_shown(both); result != 0) return result;
  if (const int result = queue_graph(both.once, before); result != 0) return result;
  while (timed_.samples_ns.size() < plan_.runs.size()) {
    const std::size_t left = plan_.runs.size() - timed_.samples_ns.size();
    const int result = time_slopes(both, std::min(left, kBatch / 2 - 1), wall);
    if (result != cuda::kSuccess) return result;
  }
  if (plan_.runs.empty()) return wait();
  wall.wall_ns = since_ns(begin);
  wall.events_ns += elapsed_ns(before);
  wall.launches += both.launches;
  return cuda::kSuccess;
}

// By how much less the events of a graph's launch say than the host's clock.
int GpuTimer::Measurement::look_at(const Graph& graph, double& beside_ns) {
  const auto begin = Clock::now();
  int result = queue_graph(graph, timer_.events_.front());
  if (result == cuda::kSuccess) result = wait();
  if (result == cuda::kSuccess) beside_ns = since_ns(begin) - elapsed_ns(timer_.events_.front());
  return result;
}

int GpuTimer::Measurement::look_for_hidden(const Graphs& both, Wall& wall) {
  const double slope_ns = timed_.samples_ns.empty() ? 0 : timed_.samples_ns.back();
  HiddenTime hidden(both.launches, slope_ns);
  while (hidden.goes_on()) {
    double once_ns = 0;
    double twice_ns = 0;
    int result = look_at(both.once, once_ns);
    if (result == cuda::kSuccess) result = look_at(both.twice, twice_ns);
    if (result != cuda::kSuccess) return result;
    hidden.note(once_ns, twice_ns);
    wall.hidden_ns = hidden.ns();
  }
  return cuda::kSuccess;
}

// What a launch of the longer graph has left in the spare place; where there is none, what the last
// has left in the place that began with those contents.
int GpuTimer::Measurement::hand_back(const Graphs& both) const {
  const std::uint32_t content = plan_.runs.front().content;
  const std::uint32_t place = both.shown_content ? *both.round.spare : both.round.place_of(content);
  const TimedRun run{.place = place, .content = content};
  if (!both.shown_content && content >= std::min(both.round.places, 2 * both.launches)) {
    throw std::runtime_error("no place of the graph begins with the contents to hand back");
  }
  if (timer_.arenas_.at(content)->bytes().empty()) return queue_handing_back(run);
  if (const int result = wait(); result != cuda::kSuccess) return result;
  hand_back_to_host(run);
  return cuda::kSuccess;
}

int GpuTimer::Measurement::time_graph() {
  auto both = graphs();
  if (!both) {
    timed_.launches = 0;
    timed_.note = "graph capture failed: " + graph_failure_;
    return cuda::kSuccess;
  }
  timed_.launches = both->launches;
  // A graph goes round places that no run may have met, each with other contents than the one
  // before it: a kernel that answers the last contents once more gains nothing.
  const std::uint32_t met = std::min(both->round.places, 2 * both->launches);
  for (std::uint32_t i = 0; i < met && !plan_.runs.empty(); ++i) {
    const int result = restore({.place = both->round.place_of(i), .content = content_of(*both, i)});
    if (result != cuda::kSuccess) return result;
  }
  // Else the first launch of a graph would upload it.
  for (const Graph* graph : {&both->once, &both->twice}) {
    const int result = driver_.GraphUpload(graph->executable, context_.stream());
    if (result != cuda::kSuccess) return result;
  }
  Wall& wall = timed_.wall.emplace();
  if (const int result = time_stretch(*both, wall); result != cuda::kSuccess) return result;
  if (HiddenTime::is_suspected(wall)) {
    if (const int result = look_for_hidden(*both, wall); result != cuda::kSuccess) return result;
  }
  if (!plan_.runs.empty() && plan_.runs.front().keep) {
    if (const int result = hand_back(*both); result != cuda::kSuccess) return result;
  }
  if (!both->identity.empty()) timer_.graphs_ = std::move(both);
  return cuda::kSuccess;
}

}  // namespace assay::runner
