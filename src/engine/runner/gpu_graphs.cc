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
constexpr const char* kCaptureFailed = "graph capture failed: ";

double since_ns(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

// REQUIRES a bound above 0.
std::uint32_t below(std::uint32_t bound) { return std::random_device{}() % bound; }

}  // namespace

std::uint32_t GpuTimer::Measurement::graph_places() const {
  const auto l2 = static_cast<std::size_t>(std::max(context_.attribute(cuda::kL2Bytes), 0));
  const std::size_t room = l2 / kShareOfL2 / std::max<std::size_t>(timer_.place_bytes_, 1);
  const std::size_t places = timer_.places_.size();
  // All contents are in a graph, where there are places for them.
  const std::size_t wanted = room >= 2 ? std::max<std::size_t>(room, contents()) : places;
  return whole_rounds(static_cast<std::uint32_t>(std::min(wanted, places)));
}

// Of all contents alike, where there are as many launches or places as that: how long a kernel
// takes may depend on what it works on.
std::uint32_t GpuTimer::Measurement::whole_rounds(std::uint32_t count) const {
  const std::uint32_t held = std::max(contents(), 1U);
  return count < held ? count : count - count % held;
}

TimedRun GpuTimer::Measurement::run_of(std::uint32_t launch, std::uint32_t places) const {
  return {.place = launch % places, .content = launch % places % contents()};
}

// Where what a launch leaves is looked at, or where all are made as if it were.
std::optional<std::uint32_t> GpuTimer::Measurement::shown_content() const {
  const auto is_kept = [](const TimedRun& run) { return run.keep; };
  const bool is_looked_at =
      plan_.renews_each || std::any_of(plan_.runs.begin(), plan_.runs.end(), is_kept);
  if (plan_.runs.empty() || !is_looked_at) return std::nullopt;
  return plan_.runs.front().content;
}

// Any of those with these contents, in a place that begins anew somewhere since it was met before.
GpuTimer::Shown GpuTimer::Measurement::draw_shown(std::uint32_t content,
                                                  std::uint32_t launches) const {
  const std::uint32_t places = graph_places();
  std::vector<std::uint32_t> alike;
  for (std::uint32_t i = 0; i < launches; ++i) {
    if (run_of(i, places).content == content) alike.push_back(i);
  }
  if (alike.empty()) throw std::runtime_error("no place of a graph begins with those contents");
  const std::uint32_t launch = alike.at(below(static_cast<std::uint32_t>(alike.size())));
  return {.launch = launch, .renewed_before = launch - below(std::min(launch + 1, places))};
}

// As restore() does, but at the same cost for both sides of a comparison, whoever needs how much
// scratch of what a place has.
int GpuTimer::Measurement::renew(const TimedRun& run) const {
  const cuda::Address place = timer_.places_.at(run.place);
  const std::size_t arena_bytes = timer_.arenas_.at(run.content)->size();
  const int copied = driver_.MemcpyDtoDAsync(place, timer_.contents_.at(run.content)->address(),
                                             arena_bytes, context_.stream());
  if (copied != cuda::kSuccess || timer_.place_bytes_ <= arena_bytes) return copied;
  return driver_.MemsetD8Async(place + arena_bytes, 0, timer_.place_bytes_ - arena_bytes,
                               context_.stream());
}

cuda::Address GpuTimer::Measurement::left_by(bool is_shown) const {
  return timer_.left_->address() + (is_shown ? 0 : timer_.left_->bytes() / 2);
}

// Where each has its contents anew, each is copied from: what is done before and behind the one
// that is shown is done before and behind all.
int GpuTimer::Measurement::queue_launch(std::uint32_t which,
                                        const std::optional<Shown>& shown) const {
  const std::uint32_t places = graph_places();
  const TimedRun run = run_of(which, places);
  int result = cuda::kSuccess;
  if (plan_.renews_each) {
    result = renew(run);
  } else if (shown && shown->renewed_before == which) {
    result = renew(run_of(shown->launch, places));
  }
  if (result == cuda::kSuccess) result = launch(run.place);
  const bool is_shown = shown && shown->launch == which;
  if (result != cuda::kSuccess || !(plan_.renews_each || is_shown)) return result;
  // Both halves alike until then, and the one that is handed back never again.
  const bool to_shown = is_shown || (which < shown->launch && which % 2 == 0);
  return driver_.MemcpyDtoDAsync(left_by(to_shown), timer_.places_.at(run.place),
                                 timer_.arenas_.at(run.content)->size(), context_.stream());
}

// False: this kernel cannot be captured; the outcome's message says why.
bool GpuTimer::Measurement::capture(Graph& graph, std::uint32_t launches) {
  std::optional<Shown> shown;
  if (const auto content = shown_content()) shown = draw_shown(*content, launches);
  int result = driver_.StreamBeginCapture(context_.stream(), kRelaxedCapture);
  for (std::uint32_t i = 0; i < launches && result == 0; ++i) {
    result = queue_launch(i, shown);
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

double GpuTimer::Measurement::target_ns() const {
  return plan_.precise ? kPreciseGraphTargetNs : kGraphTargetNs;
}

// By what the engine has seen of the kernel, that of the warm-up only if it has seen nothing: one
// that spins there would have so few of them that a graph's own cost is most of it.
std::uint32_t GpuTimer::Measurement::wanted_launches() const {
  const double typical_ns = plan_.typical_ns > 0 ? plan_.typical_ns : typical_ns_;
  // Both graphs are of all contents: they may take as different times as they like.
  const double least = std::max(contents(), 2U);
  return whole_rounds(static_cast<std::uint32_t>(
      std::clamp(target_ns() / std::max(typical_ns, 500.0), least, kMaxGraphLaunches)));
}

// False: there is none.
bool GpuTimer::Measurement::make_room_for_left() {
  const std::size_t bytes = 2 * timer_.arenas_.at(plan_.runs.front().content)->size();
  if (timer_.left_ && timer_.left_->bytes() >= bytes) return true;
  timer_.left_.reset();
  try {
    timer_.left_ = std::make_unique<GpuMapping>(context_, bytes, GpuMapping::For::own);
  } catch (const cuda::DriverError& error) {
    graph_failure_ = error.what();
  }
  return timer_.left_ != nullptr;
}

// nullptr if it cannot be captured.
std::unique_ptr<GpuTimer::Graphs> GpuTimer::Measurement::new_graphs() {
  auto made = std::make_unique<Graphs>(driver_);
  made->identity = work_.identity();
  made->target_ns = target_ns();
  made->launches = wanted_launches();
  if (shown_content() && !make_room_for_left()) return nullptr;
  const bool is_captured =
      capture(made->once, made->launches) && capture(made->twice, 2 * made->launches);
  return is_captured ? std::move(made) : nullptr;
}

// Those of a turn before, if it was of the same work. Of as many launches as are wanted now, or
// nearly: by the turns that it was captured behind, the kernel may have been as slow as it liked.
// Where a launch is shown, it is drawn for each turn.
std::unique_ptr<GpuTimer::Graphs> GpuTimer::Measurement::graphs() {
  if (shown_content()) return new_graphs();
  const std::string identity = work_.identity();
  auto kept = std::move(timer_.graphs_);
  const bool is_of_this = kept && !identity.empty() && kept->identity == identity;
  if (is_of_this && kept->target_ns == target_ns() && 2 * kept->launches >= wanted_launches()) {
    return kept;
  }
  kept.reset();
  return new_graphs();
}

// Of work that has no identity, a graph names what does not last.
std::string GpuTimer::Measurement::capture_ahead() {
  const bool is_known = plan_.view == TimingView::graph && plan_.typical_ns > 0;
  if (!is_known || plan_.fresh || shown_content() || work_.identity().empty()) return {};
  timer_.graphs_ = graphs();
  return graph_failure_.empty() ? std::string() : kCaptureFailed + graph_failure_;
}

// One behind the other, so that no launch latency stands between them.
int GpuTimer::Measurement::time_slopes(const Graphs& both, std::size_t count, Wall& wall) {
  for (std::size_t i = 0; i < count; ++i) {
    int result = queue_graph(both.once, timer_.events_[2 * i]);
    if (result == cuda::kSuccess) result = queue_graph(both.twice, timer_.events_[2 * i + 1]);
    const TimedRun& run = plan_.runs.at(timed_.samples_ns.size() + i);
    if (result == cuda::kSuccess && run.keep) result = hand_back_left(run);
    if (result != cuda::kSuccess) return result;
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

// What the launch that is shown has left, behind the longer graph of any repetition.
int GpuTimer::Measurement::hand_back_left(const TimedRun& run) const {
  const Arena& arena = *timer_.arenas_.at(run.content);
  if (arena.bytes().empty()) {
    return driver_.MemcpyDtoDAsync(arena.address(), left_by(true), arena.size(), context_.stream());
  }
  if (const int result = wait(); result != cuda::kSuccess) return result;
  driver_.check(driver_.MemcpyDtoH(arena.bytes().data(), left_by(true), arena.size()),
                "handing back");
  return cuda::kSuccess;
}

int GpuTimer::Measurement::time_graph() {
  auto both = graphs();
  if (!both) {
    timed_.launches = 0;
    timed_.note = kCaptureFailed + graph_failure_;
    return cuda::kSuccess;
  }
  timed_.launches = both->launches;
  // A graph goes round places that no run may have met, each with other contents than the one
  // before it: a kernel that answers the last contents once more gains nothing.
  const std::uint32_t places = graph_places();
  const std::uint32_t met = std::min(places, 2 * both->launches);
  for (std::uint32_t i = 0; i < met && !plan_.runs.empty(); ++i) {
    if (const int result = restore(run_of(i, places)); result != cuda::kSuccess) return result;
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
  if (!both->identity.empty() && !shown_content()) timer_.graphs_ = std::move(both);
  return cuda::kSuccess;
}

}  // namespace assay::runner
