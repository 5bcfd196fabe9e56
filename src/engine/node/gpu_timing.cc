#include "engine/node/gpu_timing.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Device time of all cold runs of one side; slower kernels get fewer runs, never fewer than the
// least.
constexpr double kBudgetNs = 2e9;
constexpr std::uint32_t kLeastRuns = 10;
constexpr double kPreparationNs = 80'000;  // of a cold run: restoring, flushing
constexpr std::uint32_t kEstimateRuns = 3;
constexpr double kMostTimesSeen = 64;  // that a run may take of what was seen of one launch
constexpr std::uint32_t kExaminedTurns = 3;
// Device time of a turn's warmups.
constexpr double kWarmupNs = 20e6;
constexpr double kMostWarmups = 1e6;
// Of the time that is left, what all turns may take; each run of a few has a warmup and a first run
// beside it.
constexpr double kShareOfTurns = 0.5;
constexpr double kLaunchesOfRun = 2;
constexpr std::uint32_t kExaminedOfState = 12;
// A few are so much quicker than most, or a tenth so much slower: some may do less.
constexpr double kUneven = 1.1;
constexpr double kUnevenNs = 1'000;
constexpr std::size_t kFew = 20;
constexpr std::size_t kTenth = 10;
constexpr const char* kNoRoom = "the device has room for one of its contents only";

bool is_uneven(std::vector<double> times_ns) {
  if (times_ns.size() < 2) return false;
  std::sort(times_ns.begin(), times_ns.end());
  const auto is_apart = [](double quick, double slow) {
    return slow > kUneven * quick + kUnevenNs;
  };
  const double middle = times_ns[times_ns.size() / 2];
  return is_apart(times_ns[times_ns.size() / kFew], middle) ||
         is_apart(middle, times_ns[times_ns.size() - 1 - times_ns.size() / kTenth]);
}

}  // namespace

GpuTiming::GpuTiming(RefereeSession& referee, KernelSession& kernel, KernelSession* reference,
                     TimingRequest request, Judge judge, std::chrono::nanoseconds& execution_left)
    : referee_(referee),
      request_(std::move(request)),
      judge_(std::move(judge)),
      execution_left_(execution_left),
      kernel_{.session = &kernel, .name = "kernel"},
      clocks_(request_.highest_mhz) {
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
    part("shown_anew",
         [&] { return slots_ > 1 ? show_anew(body) : leave_unasked("not_shown_anew", kNoRoom); });
  };
  const auto compared = [&] {
    if (reference_) part("comparing", [&] { return compare(body); });
  };
  // The views of a kernel with inout tensors may cost its process: nothing is asked of it after.
  // Nor does it know of any question but the last that it is the last: what its times rest on is
  // measured before.
  if (request_.works_on_contents) {
    compared();
    shown_anew();
  }
  part("views", [&] { return other_views(body); });
  if (!request_.works_on_contents) {
    compared();
    if (is_spent_) unasked_["not_shown_anew"] = uncaptured_;
    if (!is_spent_) shown_anew();
  }
  if (!ended) ended = judge_claims(body);
  if (!ended) ended = judge_alike(body);
  tell(body);
  return ended;
}

std::uint32_t GpuTiming::below(std::uint32_t bound) {
  return static_cast<std::uint32_t>(random_() % bound);
}

// No contents twice in a row: what answers the last ones once more gains nothing.
TurnOrder GpuTiming::order(const char* view, std::uint32_t runs, double typical_ns) {
  // A long kernel needs no more to be warm, and every turn has them.
  const double launch_ns = typical_ns > 0 ? typical_ns : request_.seen_ns;
  const double enough = launch_ns > 0 ? kWarmupNs / launch_ns : kMostWarmups;
  TurnOrder order{
      .view = view,
      .warmups =
          std::clamp(request_.warmups, 1U,
                     static_cast<std::uint32_t>(std::clamp(std::ceil(enough), 1.0, kMostWarmups)))};
  std::uint32_t content = below(slots_);
  for (std::uint32_t i = 0; i < runs; ++i) {
    order.runs.push_back({.place = below(places_), .content = content});
    if (slots_ > 1) content = (content + 1 + below(slots_ - 1)) % slots_;
  }
  return order;
}

TurnOrder GpuTiming::graph_order(std::uint32_t repeats, double typical_ns) {
  TurnOrder graph = order("graph", repeats, typical_ns);
  graph.typical_ns = typical_ns;
  // Of those that a graph of two places has, too; drawn anew: what is never looked at could idle.
  const std::uint32_t most =
      places_ < slots_ ? std::min(places_, known_contents()) : known_contents();
  const std::uint32_t content = below(most);
  for (RunOrder& run : graph.runs) run.content = content;
  return graph;
}

bool GpuTiming::affords(double launches, double launch_ns, double share) const {
  return launches * launch_ns <= share * static_cast<double>(execution_left_.count());
}

double GpuTiming::slowest_ns() const {
  return std::max(kernel_.typical_ns, reference_ ? reference_->typical_ns : 0);
}

Turns GpuTiming::ask(Side& side, std::vector<TurnOrder> orders) {
  say_what_else_to_tell(orders.front());
  Turns turns = side.session->time(orders, execution_left_);
  note(side, orders, turns);
  if (turns.ended) {
    Ended& ended = *turns.ended;
    if (reference_ && &side == &*reference_) ended.summary = "The reference: " + ended.summary;
    ended.detail["which"] = side.name;
  }
  return turns;
}

// The first question of all finds the device as it was before, and its clock where that left it.
void GpuTiming::say_what_else_to_tell(TurnOrder& first) {
  const bool is_first = !std::exchange(is_asked_, true);
  if (is_first) first.ramp_below_mhz = clocks_.low_mhz();
  const bool asks_who = request_.others_are_visible && !request_.is_in_burst;
  const bool looks = is_first && (asks_who || request_.was_quiet);
  const bool is_due = clocks_.is_due();
  first.tell_neighbours = looks || (is_due && request_.others_are_visible);
  first.tell_state = first.tell_state || is_due || looks;
  are_neighbours_asked_ = are_neighbours_asked_ || first.tell_neighbours;
}

std::variant<Turn, Ended> GpuTiming::ask_one(Side& side, TurnOrder order) {
  Turns turns = ask(side, {std::move(order)});
  if (turns.ended) return std::move(*turns.ended);
  return std::move(turns.taken.front());
}

GpuTiming::Step GpuTiming::stage_arenas() {
  const Staging staging = staging_of({.arena_bytes = request_.arena_bytes,
                                      .scratch_bytes = request_.scratch_bytes,
                                      .sides = reference_ ? 2U : 1U,
                                      .device_bytes = request_.device_bytes});
  slots_ = staging.slots;
  places_ = staging.places;
  if (request_.staged_ahead && !reference_) return take_staged(kernel_.session->staged());
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
  return take_staged(session.stage(arenas, places_, request_.scratch_bytes));
}

GpuTiming::Step GpuTiming::take_staged(std::variant<std::uint32_t, Ended> staged) {
  if (auto* ended = std::get_if<Ended>(&staged)) return std::move(*ended);
  places_ = std::min(places_, std::get<std::uint32_t>(staged));
  return std::nullopt;
}

// How many runs the budget allows. Where it allows all of them many times over, launches that were
// seen before say so already.
GpuTiming::Step GpuTiming::estimate() {
  trials_ = request_.trials;
  const double surely_ns = kMostTimesSeen * request_.seen_ns + kPreparationNs;
  if (!reference_ && request_.seen_ns > 0 && trials_ * surely_ns < kBudgetNs) return std::nullopt;
  double slowest = 0;
  const auto estimate_side = [&](Side& side) -> Step {
    auto turn = ask_one(side, order("cold", kEstimateRuns, 0));
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
  while (trials_ > 1 &&
         !affords(trials_ * kLaunchesOfRun * (reference_ ? 2 : 1), slowest, kShareOfTurns)) {
    --trials_;
  }
  return std::nullopt;
}

GpuTiming::Step GpuTiming::take_turns() {
  // What counts its launches may do its work in some only: more of them are looked at, each in a
  // turn of its own.
  const std::uint32_t looked_at = request_.keeps_state ? kExaminedOfState : kExaminedTurns;
  const bool at_once = !request_.keeps_state && !reference_;
  const std::uint32_t per_turn = at_once ? std::min(known_contents(), looked_at) : 1;
  const std::uint32_t most = reference_ ? kPairs : (looked_at + per_turn - 1) / per_turn;
  const std::uint32_t turns = std::clamp(trials_ / 2, 1U, most);
  std::set<std::uint32_t> examined;
  while (examined.size() < std::min(looked_at, turns)) examined.insert(below(turns));
  for (std::uint32_t turn = 0; turn < turns; ++turn) {
    // As many as were asked for, to the run.
    const std::uint32_t runs = trials_ / turns + (turn < trials_ % turns ? 1 : 0);
    // ABBA: what drifts in one direction drifts for both.
    const bool kernel_first = turn % 2 == 1;
    const ColdTurn asked = cold_turn(runs, examined.contains(turn) ? per_turn : 0);
    if (reference_ && !kernel_first) {
      if (auto ended = take_turn(*reference_, asked)) return ended;
    }
    if (auto ended = take_turn(kernel_, asked)) return ended;
    if (reference_ && kernel_first) {
      if (auto ended = take_turn(*reference_, asked)) return ended;
    }
  }
  return narrow();
}

GpuTiming::Step GpuTiming::narrow() {
  // What counts its launches is looked at as often as in the runs that were asked for.
  const std::uint32_t looked_at = request_.keeps_state ? std::max(known_contents(), 1U) : 1;
  const std::uint32_t most_runs =
      request_.keeps_state ? looked_at * std::max(request_.trials / kExaminedOfState, 1U) : ~0U;
  for (;;) {
    cold_stop_ = next_cold_runs({.samples_ns = kernel_.cold_ns,
                                 .asked = request_.trials,
                                 .may_add = request_.may_add && !reference_,
                                 .was_cut = trials_ < request_.trials,
                                 .beside_ns = kPreparationNs,
                                 .left_ns = static_cast<double>(execution_left_.count())});
    if (cold_stop_->more == 0) return look_closer();
    const std::uint32_t runs = std::min(cold_stop_->more, most_runs);
    if (auto ended = take_turn(kernel_, cold_turn(runs, looked_at))) return ended;
  }
}

// A kernel that works in some runs only, at random, is caught by each that is looked at with the
// chance that it did nothing there. These are like those that were timed, and count for nothing
// else.
GpuTiming::Step GpuTiming::look_closer() {
  const AlikeRuns::Count left = alike_.count();
  const bool is_in_doubt = left.is_doubtful() || (is_uneven(kernel_.cold_ns) && !left.is_whole());
  if (request_.keeps_state || left.idle > 0 || !is_in_doubt) return std::nullopt;
  const std::uint32_t per_turn = std::max(known_contents(), 1U);
  for (std::uint32_t looked_at = 0; looked_at < kExaminedOfState; looked_at += per_turn) {
    if (!affords(per_turn + kLaunchesOfRun, slowest_ns(), kShareOfTurns)) {
      return leave_unasked("few_examined", "it would take too much of the time that is left");
    }
    const ColdTurn asked = cold_turn(per_turn, per_turn);
    auto reply = ask_one(kernel_, asked.order);
    if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
    if (auto ended = look_at(asked.examined, examined_beside_)) return ended;
    alike_.note(asked.order, std::get<Turn>(reply), 1, true, false);
  }
  return std::nullopt;
}

GpuTiming::ColdTurn GpuTiming::cold_turn(std::uint32_t runs, std::uint32_t examined) {
  // One run more than counts: the first after a switch of contexts is slower.
  ColdTurn turn{.order = order("cold", runs + 1, slowest_ns())};
  turn.order.digests = true;
  turn.examined = choose_examined(turn.order, std::min(examined, runs));
  return turn;
}

GpuTiming::Step GpuTiming::take_turn(Side& side, const ColdTurn& asked) {
  TurnOrder turn = asked.order;
  const bool is_examined = &side == &kernel_ && !asked.examined.empty();
  for (RunOrder& run : turn.runs) run.keep = run.keep && is_examined;
  auto reply = ask_one(side, turn);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const Turn& taken = std::get<Turn>(reply);
  const std::vector<double> counted(taken.samples_ns.begin() + 1, taken.samples_ns.end());
  side.cold_ns.insert(side.cold_ns.end(), counted.begin(), counted.end());
  for (std::size_t i = 0; i < counted.size(); ++i) {
    side.by_content_ns[turn.runs.at(i + 1).content].push_back(counted[i]);
  }
  side.cold.turns_ns.push_back(median(counted));
  if (taken.clock_mhz) side.cold.turn_cycles.push_back(median(counted) * *taken.clock_mhz * 1e-3);
  // Not by the estimate, nor by one turn: a kernel may be as slow as it likes in some.
  side.typical_ns = median(side.cold.turns_ns);
  const bool captures = is_examined && capture_meanwhile();
  Step ended = is_examined ? examine(asked.examined) : std::nullopt;
  if (&side == &kernel_) alike_.note(turn, taken, 1, is_examined);
  // Heard even if it is of no use any more: its process may be asked something else.
  Step unheard = captures ? hear_of_capture() : std::nullopt;
  if (ended) return ended;
  if (unheard || !captures || no_graph_.empty()) return unheard;
  return go_on_afresh(kernel_, no_graph_);
}

void GpuTiming::tell(json& body) const {
  body["samples_ns"] = kernel_.cold_ns;
  if (reference_) body["reference_samples_ns"] = reference_->cold_ns;
  body["event_overhead_ns"] = event_overhead_ns_;
  body["runs_examined"] = examined_;
  body["runs_examined_beside"] = examined_beside_;
  // Else its slope is that of launches which find their work done, or more of it.
  body["graph_counts"] = !request_.works_on_contents;
  if (cold_stop_) {
    json& told = body["cold_stop"] = {{"stopped_by", name(cold_stop_->stopped_by)}};
    if (cold_stop_->half_share) told["half_width_pct"] = 100 * *cold_stop_->half_share;
  }
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
  for (const auto& [code, why] : unasked_) {
    const char* const what =
        code == "few_examined"
            ? "Its runs are of two kinds, and no more of them were looked at for work left out ("
        : code == "quick_in_graph"
            ? "Why it is so much quicker in a graph than launched alone is not known ("
        : code == "outputs_vary" ? "Whether all of its timed runs did their work is not known ("
        : code == "times_not_held"
            ? "Whether its events hide time from a host's clock is not known ("
            : "Whether its times are those of results that it kept is not known (";
    body["warnings"].push_back(
        {{"code", code}, {"message", what + why + "): trust is at most `audited`."}});
  }
  clocks_.tell(body);
  json& others = body["neighbours"] = node::tell(neighbours_);
  others["asked"] = are_neighbours_asked_;
  others["busy_before_pct"] = busy_before_pct_;
  const std::string tenants = tenants_warning(neighbours_, busy_before_pct_);
  if (!tenants.empty()) {
    body["warnings"].push_back({{"code", "co_tenants"}, {"message", tenants}});
  }
}

}  // namespace assay::node
