#include "engine/node/python_timing.h"

#include <sys/random.h>

#include <algorithm>
#include <map>

#include "engine/node/ratio.h"
#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kPageBytes = 4096;
// All contents of a turn together: more takes longer to make than it gains.
constexpr std::uint64_t kTurnBytes = 8ULL << 20;
// Likewise on a device, where calls share them; two at least: one is the last call's alone.
constexpr std::uint64_t kDeviceTurnBytes = 16ULL << 20;
constexpr std::uint64_t kMostStretches = 4;
static_assert(kMostStretches <= kTurnSlots.count && kMostStretches <= kReferenceTurnSlots.count);
// Enough for the slope of a short call to stand out of what a turn costs besides.
constexpr std::uint32_t kMostCalls = 48;
static_assert(2 * kMostCalls <= kTurnSlots.count);
// What a turn costs besides its calls varies by about a tenth of a millisecond.
constexpr std::chrono::milliseconds kTurn{10};
constexpr std::uint32_t kLeastRounds = 3;
constexpr std::uint32_t kUsualRounds = 5;
constexpr std::uint32_t kMostRounds = 12;
// On a busy host the slope of a short call may come out as less than nothing, round after round: a
// ratio takes two that do not.
constexpr std::uint32_t kMoreRounds = 12;
constexpr std::size_t kLeastSamples = 2;
constexpr std::chrono::seconds kBudget{2};
// What making inputs may take of the least rounds, and of the time that is left for making them.
constexpr std::chrono::seconds kMakingBudget{5};
constexpr std::int64_t kMakingShare = 2;
constexpr std::uint32_t kExaminedPerTurn = 2;
// Between the last answer and the question whether all is quiet.
constexpr std::chrono::milliseconds kPause{40};
constexpr std::chrono::milliseconds kRestlessCpu{10};
// In all turns of the reference: threads that wait use none (python_zygote.cc).
constexpr std::chrono::milliseconds kLeastAside{4};
constexpr double kMostAside = 0.1;
// Of one core: what the interpreter's own threads might add is far below.
constexpr double kMostCores = 1.3;
constexpr nanoseconds kLeastWall = std::chrono::milliseconds(20);

std::uint64_t whole_pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

std::uint32_t random_below(std::uint32_t bound) {
  std::uint32_t value = 0;
  if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) return 0;
  return value % bound;
}

// Whether threads of the kernel's that should have waited did.
json quiet(const char* check, nanoseconds used, nanoseconds wall, const std::string& when,
           const char* message) {
  const auto told_us = [](nanoseconds time) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
  };
  const bool worked = used > kLeastAside && used > wall * kMostAside;
  json item = {{"check", check},
               {"result", worked ? "disagrees" : "agrees"},
               {"detail", told_us(used) + " us of CPU in " + told_us(wall) + " us " + when}};
  if (worked) item.update({{"which", "kernel"}, {"message", message}});
  return item;
}

// N: as many as make a turn stand out, as fit in memory, and at least one.
std::uint32_t calls_of(const PythonTiming::Plan& plan, std::uint64_t stride_bytes) {
  const auto in_time = kTurn / std::max(plan.typical, nanoseconds(1));
  const auto in_memory = static_cast<std::int64_t>(kTurnBytes / stride_bytes / 2);
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(std::min(in_time, in_memory), 1, kMostCalls));
}

}  // namespace

PythonTiming::PythonTiming(RefereeSession& referee, PythonInputs& inputs, PythonSession& kernel,
                           PythonSession* reference, Plan plan, Judge judge,
                           nanoseconds& execution_left)
    : referee_(referee),
      inputs_(inputs),
      kernel_(kernel),
      reference_(reference),
      plan_(plan),
      judge_(std::move(judge)),
      execution_left_(execution_left),
      stride_bytes_(whole_pages(plan.arena_bytes)),
      calls_(calls_of(plan, stride_bytes_)),
      stretches_(static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(kDeviceTurnBytes / stride_bytes_, 2, kMostStretches))),
      next_trial_(plan.first_trial) {
  if (!plan_.on_device) spare_inputs();
}

// Each call has contents of its own: where a source takes long to make them, turns have fewer
// calls.
void PythonTiming::spare_inputs() {
  const InputTime making = inputs_.time();
  if (making.fastest <= nanoseconds(0) || making.fastest == nanoseconds::max()) return;
  const auto spent_on = std::min<nanoseconds>(kMakingBudget, making.left / kMakingShare);
  // Turns of N and of 2N calls in each round, and in one to warm up.
  const auto most = spent_on / (making.fastest * 3 * (kLeastRounds + 1));
  if (most >= static_cast<std::int64_t>(calls_)) return;
  calls_ = static_cast<std::uint32_t>(std::max<std::int64_t>(most, 1));
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(making.fastest).count();
  fewer_calls_ = "get_inputs() takes " + std::to_string(ms) +
                 " ms, and each timed call has inputs of its own: turns have only " +
                 std::to_string(calls_) + " and " + std::to_string(2 * calls_) +
                 " calls, so times vary more. A contract (io) makes inputs faster.";
}

PythonTiming::Step PythonTiming::take_contents(std::uint32_t calls) {
  contents_.clear();
  trials_.clear();
  inputs_.forget();
  if (plan_.lent_on_device) {
    // The referee fills its own arenas, each time anew.
    while (trials_.size() < calls) trials_.push_back(next_trial_++);
    return std::nullopt;
  }
  for (std::uint32_t i = 0; i < calls; ++i) {
    auto arena = inputs_.fill(next_trial_, kTurnSlots.slot(i));
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    contents_.push_back(posix::SharedMemory::adopt(std::move(std::get<LentArena>(arena).descriptor),
                                                   plan_.arena_bytes));
    trials_.push_back(next_trial_++);
  }
  return std::nullopt;
}

// The memory holds room for 2N calls in every turn: mapping it must cost the same in each.
std::variant<PythonSession::Turn, Ended> PythonTiming::time(PythonSession& session,
                                                            const posix::SharedMemory& memory,
                                                            std::uint32_t calls) {
  for (std::uint32_t i = 0; i < calls; ++i) {
    const auto from = contents_[i].bytes();
    std::copy(from.begin(), from.end(),
              memory.bytes().begin() + static_cast<std::ptrdiff_t>(i * stride_bytes_));
  }
  return session.time(
      {.descriptor = memory.descriptor().duplicate(), .bytes = memory.bytes().size()},
      {.calls = calls,
       .contents = 2 * calls_,
       .stride_bytes = stride_bytes_,
       .seed = inputs_.seed(trials_.front())},
      execution_left_);
}

PythonTiming::Step PythonTiming::turn(std::uint32_t calls, Walls& walls) {
  if (auto ended = take_contents(calls)) return ended;
  const std::uint64_t bytes = 2 * calls_ * stride_bytes_;
  std::optional<posix::SharedMemory> of_reference;
  if (reference_ != nullptr) {
    of_reference = posix::SharedMemory::create("assay-turn", bytes);
    auto timed = beside_kernel([&] { return time(*reference_, *of_reference, calls); });
    if (auto* ended = std::get_if<Ended>(&timed)) return about_reference(std::move(*ended));
    walls.reference = std::get<PythonSession::Turn>(timed).wall;
  }
  const auto memory = posix::SharedMemory::create("assay-turn", bytes);
  auto timed = time(kernel_, memory, calls);
  if (auto* ended = std::get_if<Ended>(&timed)) return about_kernel(std::move(*ended));
  auto& said = std::get<PythonSession::Turn>(timed);
  walls.kernel = said.wall;
  kernel_wall_ += said.wall;
  kernel_cpu_ += said.cpu;
  if (!said.claims.patched.empty()) patched_ = std::move(said.claims.patched);
  timed_calls_ += calls;
  return examine(calls, memory, of_reference ? &*of_reference : nullptr);
}

// The last one always, and first: what was put off is done last.
std::vector<std::uint32_t> PythonTiming::choose(std::uint32_t contents) const {
  std::vector<std::uint32_t> chosen{contents - 1};
  while (chosen.size() < std::min(kExaminedPerTurn, contents)) {
    const std::uint32_t index = random_below(contents);
    if (std::find(chosen.begin(), chosen.end(), index) == chosen.end()) chosen.push_back(index);
  }
  return chosen;
}

// `calls`: as many as there are contents.
PythonTiming::Step PythonTiming::examine(std::uint32_t calls, const posix::SharedMemory& kernel,
                                         const posix::SharedMemory* reference) {
  const auto of_call = [this](const posix::SharedMemory& memory, std::uint32_t index) {
    return memory.bytes().subspan(index * stride_bytes_, plan_.arena_bytes);
  };
  // What it left is taken before anything else is done: the memory is still its own to write to.
  std::map<std::uint32_t, std::vector<std::byte>> left;
  const auto chosen = choose(calls);
  for (const std::uint32_t index : chosen) {
    const auto from = of_call(kernel, index);
    left.try_emplace(index, from.begin(), from.end());
  }
  for (const std::uint32_t index : chosen) {
    std::optional<Bytes> expected;
    if (reference != nullptr) expected = of_call(*reference, index);
    if (auto ended = examine_one(index, left.at(index), expected)) return ended;
  }
  return std::nullopt;
}

PythonTiming::Step PythonTiming::examine_one(std::uint32_t index, Bytes kernel,
                                             std::optional<Bytes> reference) {
  const std::uint32_t slot = kTurnSlots.slot(index);
  const auto put_in = [&](Bytes bytes) {
    std::copy(bytes.begin(), bytes.end(), contents_[index].bytes().begin());
  };
  if (reference) {
    put_in(*reference);
    auto answer = referee_.expect(slot);
    if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  }
  put_in(kernel);
  auto answer = referee_.check(slot);
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  ++examined_;
  return judge_(trials_[index], std::get<json>(answer));
}

// What a turn costs besides its calls follows from the turns of the reference, where there is one:
// a source that makes its own turns of N calls longer, and so its slope smaller, gains nothing.
PythonTiming::CallTimes PythonTiming::call_times(const Walls& once, const Walls& twice) const {
  const auto per_call = [&](nanoseconds turn, nanoseconds beside) {
    return static_cast<double>((turn - beside).count()) / (2.0 * calls_);
  };
  if (reference_ == nullptr) {
    return {.kernel_ns = per_call(twice.kernel, 2 * once.kernel - twice.kernel)};
  }
  const nanoseconds beside = 2 * once.reference - twice.reference;
  return {.kernel_ns = per_call(twice.kernel, beside),
          .reference_ns = per_call(twice.reference, beside)};
}

PythonTiming::Step PythonTiming::round(bool counts) {
  Walls once;
  Walls twice;
  if (auto ended = turn(calls_, once)) return ended;
  if (auto ended = turn(2 * calls_, twice)) return ended;
  if (!counts) return std::nullopt;
  const auto [kernel_ns, reference_ns] = call_times(once, twice);
  // Neighbours or nothing: a ratio is of pairs.
  if (kernel_ns <= 0 || (reference_ != nullptr && reference_ns <= 0)) return std::nullopt;
  samples_ns_.push_back(kernel_ns);
  if (reference_ != nullptr) reference_samples_ns_.push_back(reference_ns);
  return std::nullopt;
}

void PythonTiming::tell_aside() {
  if (reference_ == nullptr || reference_wall_ == nanoseconds(0)) return;
  evidence_.push_back(quiet("quiet_in_others_turn", kernel_aside_, reference_wall_,
                            "of the reference's turns",
                            "Its threads worked while the reference was timed: the reference's "
                            "times are not those of an idle machine."));
}

void PythonTiming::tell_unclocked() {
  if (fill_wall_ == nanoseconds(0)) return;
  evidence_.push_back(quiet("quiet_before_its_turn", kernel_early_, fill_wall_,
                            "in which its next inputs were made",
                            "Its threads worked while its next inputs were made: what they did "
                            "there is in none of its times."));
}

// Threads that go on after the last answer, and answers that nobody asked for.
PythonTiming::Step PythonTiming::listen() {
  auto restless = kernel_.rest(kPause);
  if (auto* ended = std::get_if<Ended>(&restless)) return std::move(*ended);
  const auto used = std::get<nanoseconds>(restless);
  const auto used_us = std::chrono::duration_cast<std::chrono::microseconds>(used).count();
  json quiet = {{"check", "quiet_after_end"},
                {"result", "agrees"},
                {"detail", std::to_string(used_us) + " us of CPU in " +
                               std::to_string(kPause.count()) + " ms of rest"}};
  if (used > kRestlessCpu) {
    quiet.update({{"result", "disagrees"},
                  {"which", "kernel"},
                  {"message", "Its threads went on working after the last call had returned."}});
  }
  evidence_.push_back(std::move(quiet));
  tell_aside();
  tell_unclocked();
  const double cores = kernel_wall_.count() > 0 ? static_cast<double>(kernel_cpu_.count()) /
                                                      static_cast<double>(kernel_wall_.count())
                                                : 0;
  // On a device what a process uses beside its calls is the driver's too.
  if (!plan_.on_device && kernel_wall_ >= kLeastWall && cores > kMostCores) {
    evidence_.push_back(
        {{"check", "one_thread"},
         {"result", "disagrees"},
         {"which", "kernel"},
         {"detail", "CPU time over wall time: " + std::to_string(cores)},
         {"message", "It worked on more than one core at once; kernels are timed on one."}});
  }
  return std::nullopt;
}

void PythonTiming::conclude(json& body) {
  body["samples_ns"] = samples_ns_;
  body["runs_examined"] = examined_;
  body["calls_timed"] = timed_calls_;
  body["calls_per_turn"] = {calls_, 2 * calls_};
  // A source that makes its own turns of N calls longer makes its slope smaller, and with no
  // reference beside it nobody knows better.
  evidence_.push_back(
      {{"check", "wall_clock_slope"},
       {"result", samples_ns_.empty() || reference_ == nullptr ? "unknown" : "agrees"},
       {"detail", std::to_string(samples_ns_.size()) + " slopes over " + std::to_string(calls_) +
                      " and " + std::to_string(2 * calls_) + " calls" +
                      (reference_ == nullptr
                           ? "; without a reference what a turn costs besides them is its own word"
                           : "")}});
  evidence_.push_back(
      {{"check", "sampled_outputs"},
       {"result", "agrees"},
       {"detail", std::to_string(examined_) + " of " + std::to_string(timed_calls_) +
                      " timed calls examined, " +
                      (plan_.same_contents ? "all on the same contents"
                       : plan_.on_device   ? "of each turn the last, which alone has its contents"
                                           : "each on contents of its own")}});
  if (reference_ == nullptr) return;
  body["reference_samples_ns"] = reference_samples_ns_;
  body["speedup"] = nullptr;
  if (samples_ns_.size() < 2) {
    body["speedup_note"] = "too few runs, or too short to be told from nothing";
    return;
  }
  const Ratio ratio = ratio_of(reference_samples_ns_, samples_ns_);
  body["speedup"] = {{"ratio", ratio.ratio},
                     {"low", ratio.low},
                     {"high", ratio.high},
                     {"pairs", ratio.pairs},
                     {"verdict", name(ratio.verdict)},
                     {"basis", plan_.on_device ? "wall time of a call on the GPU, seen from outside"
                                               : "wall time of a call, on the CPU"}};
}

std::uint32_t PythonTiming::rounds_wanted() const {
  const std::uint32_t per_round = 3 * calls_;
  return std::clamp((plan_.trials + per_round - 1) / per_round, kUsualRounds, kMostRounds);
}

PythonTiming::Step PythonTiming::measure_rounds() {
  const auto until = Clock::now() + kBudget;
  Step ended;
  if (plan_.warmups > 0 && !plan_.on_device) ended = round(false);
  const std::uint32_t wanted = rounds_wanted();
  for (std::uint32_t i = 0; i < wanted + kMoreRounds && !ended; ++i) {
    if (i >= kLeastRounds && Clock::now() > until) break;
    if (i >= wanted && samples_ns_.size() >= kLeastSamples) break;
    ended = plan_.on_device ? device_round() : round(true);
  }
  return ended;
}

std::optional<Ended> PythonTiming::measure(json& body) {
  Step ended = plan_.on_device ? measure_on_device() : measure_rounds();
  if (!ended) ended = listen();
  contents_.clear();
  inputs_.forget();
  if (!ended) conclude(body);
  return ended;
}

}  // namespace assay::node
