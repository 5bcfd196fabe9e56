// The timed stage on a GPU: turns of cold runs, some of which the referee examines afterwards, then
// the warm and the graph view; with a reference, turns of both side by side and a ratio with its
// interval. Nothing is subtracted and nothing is rounded; what was not measured says why.
//
// One object per job, used by the job's thread while it holds the device.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "engine/node/alike_runs.h"
#include "engine/node/clock_log.h"
#include "engine/node/cold_stop.h"
#include "engine/node/ended.h"
#include "engine/node/floor.h"
#include "engine/node/graph_slope.h"
#include "engine/node/kernel_session.h"
#include "engine/node/neighbours.h"
#include "engine/node/ratio.h"
#include "engine/node/referee_session.h"
#include "engine/node/staging.h"
#include "engine/node/timing_method.h"

namespace assay::node {

struct TimingRequest {
  std::uint32_t trials = 100;
  bool may_add = false;  // nobody asked for that many: where they say too little, more are taken
  std::uint32_t warmups = 1;
  TimingMethod method = TimingMethod::automatic;
  // Trials that the referee holds expected outputs of: runs begin with the inputs of one of them.
  std::uint32_t known_trials = 1;
  std::uint64_t arena_bytes = 0;
  std::uint64_t device_bytes = 0;  // of its memory; 0: unknown
  double seen_ns = 0;              // what the longest launch of the kernel took so far; 0: unknown
  // The kernel's session has begun to stage as many contents as staging_of() says: of the trials
  // from 0 on.
  bool staged_ahead = false;
  bool keeps_state = false;  // the program has variables that outlast a launch
  // It has memory that only the end of its process empties: of the device's heap, of its threads'.
  bool leaves_memory = false;
  // A side works on what its tensors begin with: launched again without being given it anew, as a
  // graph does, it may wait for ever, leave its tensors, or find its work done.
  bool works_on_contents = false;
  // Contents are those of the trials from here on; made by this, if not by the referee alone.
  std::uint32_t first_trial = 0;
  std::function<std::variant<LentArena, Ended>(std::uint32_t trial, std::uint32_t slot)> fill{};
  std::uint64_t scratch_bytes = 0;  // that each place has beside its arena
  std::size_t launches = 1;         // of the judged side, in one run
  double highest_mhz = 0;           // of the device's multiprocessors; 0: nobody says
  Floor floor{};                    // of the contract
  bool others_are_visible = false;  // processes that are not ours, to one of ours
  // Nobody of ours had the device for longer than it remembers, and this job only just.
  bool was_quiet = false;
  // One of ours had it a moment ago, and asked then who else is there.
  bool is_in_burst = false;
  // Another process with the program of one side, in place of the one that side had.
  std::function<std::variant<KernelSession*, Ended>(bool is_reference)> renew{};
};

class GpuTiming {
 public:
  using Step = std::optional<Ended>;  // nothing: go on
  // Judges what the referee said of a run that was timed, made with the inputs of that trial.
  using Judge = std::function<Step(std::uint32_t trial, const nlohmann::json& said)>;

  // Borrows everything; `reference` may be null.
  GpuTiming(RefereeSession& referee, KernelSession& kernel, KernelSession* reference,
            TimingRequest request, Judge judge, std::chrono::nanoseconds& execution_left);

  // What was measured lands in `body`, also when it ends early.
  [[nodiscard]] Step measure(nlohmann::json& body);
  // A side's process ended in a view that does not count against it: no process is to be used
  // again.
  [[nodiscard]] bool is_unrepeatable() const { return !unrepeatable_.empty() || is_spent_; }
  // Its times may be those of results that it kept, or of runs that did less: something that was to
  // tell was not asked, or told nothing.
  [[nodiscard]] bool is_doubtful() const { return !unasked_.empty(); }

 private:
  // Whoever is told has to be so in each of these: a host that is late for one question, as where
  // others want its processors, is late for all runs in it (4 of 478 honest evaluations were told
  // on a virtual machine, 2026-11-25).
  static constexpr std::uint32_t kQuestions = 3;

  static constexpr std::uint32_t kPairs = 12;  // of turns, of a kernel and its reference
  struct Series {
    std::vector<double> turns_ns{};     // the median of each turn
    std::vector<double> turn_cycles{};  // likewise, in clock cycles
    // Of graphs, what those are made of: each turn's, and the clock in it (0: unknown).
    std::vector<GraphTurn> graphs{};
    std::vector<double> clocks_mhz{};
  };
  struct Side {
    KernelSession* session = nullptr;
    const char* name = "";
    double typical_ns = 0;
    std::vector<double> cold_ns{};
    std::map<std::uint32_t, std::vector<double>> by_content_ns{};  // the same
    Series cold{};                                                 // of its turns
    Series graph{};                                                // likewise, of graphs
    Series renewed{};                 // of graphs whose launches have their contents anew
    std::optional<WallClaim> wall{};  // of its graph view
    // Of the question whose samples add up to most beside what it took.
    double summed_ns = 0;
    double asked_ns = 0;
  };

  // What both sides are asked for alike: how long a kernel takes may depend on what it works on.
  struct ColdTurn {
    TurnOrder order{};
    std::vector<std::uint32_t> examined{};  // contents of the runs that are handed back
  };

  [[nodiscard]] Step stage_arenas();
  [[nodiscard]] std::variant<std::vector<LentArena>, Ended> filled_arenas();
  [[nodiscard]] Step stage(KernelSession& session, const std::vector<LentArena>& arenas);
  [[nodiscard]] Step take_staged(std::variant<std::uint32_t, Ended> staged);
  [[nodiscard]] Step estimate();
  [[nodiscard]] Step take_turns();
  // Of the cold runs of a kernel without a reference; with one the ratio's interval decides.
  [[nodiscard]] Step narrow();
  // `examined`: how many of its runs the referee looks at, at most as many as it knows contents.
  [[nodiscard]] ColdTurn cold_turn(std::uint32_t runs, std::uint32_t examined);
  // Of the reference none is looked at.
  [[nodiscard]] Step take_turn(Side& side, const ColdTurn& turn);
  [[nodiscard]] std::vector<std::uint32_t> choose_examined(TurnOrder& turn, std::uint32_t count);
  // Not that; one of which no run was looked at, while there is such.
  [[nodiscard]] std::uint32_t draw_examined(std::uint32_t last);
  void draw_between(TurnOrder& turn, std::uint32_t run, std::uint32_t first_examined);
  [[nodiscard]] std::uint32_t known_contents() const;
  [[nodiscard]] Step examine(const std::vector<std::uint32_t>& slots);
  // Once, of the graphs that the views will ask for: whether that is asked now.
  [[nodiscard]] bool capture_meanwhile();
  // REQUIRES that it was, and is not heard of yet.
  [[nodiscard]] Step hear_of_capture();
  [[nodiscard]] Step look_at(const std::vector<std::uint32_t>& slots, std::uint32_t& count);
  // More runs of a kernel whose times are of two kinds, or who leaves other bits in some.
  [[nodiscard]] Step look_closer();
  // The timed runs that nobody looked at, by what they left.
  [[nodiscard]] Step judge_alike(nlohmann::json& body);
  struct Anew {
    double shown_ns = 0;  // on contents that were not shown before
    double repeated_ns = 0;
    double more_ns = 0;       // of the same contents
    bool is_slower = false;   // by far, most times
    double slower_share = 0;  // of the times
  };
  [[nodiscard]] Step show_anew(nlohmann::json& body);
  [[nodiscard]] std::variant<std::optional<Anew>, Ended> ask_anew(std::uint32_t times);
  [[nodiscard]] Step leave_unasked(const char* what, const std::string& why);
  // Where it was slower for a while only, `anew` is how slow it is later, and nothing is told.
  [[nodiscard]] Step tell_if_it_lasts(Anew& anew);
  [[nodiscard]] Step tell_if_still_slower(Anew& anew);
  [[nodiscard]] std::vector<std::uint32_t> drawn_contents(std::uint32_t count);
  // A turn of a run on another content and one on this, which is new to it.
  [[nodiscard]] TurnOrder shown_once(std::uint32_t content);
  [[nodiscard]] std::vector<std::uint32_t> keep_first_of_each(std::vector<TurnOrder>& orders,
                                                              std::size_t which) const;
  // Nothing where no run can be held against another.
  [[nodiscard]] std::optional<Anew> anew_of(const std::vector<TurnOrder>& orders,
                                            const Turns& turns) const;
  // A turn of runs on another content, on this that is new to it, and on both again. Where what was
  // left cannot be cleared, in a fresh process.
  // `patience`: runs before these, on the other content.
  [[nodiscard]] TurnOrder shown_twice(std::uint32_t content, std::uint32_t patience);
  struct Twice {
    std::vector<double> first_ns{};
    std::vector<double> again_ns{};
    void add(const Turns& turns, std::size_t patience);
    [[nodiscard]] bool is_slower() const;  // the first, in most turns
    [[nodiscard]] static double least_ns(double of_ns);
  };
  [[nodiscard]] std::variant<Twice, Ended> ask_twice(std::uint32_t times, std::uint32_t patience);
  [[nodiscard]] std::variant<std::optional<Twice>, Ended> ask_twice_often(std::uint32_t patience);
  [[nodiscard]] Step show_twice();
  [[nodiscard]] Step show_often(double slow_ns);
  // Of so many that are new so many were quick; `expected`: by the timed ones.
  [[nodiscard]] Step tell_if_quick_again(std::uint32_t times, double expected, double quick,
                                         double slow_ns);
  [[nodiscard]] Step show_in_fresh_processes();
  [[nodiscard]] Step tell_remembered(double repeated_ns, double anew_ns);
  [[nodiscard]] Step other_views(nlohmann::json& body);
  [[nodiscard]] Step views_of(Side& side, nlohmann::json& into);
  [[nodiscard]] std::vector<TurnOrder> affordable_views(const Side& side, nlohmann::json& into);
  struct Leaning {
    double fresh_ns = 0;     // on fresh tensors
    double repeated_ns = 0;  // on those that a launch has left
  };
  // What a graph saves of a run alone, if that is more than it may.
  [[nodiscard]] std::optional<Leaning> leaning_of(const TurnOrder& asked, const Turn& warm,
                                                  const Turn& graph) const;
  // REQUIRES that of the first answer to have found something.
  [[nodiscard]] Step judge_leaning(Side& side, const std::vector<TurnOrder>& orders,
                                   Leaning leaning);
  // Warm runs on fresh tensors, each place's once more on what that left.
  [[nodiscard]] TurnOrder left_beside_fresh(std::uint32_t pairs, double typical_ns);
  // Whether it is what a launch has left that makes the next one quick.
  [[nodiscard]] std::variant<bool, Ended> is_quicker_on_what_is_left(Side& side,
                                                                     std::uint32_t pairs);
  // A warm run that the referee looks at: its contents.
  [[nodiscard]] std::vector<std::uint32_t> choose_examined_views(std::vector<TurnOrder>& orders);
  [[nodiscard]] Step go_on_afresh(Side& side, const std::string& failure);
  // REQUIRES request_.renew.
  [[nodiscard]] Step start_afresh(Side& side);
  // Whether a view ended so because its runs begin with what others left.
  [[nodiscard]] bool is_of_repeating(const Ended& ended) const;
  [[nodiscard]] Step compare(nlohmann::json& body);
  [[nodiscard]] Step settle(Series Side::*basis, double doubt_ns);
  // Why the slopes of graphs do not decide; "" if they do.
  [[nodiscard]] std::string no_slopes(const nlohmann::json& body) const;
  [[nodiscard]] Step ratio_by(Series Side::*basis, nlohmann::json& body);
  void confirm_in_cycles(Series Side::*basis, const Ratio& ratio, double doubt_ns,
                         nlohmann::json& body) const;
  [[nodiscard]] double queueing_ns() const;
  // A launch of either in graphs, by what says more of what is saved: their medians or their ratio.
  [[nodiscard]] Medians repeated() const;
  [[nodiscard]] Medians medians(Series Side::*series) const;
  // Why what graphs say is saved is not believed; "" if it is.
  [[nodiscard]] std::variant<std::string, Ended> why_not_believed(bool is_told);
  [[nodiscard]] bool is_shown_anew() const;
  [[nodiscard]] double anew_ns();
  // The last turns of both were.
  [[nodiscard]] bool is_captured(Series Side::*basis) const;
  [[nodiscard]] Step graph_turn(Side& side, Series Side::*basis, bool examined);
  // Turns to ask for: that which counts, and of it or beside it one that is looked at.
  struct GraphOrders {
    std::vector<TurnOrder> orders{};
    std::size_t counted = 0;  // of them
    std::uint32_t shown_content = 0;
  };
  [[nodiscard]] GraphOrders graph_orders(const Side& side, Series Side::*basis, bool examined);
  // Turns of graphs, those of a side that is short of what graphs cost on both made up for it.
  void reckon_launches(Series Side::*basis);
  [[nodiscard]] Step one_more_pair(Series Side::*basis);
  [[nodiscard]] bool affords_pair(Series Side::*basis) const;
  // Turns of a side, at least one; a failure names whose it is.
  [[nodiscard]] Turns ask(Side& side, std::vector<TurnOrder> orders);
  [[nodiscard]] std::variant<Turn, Ended> ask_one(Side& side, TurnOrder order);
  void say_what_else_to_tell(TurnOrder& first);
  void note(Side& side, const std::vector<TurnOrder>& orders, const Turns& turns);
  void note_neighbours(const nlohmann::json& state, bool is_before);
  // What its times are held against: a host's clock, and the memory's rate.
  [[nodiscard]] Step judge_claims(nlohmann::json& body);
  [[nodiscard]] std::variant<double, Ended> longest_ns();
  // Where no graph was timed.
  [[nodiscard]] Step ask_beside(ClaimedTimes& times);
  // Likewise, of views whose runs may never end by no fault of the kernel's.
  [[nodiscard]] Turns ask_views(Side& side, std::vector<TurnOrder> orders);
  // Of a side whose launch takes that long: 0 if nobody knows.
  [[nodiscard]] TurnOrder order(const char* view, std::uint32_t runs, double typical_ns);
  [[nodiscard]] TurnOrder graph_order(std::uint32_t repeats, double typical_ns);
  // Whether so many launches that take so long fit into that share of the time that is left.
  [[nodiscard]] bool affords(double launches, double launch_ns, double share) const;
  [[nodiscard]] double slowest_ns() const;
  [[nodiscard]] std::uint32_t below(std::uint32_t bound);
  void tell(nlohmann::json& body) const;

  RefereeSession& referee_;
  TimingRequest request_;
  Judge judge_;
  std::chrono::nanoseconds& execution_left_;
  Side kernel_;
  std::optional<Side> reference_{};
  std::uint32_t slots_ = 1;                       // contents that runs begin with
  std::uint32_t places_ = 1;                      // that they work in
  std::uint32_t trials_ = 0;                      // that the budget allows
  std::uint32_t examined_ = 0;                    // of the timed runs
  std::uint32_t examined_beside_ = 0;             // of others, like them, or on contents shown anew
  std::optional<std::uint32_t> last_examined_{};  // its contents
  std::set<std::uint32_t> ever_examined_{};       // likewise
  AlikeRuns alike_{};                             // of the kernel
  double event_overhead_ns_ = 0;
  std::string unrepeatable_{};                    // what became of a view, and whose
  std::string uncaptured_{};                      // likewise of a graph
  std::string no_graph_{};                        // why none is asked of the kernel; "": it is
  std::map<std::string, std::string> unasked_{};  // what, and why
  bool is_told_to_remember_ = false;              // the kernel: once is enough
  bool is_spent_ = false;                         // a process is left in a state that nobody knows
  std::optional<ColdNext> cold_stop_{};           // once all its cold runs were taken
  bool is_asked_ = false;                         // something was
  bool is_captured_ = false;                      // was asked for, of the graphs of a view
  bool is_noted_ = false;                         // an answer was
  bool are_neighbours_asked_ = false;
  Neighbours neighbours_{};
  nlohmann::json busy_before_pct_ = nullptr;  // the device, whoever used it
  ClockLog clocks_;
  std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace assay::node
