// Of PythonTiming: turns on a GPU.
#include <algorithm>
#include <string>

#include "engine/node/median.h"
#include "engine/node/python_timing.h"
#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

// Of N calls: far above what waiting for a device varies by.
constexpr nanoseconds kDeviceTurn = std::chrono::milliseconds(8);
constexpr std::uint32_t kMostDeviceCalls = 4096;
constexpr std::uint32_t kEstimateCalls = 64;
constexpr std::uint32_t kShownAnew = 3;
// Where all of those were slower: what keeps results always is, what a machine did to some is not.
constexpr std::uint32_t kMostShownAnew = 10;
// What contents that were not shown before may cost more than those that were.
constexpr double kMostSlower = 1.25;
constexpr nanoseconds kMostSlowerTurn = std::chrono::microseconds(200);
// What the whole of a turn may take more for each call than its calls do, and for all together.
constexpr double kMostPutOff = 0.25;
constexpr double kLeastPutOffNs = 2e6;

double slope_ns(nanoseconds once, nanoseconds twice, std::uint32_t calls) {
  return static_cast<double>((twice - once).count()) / calls;
}

std::string microseconds(double ns) {
  const std::string text = std::to_string(ns / 1e3);
  return text.substr(0, text.find('.') + 2) + " us";
}

}  // namespace

// The calls of a turn alone: what they work on is there.
std::variant<nanoseconds, Ended> PythonTiming::called(PythonSession& session, const Deal& deal) {
  auto gone = session.go(
      {.calls = deal.calls, .seed = inputs_.seed(trials_.front()), .moves = !plan_.lent_on_device},
      execution_left_);
  if (auto* ended = std::get_if<Ended>(&gone)) return std::move(*ended);
  const auto& turn = std::get<PythonSession::Turn>(gone);
  if (&session == &kernel_) {
    patched_ = turn.claims.patched;
    kernel_wall_ += turn.wall;
    kernel_cpu_ += turn.cpu;
  }
  return turn.wall;
}

std::variant<nanoseconds, Ended> PythonTiming::device_calls(PythonSession& session,
                                                            const posix::SharedMemory& memory,
                                                            const Deal& deal, nanoseconds& whole) {
  const auto contents = std::min(deal.calls, stretches_);
  // All stretches are moved in every turn, used or not: it must cost the same in each.
  std::vector<LentArena> whole_memory;
  whole_memory.push_back(
      {.descriptor = memory.descriptor().duplicate(), .bytes = memory.bytes().size()});
  auto staged =
      session.stage(std::move(whole_memory), {.contents = contents, .stride_bytes = stride_bytes_},
                    execution_left_);
  if (auto* ended = std::get_if<Ended>(&staged)) return std::move(*ended);
  unclocked(session, [&] {
    for (std::uint32_t i = 0; i < contents; ++i) {
      const auto from = contents_[i].bytes();
      std::copy(from.begin(), from.end(),
                memory.bytes().begin() + static_cast<std::ptrdiff_t>(i * stride_bytes_));
    }
    return Step{};
  });
  auto gone = called(session, deal);
  if (std::holds_alternative<Ended>(gone)) return gone;
  auto fetched = session.fetch(execution_left_);
  if (auto* ended = std::get_if<Ended>(&fetched)) return std::move(*ended);
  whole = std::get<PythonSession::Turn>(staged).wall + std::get<nanoseconds>(gone) +
          std::get<PythonSession::Turn>(fetched).wall;
  return gone;
}

std::variant<nanoseconds, Ended> PythonTiming::lent_calls(PythonSession& session,
                                                          const SlotRange& slots,
                                                          const Deal& deal) {
  const auto contents = std::min(deal.calls, stretches_);
  std::vector<LentArena> arenas;
  for (std::uint32_t i = 0; i < contents; ++i) {
    auto arena = lend(slots.slot(i));
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    arenas.push_back(std::move(std::get<LentArena>(arena)));
  }
  auto staged = session.stage(std::move(arenas), {.contents = contents}, execution_left_);
  if (auto* ended = std::get_if<Ended>(&staged)) return std::move(*ended);
  auto ended = unclocked(session, [&]() -> Step {
    for (std::uint32_t i = 0; i < contents; ++i) {
      auto filled = inputs_.fill(trials_[i], slots.slot(i));
      if (auto* failed = std::get_if<Ended>(&filled)) return std::move(*failed);
    }
    return std::nullopt;
  });
  if (ended) return *std::move(ended);
  return called(session, deal);
}

// The referee's arena in this slot, which is the same for as long as the job: what is in it comes
// once it was mapped.
std::variant<LentArena, Ended> PythonTiming::lend(std::uint32_t slot) {
  auto known = lent_.find(slot);
  if (known == lent_.end()) {
    auto arena = inputs_.fill(trials_.front(), slot);
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    known = lent_.emplace(slot, std::move(std::get<LentArena>(arena).descriptor)).first;
  }
  return LentArena{
      .descriptor = known->second.duplicate(), .bytes = plan_.arena_bytes, .on_device = true};
}

// What was put off would still be under way when its results are looked at, at once.
PythonTiming::Step PythonTiming::lent_turn(const Deal& deal, Walls& walls) {
  std::vector<std::uint32_t> chosen;
  if (deal.examined) chosen = choose(std::min(deal.calls, stretches_));
  if (reference_ != nullptr) {
    auto timed = beside_kernel([&] { return lent_calls(*reference_, kReferenceTurnSlots, deal); });
    if (auto* ended = std::get_if<Ended>(&timed)) return about_reference(std::move(*ended));
    walls.reference = std::get<nanoseconds>(timed);
    for (const std::uint32_t index : chosen) {
      auto answer = referee_.expect(kReferenceTurnSlots.slot(index));
      if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
    }
  }
  auto timed = lent_calls(kernel_, kTurnSlots, deal);
  if (auto* ended = std::get_if<Ended>(&timed)) return about_kernel(std::move(*ended));
  walls.kernel = std::get<nanoseconds>(timed);
  timed_calls_ += deal.calls;
  for (const std::uint32_t index : chosen) {
    auto answer = referee_.check(kTurnSlots.slot(index));
    if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
    ++examined_;
    if (auto ended = judge_(trials_[index], std::get<json>(answer))) return ended;
  }
  return std::nullopt;
}

PythonTiming::Step PythonTiming::device_turn(const Deal& deal, Walls& walls) {
  if (plan_.lent_on_device) return lent_turn(deal, walls);
  const std::uint64_t bytes = stretches_ * stride_bytes_;
  std::optional<posix::SharedMemory> of_reference;
  if (reference_ != nullptr) {
    of_reference = posix::SharedMemory::create("assay-turn", bytes);
    nanoseconds whole{0};
    auto timed =
        beside_kernel([&] { return device_calls(*reference_, *of_reference, deal, whole); });
    if (auto* ended = std::get_if<Ended>(&timed)) return about_reference(std::move(*ended));
    walls.reference = std::get<nanoseconds>(timed);
  }
  const auto memory = posix::SharedMemory::create("assay-turn", bytes);
  auto timed = device_calls(kernel_, memory, deal, walls.kernel_whole);
  if (auto* ended = std::get_if<Ended>(&timed)) return about_kernel(std::move(*ended));
  walls.kernel = std::get<nanoseconds>(timed);
  timed_calls_ += deal.calls;
  if (!deal.examined) return std::nullopt;
  return examine(std::min(deal.calls, stretches_), memory, of_reference ? &*of_reference : nullptr);
}

// How many calls make a turn: told by turns of their own, the first of which is the warm-up.
PythonTiming::Step PythonTiming::estimate_on_device() {
  const auto most = plan_.repeatable ? kMostDeviceCalls : stretches_ / 2;
  calls_ = 1;
  for (const std::uint32_t tried : {stretches_, std::min(kEstimateCalls, 2 * most)}) {
    const Deal deal{.calls = std::min({tried, 2 * most, 4 * calls_ + stretches_}),
                    .examined = true};
    if (auto ended = take_contents(std::min(deal.calls, stretches_))) return ended;
    Walls walls;
    if (auto ended = device_turn(deal, walls)) return ended;
    const auto slower = static_cast<double>(std::max(walls.kernel, walls.reference).count());
    const double wanted = static_cast<double>(kDeviceTurn.count()) * deal.calls / slower;
    calls_ = static_cast<std::uint32_t>(std::clamp(wanted, 1.0, 1.0 * most));
  }
  return std::nullopt;
}

PythonTiming::Step PythonTiming::device_round() {
  Walls once;
  Walls twice;
  if (auto ended = take_contents(stretches_)) return ended;
  if (auto ended = device_turn({.calls = calls_}, once)) return ended;
  if (auto ended = device_turn({.calls = 2 * calls_, .examined = true}, twice)) return ended;
  const auto [kernel_ns, reference_ns] = call_times(once, twice);
  if (kernel_ns <= 0 || (reference_ != nullptr && reference_ns <= 0)) return std::nullopt;
  samples_ns_.push_back(kernel_ns);
  whole_samples_ns_.push_back(slope_ns(once.kernel_whole, twice.kernel_whole, calls_));
  if (reference_ != nullptr) reference_samples_ns_.push_back(reference_ns);
  return std::nullopt;
}

// Turns whose every call works on contents that this process never saw, and at once the same again.
PythonTiming::Step PythonTiming::show_anew() {
  std::vector<double> anew;
  std::vector<double> again;
  bool always_slower = true;
  bool always_more = reference_ != nullptr && !samples_ns_.empty();
  for (std::uint32_t i = 0; i < (always_slower || always_more ? kMostShownAnew : kShownAnew); ++i) {
    Walls first;
    Walls second;
    if (auto ended = take_contents(stretches_)) return ended;
    if (auto ended = device_turn({.calls = stretches_}, first)) return ended;
    if (auto ended = device_turn({.calls = stretches_, .examined = true}, second)) return ended;
    anew.push_back(static_cast<double>(first.kernel.count()) / stretches_);
    again.push_back(static_cast<double>(second.kernel.count()) / stretches_);
    const auto most = std::chrono::duration<double, std::nano>(second.kernel) * kMostSlower;
    always_slower = always_slower && first.kernel > most + kMostSlowerTurn;
    always_more = always_more &&
                  is_more_than_slope(first, median(samples_ns_), median(reference_samples_ns_));
  }
  if (always_more) {
    if (auto ended = hold_against_slopes_of_now(always_more)) return ended;
  }
  const auto tell = [this](const char* check, bool against, std::string detail,
                           const char* message) {
    json item = {{"check", check},
                 {"result", against ? "disagrees" : "agrees"},
                 {"detail", std::move(detail)}};
    if (against) item.update({{"which", "kernel"}, {"message", message}});
    evidence_.push_back(std::move(item));
  };
  tell("shown_anew", always_slower,
       microseconds(median(anew)) + " a call on contents that are new, " +
           microseconds(median(again)) + " on the same again",
       "It is slower on contents that it was not shown before: it keeps results between calls, and "
       "its times are not those of the work.");
  if (reference_ == nullptr || samples_ns_.empty()) return std::nullopt;
  tell("shown_once", always_more,
       microseconds(median(anew)) +
           " a call with all else where each of the contents is worked on "
           "once, " +
           microseconds(median(samples_ns_)) + " by the slope",
       "A turn that shows each of its contents once takes longer than the reference's by more than "
       "its own times say: it works once for all calls on the same contents.");
  return std::nullopt;
}

// The slopes were taken before, all in a row: who was quick then for the machine's sake is held
// against slopes that are taken now.
PythonTiming::Step PythonTiming::hold_against_slopes_of_now(bool& is_more) {
  const auto before = static_cast<std::ptrdiff_t>(samples_ns_.size());
  for (std::uint32_t i = 0; i < kShownAnew; ++i) {
    if (auto ended = device_round()) return ended;
  }
  const std::vector<double> said(samples_ns_.begin() + before, samples_ns_.end());
  const std::vector<double> reference(reference_samples_ns_.begin() + before,
                                      reference_samples_ns_.end());
  is_more = !said.empty();
  for (std::uint32_t i = 0; i < kShownAnew && is_more; ++i) {
    Walls once;
    if (auto ended = take_contents(stretches_)) return ended;
    if (auto ended = device_turn({.calls = stretches_}, once)) return ended;
    is_more = is_more_than_slope(once, median(said), median(reference));
  }
  return std::nullopt;
}

// Of a turn that shows each of its contents once: beside the reference's, which costs the same
// besides.
bool PythonTiming::is_more_than_slope(const Walls& once, double said_ns,
                                      double reference_ns) const {
  const auto beside_ns = static_cast<double>(once.reference.count()) - reference_ns * stretches_;
  const std::chrono::duration<double, std::nano> more(
      static_cast<double>(once.kernel.count()) - beside_ns - said_ns * stretches_ * kMostSlower);
  return more > kMostSlowerTurn;
}

void PythonTiming::tell_put_off() {
  bool always = !samples_ns_.empty();
  for (std::size_t i = 0; i < samples_ns_.size(); ++i) {
    const double more_ns = whole_samples_ns_[i] - samples_ns_[i];
    always = always && more_ns > kMostPutOff * samples_ns_[i] && more_ns * calls_ > kLeastPutOffNs;
  }
  json item = {
      {"check", "nothing_put_off"},
      {"result", always ? "disagrees" : "agrees"},
      {"detail", microseconds(median(samples_ns_)) + " a call until it said that it was done, " +
                     microseconds(median(whole_samples_ns_)) + " until its results were here"}};
  if (always) {
    item["which"] = "kernel";
    item["message"] =
        "Its calls say that they are done before their work is: what is left is done while the "
        "results are fetched.";
  }
  evidence_.push_back(std::move(item));
}

PythonTiming::Step PythonTiming::measure_on_device() {
  if (auto ended = estimate_on_device()) return ended;
  if (auto ended = measure_rounds()) return ended;
  if (!plan_.lent_on_device) tell_put_off();
  return plan_.repeatable ? show_anew() : std::nullopt;
}

}  // namespace assay::node
