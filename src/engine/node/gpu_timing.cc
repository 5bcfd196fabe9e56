#include "engine/node/gpu_timing.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Contents that runs begin with, and places they work in.
constexpr std::uint32_t kMaxSlots = 3;
// A kernel's time depends on where its tensors happen to lie: a median over few places is a median
// of accidents.
constexpr std::uint32_t kPlaces = 12;
// More of them where their tensors are neither small beside an L2 nor, twelve together, far beyond.
constexpr std::uint64_t kSmallBytes = 4ULL << 20;
constexpr std::uint64_t kBeyondCacheBytes = 256ULL << 20;
constexpr std::uint32_t kMostPlaces = 32;
constexpr std::uint64_t kMaxPlacedBytes = 12ULL << 30;
constexpr std::uint64_t kMaxStagedBytes = 6ULL << 30;
// Device time of all cold runs of one side; slower kernels get fewer runs, never fewer than the
// least.
constexpr double kBudgetNs = 2e9;
constexpr std::uint32_t kLeastRuns = 10;
constexpr double kPreparationNs = 80'000;  // of a cold run: restoring, flushing
constexpr std::uint32_t kEstimateRuns = 3;
constexpr std::uint32_t kExaminedTurns = 3;
constexpr std::uint32_t kExaminedOfState = 12;
constexpr std::uint32_t kWarmRuns = 30;
constexpr std::uint32_t kGraphRepeats = 5;
// What a view of a kernel with inout tensors may take: it may never end.
constexpr std::chrono::seconds kRepeatingLimit{2};
constexpr double kRepeatingRuns = 400;
// What contents that were not shown before may cost more than those that were.
constexpr std::uint32_t kShownAnew = 5;
constexpr std::uint32_t kShownAnewAnyway = 3;
constexpr double kAnewBudgetNs = 5e8;  // each is three runs
constexpr double kMostSlower = 1.25;
constexpr double kMostSlowerNs = 3'000;

json view_of(const Turn& turn) {
  if (turn.samples_ns.empty()) return {{"unavailable", turn.note}};
  return {{"median_ns", median(turn.samples_ns)},
          {"min_ns", *std::min_element(turn.samples_ns.begin(), turn.samples_ns.end())},
          {"runs", turn.samples_ns.size()}};
}

}  // namespace

GpuTiming::GpuTiming(RefereeSession& referee, KernelSession& kernel, KernelSession* reference,
                     TimingRequest request, Judge judge, std::chrono::nanoseconds& execution_left)
    : referee_(referee),
      request_(std::move(request)),
      judge_(std::move(judge)),
      execution_left_(execution_left),
      kernel_{.session = &kernel, .name = "kernel"} {
  if (reference != nullptr) reference_ = Side{.session = reference, .name = "ref_kernel"};
}

GpuTiming::Step GpuTiming::measure(json& body) {
  json& spent_ms = body["spent_ms"] = json::object();
  Step ended;
  const auto part = [&](const char* name, auto&& carry_out) {
    if (ended) return;
    const auto begin = Clock::now();
    ended = carry_out();
    spent_ms[name] = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
  part("staging", [&] { return stage_arenas(); });
  part("estimate", [&] { return estimate(); });
  part("turns", [&] { return take_turns(); });
  const auto shown_anew = [&] {
    if (slots_ > 1) part("shown_anew", [&] { return show_anew(body); });
  };
  // The views of a kernel with inout tensors may cost its process: nothing is asked of it after.
  if (request_.has_inout) shown_anew();
  part("views", [&] { return other_views(body); });
  if (reference_) part("comparing", [&] { return compare(body); });
  if (!request_.has_inout && !is_spent_) shown_anew();
  tell(body);
  return ended;
}

std::uint32_t GpuTiming::below(std::uint32_t bound) {
  return static_cast<std::uint32_t>(random_() % bound);
}

TurnOrder GpuTiming::order(const char* view, std::uint32_t runs) {
  TurnOrder order{.view = view, .warmups = std::max(request_.warmups, 1U)};
  for (std::uint32_t i = 0; i < runs; ++i) {
    order.runs.push_back({.place = below(places_), .content = below(slots_)});
  }
  return order;
}

std::variant<Turn, Ended> GpuTiming::ask(Side& side, TurnOrder order) {
  order.tell_state = order.tell_state || clocks_.is_due();
  auto reply = side.session->time(order, execution_left_);
  if (auto* ended = std::get_if<Ended>(&reply)) {
    if (reference_ && &side == &*reference_) ended->summary = "The reference: " + ended->summary;
    ended->detail["which"] = side.name;
    return reply;
  }
  const Turn& turn = std::get<Turn>(reply);
  event_overhead_ns_ = turn.event_overhead_ns;
  clocks_.note(turn);
  return reply;
}

GpuTiming::Step GpuTiming::stage_arenas() {
  const auto fitting = static_cast<std::uint32_t>(kMaxStagedBytes /
                                                  std::max<std::uint64_t>(request_.arena_bytes, 1));
  slots_ = std::clamp(fitting, 1U, kMaxSlots);
  const std::uint64_t place_bytes = request_.arena_bytes + request_.scratch_bytes;
  const std::uint64_t least = std::max<std::uint64_t>(place_bytes, 1);
  const auto wanted =
      place_bytes < kSmallBytes
          ? kPlaces
          : std::clamp<std::uint64_t>(kBeyondCacheBytes / least, kPlaces, kMostPlaces);
  const auto placed =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, kMaxPlacedBytes / least));
  places_ = std::max(placed, 1U);
  auto filled = filled_arenas();
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  const auto& arenas = std::get<std::vector<LentArena>>(filled);
  // The reference first: the candidate has written nothing yet.
  if (reference_) {
    if (auto ended = stage(*reference_->session, arenas)) return ended;
  }
  return stage(*kernel_.session, arenas);
}

std::variant<std::vector<LentArena>, Ended> GpuTiming::filled_arenas() {
  std::vector<LentArena> arenas;
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    const std::uint32_t trial = request_.first_trial + slot;
    auto arena = request_.fill ? request_.fill(trial, slot) : referee_.fill(trial, slot);
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    arenas.push_back(std::move(std::get<LentArena>(arena)));
  }
  return arenas;
}

GpuTiming::Step GpuTiming::stage(KernelSession& session, const std::vector<LentArena>& arenas) {
  std::vector<LentArena> lent;
  for (const auto& arena : arenas) {
    lent.push_back({.descriptor = arena.descriptor.duplicate(),
                    .bytes = arena.bytes,
                    .on_device = arena.on_device});
  }
  auto staged = session.stage(std::move(lent), places_);
  if (auto* ended = std::get_if<Ended>(&staged)) return std::move(*ended);
  places_ = std::min(places_, std::get<std::uint32_t>(staged));
  return std::nullopt;
}

GpuTiming::Step GpuTiming::estimate() {
  double slowest = 0;
  const auto estimate_side = [&](Side& side) -> Step {
    auto turn = ask(side, order("cold", kEstimateRuns));
    if (auto* ended = std::get_if<Ended>(&turn)) return std::move(*ended);
    side.typical_ns = median(std::get<Turn>(turn).samples_ns);
    slowest = std::max(slowest, side.typical_ns);
    return std::nullopt;
  };
  if (reference_) {
    if (auto ended = estimate_side(*reference_)) return ended;
  }
  if (auto ended = estimate_side(kernel_)) return ended;
  const double affordable = kBudgetNs / (slowest + kPreparationNs);
  const auto most = static_cast<std::uint32_t>(std::clamp(affordable, 1.0 * kLeastRuns, 1e6));
  trials_ = std::min(request_.trials, most);
  return std::nullopt;
}

// Of the others nobody knows what is right.
std::uint32_t GpuTiming::known_contents() const { return std::min(slots_, request_.known_trials); }

GpuTiming::Step GpuTiming::take_turns() {
  // What counts its launches may do its work in some only: more of them are looked at, each in a
  // turn of its own.
  const std::uint32_t looked_at = request_.keeps_state ? kExaminedOfState : kExaminedTurns;
  const bool at_once = !request_.keeps_state && !reference_;
  const std::uint32_t per_turn = at_once ? std::min(known_contents(), looked_at) : 1;
  const std::uint32_t most = reference_ ? kPairs : (looked_at + per_turn - 1) / per_turn;
  const std::uint32_t turns = std::clamp(trials_ / 2, 1U, most);
  const std::uint32_t runs = (trials_ + turns - 1) / turns;
  std::set<std::uint32_t> examined;
  while (examined.size() < std::min(looked_at, turns)) examined.insert(below(turns));
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    // ABBA: what drifts in one direction drifts for both.
    const bool kernel_first = turn % 2 == 1;
    if (reference_ && !kernel_first) {
      if (auto ended = take_turn(*reference_, runs, 0)) return ended;
    }
    if (auto ended = take_turn(kernel_, runs, examined.contains(turn) ? per_turn : 0)) return ended;
    if (reference_ && kernel_first) {
      if (auto ended = take_turn(*reference_, runs, 0)) return ended;
    }
  }
  return std::nullopt;
}

GpuTiming::Step GpuTiming::take_turn(Side& side, std::uint32_t runs, std::uint32_t examined) {
  // One run more than counts: the first after a switch of contexts is slower.
  TurnOrder turn = order("cold", runs + 1);
  const auto kept = choose_examined(turn, std::min(examined, runs));
  auto reply = ask(side, turn);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const Turn& taken = std::get<Turn>(reply);
  const std::vector<double> counted(taken.samples_ns.begin() + 1, taken.samples_ns.end());
  side.cold_ns.insert(side.cold_ns.end(), counted.begin(), counted.end());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    side.by_content_ns[turn.runs.at(i + 1).content].push_back(counted[i]);
  }
  side.turns_ns.push_back(median(counted));
  if (taken.clock_mhz) side.turn_cycles.push_back(median(counted) * *taken.clock_mhz * 1e-3);
  for (const std::uint32_t content : kept) {
    if (auto ended = examine(content)) return ended;
  }
  return std::nullopt;
}

// A kernel that answers with what it kept of another run is wrong in the examined one: each begins
// with contents that the last examined one did not have, nor the turn's first. Those of one turn
// begin with different ones, for each is handed back in its own. Answers their contents.
std::vector<std::uint32_t> GpuTiming::choose_examined(TurnOrder& turn, std::uint32_t count) {
  std::set<std::uint32_t> which;
  while (which.size() < count) {
    which.insert(1 + below(static_cast<std::uint32_t>(turn.runs.size()) - 1));
  }
  const std::uint32_t known = known_contents();
  std::vector<std::uint32_t> contents;
  for (const std::uint32_t run : which) {
    const std::optional<std::uint32_t> last = contents.empty() ? last_examined_ : contents.back();
    const std::uint32_t step = contents.empty() && known > 1 ? 1 + below(known - 1) : 1;
    contents.push_back(last ? (*last + step) % known : below(known));
    turn.runs[run].keep = true;
    turn.runs[run].content = contents.back();
  }
  if (contents.empty()) return contents;
  last_examined_ = contents.back();
  RunOrder& first = turn.runs.front();
  if (slots_ > 1) first.content = (contents.front() + 1 + below(slots_ - 1)) % slots_;
  return contents;
}

GpuTiming::Step GpuTiming::examine(std::uint32_t slot) {
  auto said = referee_.check(slot);
  if (auto* ended = std::get_if<Ended>(&said)) return std::move(*ended);
  ++examined_;
  return judge_(request_.first_trial + slot, std::get<json>(said));
}

// The runs above begin with a few contents over and over. A kernel that keeps its results, in
// variables or beside its tensors, answers those at once: what it left is cleared, it runs on one
// of them, and the next is the first of its kind again.
GpuTiming::Step GpuTiming::show_anew(json& body) {
  std::vector<double> anew;
  std::vector<double> repeated;
  std::size_t slower = 0;
  const double affordable = kAnewBudgetNs / (3 * kernel_.typical_ns + 1);
  const auto times = static_cast<std::uint32_t>(
      std::clamp<double>(affordable, 1, request_.keeps_state ? kShownAnew : kShownAnewAnyway));
  for (std::uint32_t i = 0; i < times; ++i) {
    const std::uint32_t seen = below(slots_);
    const std::uint32_t other = (seen + 1 + below(slots_ - 1)) % slots_;
    const TurnOrder turn{.view = "cold",
                         .runs = {{.place = below(places_), .content = seen},
                                  {.place = below(places_), .content = other}},
                         .warmups = 1,
                         .fresh_module = true};
    auto reply = ask(kernel_, turn);
    if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
    const Turn& taken = std::get<Turn>(reply);
    // How long a kernel takes may depend on what it works on: of the same contents.
    const double before = median(kernel_.by_content_ns[other]);
    if (before <= 0 || taken.samples_ns.size() != turn.runs.size()) continue;
    anew.push_back(taken.samples_ns.back());
    repeated.push_back(before);
    slower += anew.back() > before * kMostSlower + kMostSlowerNs ? 1 : 0;
  }
  if (anew.empty()) return std::nullopt;
  body["shown_anew_ns"] = median(anew);
  if (slower * 2 <= anew.size()) return std::nullopt;
  return judge_(0, {{"outputs", json::array()},
                    {"findings",
                     {{{"check", "remembers"},
                       {"repeated_ns", median(repeated)},
                       {"shown_anew_ns", median(anew)}}}}});
}

std::variant<Turn, Ended> GpuTiming::ask_view(Side& side, TurnOrder order) {
  if (!request_.has_inout) return ask(side, std::move(order));
  const auto runs = std::chrono::nanoseconds(std::llround(kRepeatingRuns * side.typical_ns));
  const auto left = execution_left_;
  execution_left_ = std::min<std::chrono::nanoseconds>(left, kRepeatingLimit + runs);
  const auto given = execution_left_;
  auto reply = ask(side, std::move(order));
  execution_left_ = left - (given - execution_left_);
  return reply;
}

GpuTiming::Step GpuTiming::views_of(Side& side, json& into) {
  auto warm = ask_view(side, order("warm", std::min(trials_, kWarmRuns)));
  if (auto* ended = std::get_if<Ended>(&warm)) return std::move(*ended);
  into["warm"] = view_of(std::get<Turn>(warm));
  TurnOrder last = order("graph", kGraphRepeats);
  last.tell_state = true;  // while what was measured still keeps the device warm
  auto graph = ask_view(side, std::move(last));
  if (auto* ended = std::get_if<Ended>(&graph)) return std::move(*ended);
  into["graph"] = view_of(std::get<Turn>(graph));
  into["graph"]["launches"] = std::get<Turn>(graph).launches;
  if (!std::get<Turn>(graph).samples_ns.empty()) return std::nullopt;
  return go_on_afresh(side, std::get<Turn>(graph).note);
}

// What a capture that failed leaves in its process nobody knows: whatever is timed after it, is in
// another.
GpuTiming::Step GpuTiming::go_on_afresh(Side& side, const std::string& failure) {
  const bool is_reference = &side != &kernel_;
  uncaptured_ = std::string("The ") + (is_reference ? "reference" : "kernel") +
                " was timed without a graph (" + failure + ")";
  if (!request_.renew) {
    is_spent_ = true;
    uncaptured_ += ", and no more after that.";
    return std::nullopt;
  }
  uncaptured_ += ", and what followed in a fresh process.";
  auto fresh = request_.renew(is_reference);
  if (auto* ended = std::get_if<Ended>(&fresh)) {
    ended->detail["which"] = side.name;
    return std::move(*ended);
  }
  side.session = std::get<KernelSession*>(fresh);
  auto filled = filled_arenas();
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  return stage(*side.session, std::get<std::vector<LentArena>>(filled));
}

bool GpuTiming::is_of_repeating(const Ended& ended) const {
  const bool is_the_kernels =
      ended.verdict == job::Verdict::timed_out || ended.verdict == job::Verdict::crashed;
  return request_.has_inout && is_the_kernels;
}

GpuTiming::Step GpuTiming::other_views(json& body) {
  const auto views = [&](Side& side, json& into) -> Step {
    auto ended = views_of(side, into);
    if (!ended || !is_of_repeating(*ended)) return ended;
    const char* view = into.contains("warm") ? "graph" : "warm";
    unrepeatable_ =
        std::string("Launched again on the inout tensors that a launch had left, the ") +
        (&side == &kernel_ ? "kernel" : "reference") + " did not come to its end (" +
        std::string(job::name(ended->verdict)) +
        "): it was timed cold alone, which gives it its contents before each run.";
    into[view] = {{"unavailable", unrepeatable_}};
    return std::nullopt;
  };
  if (reference_) {
    if (auto ended = views(*reference_, body["reference_views"] = json::object())) return ended;
  }
  return views(kernel_, body["views"] = json::object());
}

void GpuTiming::tell(json& body) const {
  body["samples_ns"] = kernel_.cold_ns;
  if (reference_) body["reference_samples_ns"] = reference_->cold_ns;
  body["event_overhead_ns"] = event_overhead_ns_;
  body["runs_examined"] = examined_;
  body["warnings"] = json::array();
  if (trials_ > 0 && trials_ < request_.trials) {
    body["warnings"].push_back(
        {{"code", "fewer_runs"},
         {"message", "Timed " + std::to_string(trials_) + " of " + std::to_string(request_.trials) +
                         " runs: more would exceed the time budget."}});
  }
  if (!unrepeatable_.empty()) {
    body["warnings"].push_back({{"code", "not_repeatable"}, {"message", unrepeatable_}});
  }
  if (!uncaptured_.empty()) {
    body["warnings"].push_back({{"code", "graph_failed"}, {"message", uncaptured_}});
  }
  clocks_.tell(body);
}

}  // namespace assay::node
