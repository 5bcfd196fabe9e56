// Of GpuTiming: what contents cost that were not shown before. A kernel that keeps its results is
// slower on those.
#include <algorithm>
#include <set>

#include "engine/node/gpu_timing.h"
#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;

// Of the time that is left, what one question may take.
constexpr double kShareOfQuestion = 0.2;
// What contents that were not shown before may cost more than those that were.
constexpr std::uint32_t kShownAnew = 5;
constexpr std::uint32_t kShownAnewAnyway = 3;
constexpr std::uint32_t kShownLater = 15;
constexpr double kSlowerLater = 0.8;  // of these, of one that keeps results
constexpr double kAnewBudgetNs = 5e8;
constexpr double kLaunchesAnew = 3;  // each
constexpr double kMostSlower = 1.25;
constexpr double kMostSlowerNs = 3'000;
// From which on it is looked at again, content beside content, where the scatter of an event (a
// median of 15 differences moves by 0.23 us) does not pass for it.
constexpr double kSuspectedSlower = 0.05;
constexpr double kSuspectedSlowerNs = 500;
constexpr double kRemembered = 0.1;
constexpr double kRememberedNs = 1'000;
constexpr std::uint32_t kShownTwice = 15;
constexpr std::uint32_t kLeastShownTwice = 5;
constexpr std::size_t kRunsTwice = 4;
constexpr std::size_t kFirst = 1, kAgain = 3;
constexpr std::uint32_t kPatience = 56;  // runs before: half of a hundred timed ones, and a few
constexpr double kLaunchesTwice = kRunsTwice + 1;  // each
// A kernel that finds what it kept in some of its runs only, or of some contents, has quick ones
// among those that were timed and next to none among as many on contents that are new. One that is
// quick by chance, or on some contents, has as many there.
constexpr double kLeastQuickShare = 1.0 / 6;
constexpr std::uint32_t kShownOften = 60;
constexpr double kLeastQuickExpected = 10;
constexpr double kQuickMissing = 6;  // as many times fewer
constexpr std::uint32_t kTimedAgain = 60;
constexpr std::uint32_t kLastShare = 3;  // of a turn, its last third
// The share of runs that are quick again, of one that keeps results; it is half of one that was
// quick by chance.
constexpr double kLasting = 0.7;
// So few timed runs may all have been quick by chance.
constexpr std::size_t kFewTimed = 20;
constexpr std::uint32_t kFreshProcesses = 3;

constexpr const char* kAnew = "not_shown_anew";
constexpr const char* kNotAgain = "the quick ones among its times did not come again";
constexpr const char* kNoTime = "it would take too much of the time that is left";

bool is_far_slower(double anew_ns, double before_ns) {
  return anew_ns > before_ns * kMostSlower + kMostSlowerNs;
}

// What share of these is far quicker than that.
double quick_share(const std::vector<double>& times_ns, double slow_ns) {
  if (times_ns.empty()) return 0;
  const auto quick = std::count_if(times_ns.begin(), times_ns.end(),
                                   [&](double time_ns) { return is_far_slower(slow_ns, time_ns); });
  return static_cast<double>(quick) / static_cast<double>(times_ns.size());
}

}  // namespace

// The runs above begin with a few contents over and over. A kernel that keeps its results, in
// variables or beside its tensors, answers those at once: what it left is cleared, it runs on one
// of them, and the next is the first of its kind again. What it leaves there is looked at: one that
// recognises the question and does nothing is as quick as one that keeps nothing.
GpuTiming::Step GpuTiming::show_anew(json& body) {
  const double typical_ns = median(kernel_.cold_ns);
  if (!affords(kLaunchesAnew, typical_ns, kShareOfQuestion)) return leave_unasked(kAnew, kNoTime);
  const double affordable = kAnewBudgetNs / (kLaunchesAnew * typical_ns + 1);
  const auto times = static_cast<std::uint32_t>(
      std::clamp<double>(affordable, 1, request_.keeps_state ? kShownAnew : kShownAnewAnyway));
  Anew anew;
  for (std::uint32_t question = 0; question < kQuestions; ++question) {
    auto asked = ask_anew(times);
    if (auto* ended = std::get_if<Ended>(&asked)) return std::move(*ended);
    const auto& shown = std::get<std::optional<Anew>>(asked);
    if (!shown) return leave_unasked(kAnew, "no run can be held against another");
    anew = *shown;
    if (!anew.is_slower) break;
  }
  body["shown_anew_ns"] = anew.shown_ns;
  if (anew.is_slower) {
    if (auto ended = tell_if_it_lasts(anew)) return ended;
    body["shown_anew_ns"] = anew.shown_ns;
    if (is_told_to_remember_ || unasked_.contains(kAnew)) return std::nullopt;
  }
  if (quick_share(kernel_.cold_ns, anew.shown_ns) >= kLeastQuickShare) {
    if (auto ended = show_often(anew.shown_ns)) return ended;
  }
  if (is_told_to_remember_) return std::nullopt;
  if (anew.more_ns > kSuspectedSlower * anew.repeated_ns + kSuspectedSlowerNs) {
    if (auto ended = show_twice()) return ended;
  }
  if (is_told_to_remember_) return std::nullopt;
  return request_.leaves_memory && request_.renew ? show_in_fresh_processes() : std::nullopt;
}

std::variant<std::optional<GpuTiming::Anew>, Ended> GpuTiming::ask_anew(std::uint32_t times) {
  std::vector<TurnOrder> orders;
  for (const std::uint32_t content : drawn_contents(times)) orders.push_back(shown_once(content));
  if (orders.empty()) return std::nullopt;
  const auto examined = keep_first_of_each(orders, 1);
  Turns turns = ask(kernel_, orders);
  if (turns.ended) return std::move(*turns.ended);
  if (auto ended = look_at(examined, examined_beside_)) return std::move(*ended);
  return anew_of(orders, turns);
}

GpuTiming::Step GpuTiming::leave_unasked(const char* what, const std::string& why) {
  unasked_[what] = why;
  return std::nullopt;
}

// Runs that were quick may have been so by chance, or all be slow by now: it has to be as quick in
// others. One that answers from a certain launch of its module on has been loaded anew since: it is
// quick again after as many as were timed, and a few are as quick by chance. A kernel so slow that
// there is no time for those has shown it often enough if it was timed in more than a few. Where
// too few are quick for that, it is held against as many on new contents.
GpuTiming::Step GpuTiming::tell_if_it_lasts(Anew& anew) {
  const auto timed = static_cast<std::uint32_t>(kernel_.cold_ns.size());
  if (!affords(kTimedAgain + 1, anew.shown_ns, kShareOfQuestion)) {
    if (timed < kFewTimed) return leave_unasked(kAnew, kNoTime);
    return tell_remembered(anew.repeated_ns, anew.shown_ns);
  }
  const std::uint32_t as_many = timed < kFewTimed ? 0 : std::max(timed, kTimedAgain);
  const std::pair<std::uint32_t, std::uint32_t> runs_and_last[] = {{kTimedAgain, kTimedAgain},
                                                                   {as_many, as_many / kLastShare}};
  for (const auto& [runs, last] : runs_and_last) {
    if (runs == 0 || !affords(runs + 1, anew.shown_ns, kShareOfQuestion)) break;
    auto again = ask_one(kernel_, cold_turn(runs, 0).order);
    if (auto* ended = std::get_if<Ended>(&again)) return std::move(*ended);
    const auto& times_ns = std::get<Turn>(again).samples_ns;
    const auto looked_at =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(last, times_ns.size()));
    if (quick_share({times_ns.end() - looked_at, times_ns.end()}, anew.shown_ns) >= kLasting) {
      return tell_if_still_slower(anew);
    }
  }
  if (auto ended = show_often(anew.shown_ns)) return ended;
  return is_told_to_remember_ ? std::nullopt : leave_unasked(kAnew, kNotAgain);
}

// The questions above come one right behind the other: a host that was late for all of them (1 of
// 600 honest evaluations, where others wanted its processors, 2026-11-27) is not for as many again.
GpuTiming::Step GpuTiming::tell_if_still_slower(Anew& anew) {
  auto asked = ask_anew(kShownLater);
  if (auto* ended = std::get_if<Ended>(&asked)) return std::move(*ended);
  const auto& later = std::get<std::optional<Anew>>(asked);
  if (!later) return leave_unasked(kAnew, kNotAgain);
  if (later->slower_share >= kSlowerLater) return tell_remembered(anew.repeated_ns, anew.shown_ns);
  if (later->is_slower) return leave_unasked(kAnew, kNotAgain);
  anew = *later;
  return std::nullopt;
}

// Of those that were timed the ones whose answers are known, or else all: each before any a second
// time, in no order.
std::vector<std::uint32_t> GpuTiming::drawn_contents(std::uint32_t count) {
  std::vector<std::uint32_t> timed;
  for (const auto& [content, times_ns] : kernel_.by_content_ns) {
    if (!times_ns.empty()) timed.push_back(content);
  }
  std::vector<std::uint32_t> known = timed;
  std::erase_if(known, [&](std::uint32_t content) { return content >= known_contents(); });
  std::vector<std::uint32_t>& all = known.empty() ? timed : known;
  std::vector<std::uint32_t> drawn;
  while (drawn.size() < count && !all.empty()) {
    std::shuffle(all.begin(), all.end(), random_);
    drawn.insert(drawn.end(), all.begin(), all.end());
  }
  drawn.resize(std::min<std::size_t>(drawn.size(), count));
  std::shuffle(drawn.begin(), drawn.end(), random_);
  return drawn;
}

TurnOrder GpuTiming::shown_once(std::uint32_t content) {
  const std::uint32_t seen = (content + 1 + below(slots_ - 1)) % slots_;
  return {.view = "cold",
          .runs = {{.place = below(places_), .content = seen},
                   {.place = below(places_), .content = content}},
          .warmups = 1,
          .fresh_module = true};
}

// What is handed back of a content takes the place of what was handed back of it before: one run of
// each, whichever. Answers their contents.
std::vector<std::uint32_t> GpuTiming::keep_first_of_each(std::vector<TurnOrder>& orders,
                                                         std::size_t which) const {
  std::set<std::uint32_t> kept;
  for (TurnOrder& order : orders) {
    RunOrder& run = order.runs.at(which);
    run.keep = run.content < known_contents() && kept.insert(run.content).second;
  }
  return {kept.begin(), kept.end()};
}

std::optional<GpuTiming::Anew> GpuTiming::anew_of(const std::vector<TurnOrder>& orders,
                                                  const Turns& turns) const {
  std::vector<double> anew;
  std::vector<double> repeated;
  std::vector<double> more_ns;
  std::size_t slower = 0;
  for (std::size_t i = 0; i < turns.taken.size(); ++i) {
    const auto& samples_ns = turns.taken[i].samples_ns;
    const auto& runs = orders[i].runs;
    // How long a kernel takes may depend on what it works on: of the same contents.
    const auto known = kernel_.by_content_ns.find(runs.back().content);
    if (known == kernel_.by_content_ns.end() || samples_ns.size() != runs.size()) continue;
    const double before = median(known->second);
    if (before <= 0) continue;
    anew.push_back(samples_ns.back());
    repeated.push_back(before);
    more_ns.push_back(anew.back() - before);
    slower += is_far_slower(anew.back(), before) ? 1 : 0;
  }
  if (anew.empty()) return std::nullopt;
  return Anew{.shown_ns = median(anew),
              .repeated_ns = median(repeated),
              .more_ns = median(more_ns),
              .is_slower = slower * 2 > anew.size(),
              .slower_share = static_cast<double>(slower) / static_cast<double>(anew.size())};
}

GpuTiming::Step GpuTiming::tell_remembered(double repeated_ns, double anew_ns) {
  is_told_to_remember_ = true;
  const json told{{"check", "remembers"}, {"repeated_ns", repeated_ns}, {"shown_anew_ns", anew_ns}};
  return judge_(0, {{"outputs", json::array()}, {"findings", json::array({told})}});
}

// All in one place: an address that is new to the device may cost time, too.
TurnOrder GpuTiming::shown_twice(std::uint32_t content, std::uint32_t patience) {
  const std::uint32_t seen = (content + 1 + below(slots_ - 1)) % slots_;
  TurnOrder order{.view = "cold", .warmups = 1, .fresh_module = true};
  const std::uint32_t place = below(places_);
  order.runs.assign(patience, {.place = place, .content = seen});
  for (const std::uint32_t run : {seen, content, seen, content}) {
    order.runs.push_back({.place = place, .content = run});
  }
  return order;
}

// In so small portions that every first run is looked at.
std::variant<GpuTiming::Twice, Ended> GpuTiming::ask_twice(std::uint32_t times,
                                                           std::uint32_t patience) {
  Twice shown;
  const std::uint32_t portion = std::clamp(known_contents(), 1U, slots_);
  for (std::uint32_t asked = 0; asked < times; asked += portion) {
    std::vector<TurnOrder> orders;
    for (const std::uint32_t content : drawn_contents(std::min(portion, times - asked))) {
      orders.push_back(shown_twice(content, patience));
    }
    const auto examined = keep_first_of_each(orders, patience + kFirst);
    Turns turns = ask(kernel_, orders);
    if (turns.ended) return std::move(*turns.ended);
    if (auto ended = look_at(examined, examined_beside_)) return std::move(*ended);
    shown.add(turns, patience);
  }
  return shown;
}

GpuTiming::Step GpuTiming::show_twice() {
  auto asked = ask_twice_often(0);
  if (auto* ended = std::get_if<Ended>(&asked)) return std::move(*ended);
  const auto& all = std::get<std::optional<Twice>>(asked);
  if (!all) return leave_unasked(kAnew, kNoTime);
  if (all->is_slower()) return tell_remembered(median(all->again_ns), median(all->first_ns));
  // As slow when they are shown again: who keeps results from a certain launch of its module on has
  // not begun to.
  const double typical_ns = median(kernel_.cold_ns);
  if (median(all->again_ns) - typical_ns <= Twice::least_ns(typical_ns)) return std::nullopt;
  asked = ask_twice_often(kPatience);
  if (auto* ended = std::get_if<Ended>(&asked)) return std::move(*ended);
  const auto& later = std::get<std::optional<Twice>>(asked);
  if (!later) return leave_unasked(kAnew, kNoTime);
  if (!later->is_slower()) return std::nullopt;
  return tell_remembered(median(later->again_ns), median(later->first_ns));
}

// Until one of several questions says it is no slower; nothing where there is no time for that.
std::variant<std::optional<GpuTiming::Twice>, Ended> GpuTiming::ask_twice_often(
    std::uint32_t patience) {
  const double typical_ns = median(kernel_.cold_ns);
  const double launches = kLaunchesTwice + patience;
  const double affordable = kAnewBudgetNs / (launches * typical_ns + 1);
  const auto times = static_cast<std::uint32_t>(std::clamp<double>(affordable, 0, kShownTwice));
  if (times < kLeastShownTwice) return std::nullopt;
  std::optional<Twice> all;
  for (std::uint32_t question = 0; question < kQuestions; ++question) {
    if (!affords(launches * times, typical_ns, kShareOfQuestion)) return std::nullopt;
    auto asked = ask_twice(times, patience);
    if (auto* ended = std::get_if<Ended>(&asked)) return std::move(*ended);
    all = std::move(std::get<Twice>(asked));
    if (!all->is_slower()) break;
  }
  return all;
}

void GpuTiming::Twice::add(const Turns& turns, std::size_t patience) {
  for (const Turn& turn : turns.taken) {
    if (turn.samples_ns.size() != patience + kRunsTwice) continue;
    first_ns.push_back(turn.samples_ns[patience + kFirst]);
    again_ns.push_back(turn.samples_ns[patience + kAgain]);
  }
}

double GpuTiming::Twice::least_ns(double of_ns) {
  return std::max(kRememberedNs, kRemembered * of_ns);
}

bool GpuTiming::Twice::is_slower() const {
  std::vector<double> more_ns;
  for (std::size_t i = 0; i < first_ns.size(); ++i) more_ns.push_back(first_ns[i] - again_ns[i]);
  return more_ns.size() >= kLeastShownTwice && median(more_ns) > least_ns(median(again_ns));
}

// Whether those that are new have as many quick runs as those that were timed, content by content.
GpuTiming::Step GpuTiming::show_often(double slow_ns) {
  const double affordable = kAnewBudgetNs / (kLaunchesAnew * slow_ns + 1);
  const auto times = static_cast<std::uint32_t>(std::clamp<double>(affordable, 0, kShownOften));
  if (times * quick_share(kernel_.cold_ns, slow_ns) < kLeastQuickExpected) {
    return leave_unasked(kAnew, kNoTime);
  }
  const std::uint32_t portion = std::clamp(known_contents(), 1U, slots_);
  double expected = 0, quick = 0;
  for (std::uint32_t asked = 0; asked < times; asked += portion) {
    if (!affords(kLaunchesAnew * portion, slow_ns, kShareOfQuestion)) {
      return leave_unasked(kAnew, kNoTime);
    }
    std::vector<TurnOrder> orders;
    for (const std::uint32_t content : drawn_contents(portion)) {
      orders.push_back(shown_once(content));
      expected += quick_share(kernel_.by_content_ns[content], slow_ns);
    }
    const auto examined = keep_first_of_each(orders, 1);
    const Turns turns = ask(kernel_, orders);
    if (turns.ended) return turns.ended;
    if (auto ended = look_at(examined, examined_beside_)) return ended;
    for (const Turn& turn : turns.taken) {
      if (turn.samples_ns.empty()) return std::nullopt;
      quick += quick_share({turn.samples_ns.back()}, slow_ns);
    }
    if (quick * kQuickMissing > kShownOften) return std::nullopt;  // as many as could be expected
  }
  // What it is quick on may be among what was not shown: contents whose answers nobody knows.
  if (expected < kLeastQuickExpected) return leave_unasked(kAnew, kNotAgain);
  if (quick * kQuickMissing > expected) return std::nullopt;
  return tell_if_quick_again(times, expected, quick, slow_ns);
}

// Unless what made those slow makes all slow by now, or those that were quick were so by chance.
GpuTiming::Step GpuTiming::tell_if_quick_again(std::uint32_t times, double expected, double quick,
                                               double slow_ns) {
  if (!affords(kTimedAgain, slow_ns, kShareOfQuestion)) return leave_unasked(kAnew, kNoTime);
  auto again = ask_one(kernel_, cold_turn(kTimedAgain, 0).order);
  if (auto* ended = std::get_if<Ended>(&again)) return std::move(*ended);
  const auto& again_ns = std::get<Turn>(again).samples_ns;
  const double still = quick_share(again_ns, slow_ns);
  if (2 * still * times < expected) return leave_unasked(kAnew, kNotAgain);
  // Of few timed runs more may be quick by chance than of most.
  std::vector<double> all_ns = kernel_.cold_ns;
  all_ns.insert(all_ns.end(), again_ns.begin(), again_ns.end());
  const double least = std::max(kLeastQuickExpected, quick * kQuickMissing);
  if (times * quick_share(all_ns, slow_ns) < least) return leave_unasked(kAnew, kNotAgain);
  std::vector<double> quick_ns;
  for (const double time_ns : kernel_.cold_ns) {
    if (is_far_slower(slow_ns, time_ns)) quick_ns.push_back(time_ns);
  }
  return tell_remembered(median(quick_ns), slow_ns);
}

// Who is slow on what its process never saw is asked in others: something may disturb one.
GpuTiming::Step GpuTiming::show_in_fresh_processes() {
  std::vector<double> first_ns;
  std::vector<double> again_ns;
  for (std::uint32_t i = 0; i < kFreshProcesses; ++i) {
    if (auto ended = start_afresh(kernel_)) return ended;
    std::vector<TurnOrder> orders{shown_twice(drawn_contents(1).front(), 0)};
    const auto examined = keep_first_of_each(orders, kFirst);
    const Turns turns = ask(kernel_, orders);
    if (turns.ended) return turns.ended;
    if (auto ended = look_at(examined, examined_beside_)) return ended;
    const auto& samples_ns = turns.taken.front().samples_ns;
    if (samples_ns.size() != kRunsTwice) return std::nullopt;
    if (!is_far_slower(samples_ns[kFirst], samples_ns[kAgain])) return std::nullopt;
    first_ns.push_back(samples_ns[kFirst]);
    again_ns.push_back(samples_ns[kAgain]);
  }
  return tell_remembered(median(again_ns), median(first_ns));
}

}  // namespace assay::node
