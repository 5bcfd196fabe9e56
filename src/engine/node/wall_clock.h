// A host's clock beside the device's: what events say of a stretch of launches is held against how
// long that stretch took by the clock of the process that made them, and of the engine that asked.
//
// In that process no code of the user's runs on the host, so its clock is the engine's own; events
// are written to memory by the device. Times that are too short hide work: then a stretch takes
// longer by the host's clock than by its events, and twice the launches hide twice as much, which
// no cost of launching, waiting or being preempted does. Where there is no stretch, long runs are
// held against what the questions for them took, and nobody knows of short ones. Times that are too
// long add up to more than the question took. Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace assay::node {

// Of graphs of N and 2N launches, as their process tells it (runner/gpu_timer.h).
struct WallClaim {
  std::uint64_t launches = 0;  // in the stretch
  double wall_ns = 0;
  double events_ns = 0;
  // Where both differ by more than launching and waiting: what one launch hides, by the least of
  // several looks at N and at 2N.
  std::optional<double> hidden_ns{};
};

struct ClaimedTimes {
  double slope_ns = 0;      // of one launch, by the graph's events; 0: there is none
  double cold_ns = 0;       // the median
  std::size_t kernels = 1;  // launched in one run
  // Whether a run that begins with what another left takes as long as one that does not.
  bool repeats = true;
  // As it is told, of all contents alike; and what a cold run takes by the engine's clock beside
  // that, all that is done around it included, by the least of several questions: none was asked
  // where a graph was timed.
  double told_cold_ns = 0;
  std::optional<double> cold_beside_ns{};
  // Of any question: all its samples together, and what it took by the engine's clock.
  double summed_ns = 0;
  double asked_ns = 0;
};

// What one launch may hide beside its slope, and beside that share of it.
inline constexpr double kMostHiddenNs = 1'000;
inline constexpr double kMostHidden = 0.5;
// A cold run does what a warm launch does, and fetches its tensors besides.
inline constexpr double kMostTimesCold = 3;
inline constexpr double kColdDoubtNs = 4'000;
// Clocks of a host and a device differ by some hundred parts of a million.
inline constexpr double kClocksDiffer = 0.01;
inline constexpr double kQuestionDoubtNs = 1e6;

// Whether runs as long as that hide no more than launches of a graph may.
[[nodiscard]] bool is_held_by_question(const ClaimedTimes& times);

struct WallJudgement {
  std::string why{};  // what disagrees; "" if nothing does
  // Why nobody's clock stands behind its times, or not behind those of cold runs; "" if one does.
  std::string doubt{};
  // {result: agrees, disagrees or unknown, launches?, wall_ns?, events_ns?, hidden_ns?,
  // cold_beside_ns?, detail?}
  nlohmann::json told = nlohmann::json::object();
};
[[nodiscard]] WallJudgement judge_wall(const std::optional<WallClaim>& claim,
                                       const ClaimedTimes& times);

}  // namespace assay::node
