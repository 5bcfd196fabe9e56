// How long a Python source's own code may take where nothing is timed: while it is loaded, and in
// its get_inputs().
//
// Values; of the job's thread.
#pragma once

#include <chrono>
#include <optional>

#include "engine/node/ended.h"

namespace assay::node {

// Before its deadline a process says where it is.
constexpr std::chrono::milliseconds kTellingGrace{300};

// The task's timeout, but ten seconds at least and two minutes at most: modules are imported from a
// disk that may be cold, weights are made.
constexpr std::chrono::seconds kLeastLoadingTime{10};
constexpr std::chrono::seconds kMostLoadingTime{120};
[[nodiscard]] std::chrono::milliseconds loading_time(std::chrono::milliseconds timeout);

// What a job's get_inputs() may take, all its calls together, in whichever process they are made.
struct InputTime {
  std::chrono::nanoseconds left{0};
  std::chrono::nanoseconds fastest = std::chrono::nanoseconds::max();  // call so far

  // As much as loading.
  [[nodiscard]] static InputTime of(std::chrono::milliseconds timeout) {
    return {.left = loading_time(timeout)};
  }
  [[nodiscard]] bool is_used_up() const { return left <= std::chrono::nanoseconds(0); }
  // One call took that long, and what became of it where it has no answer: that a process was ended
  // just before its deadline is the time's doing.
  void take(std::chrono::nanoseconds took, Ended* failed);
  // The end of a job that has none left.
  [[nodiscard]] static Ended used_up();
};

}  // namespace assay::node
