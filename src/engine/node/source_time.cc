#include "engine/node/source_time.h"

#include <algorithm>

namespace assay::node {

std::chrono::milliseconds loading_time(std::chrono::milliseconds timeout) {
  return std::clamp<std::chrono::milliseconds>(timeout, kLeastLoadingTime, kMostLoadingTime);
}

void InputTime::take(std::chrono::nanoseconds took, Ended* failed) {
  left -= took;
  if (failed == nullptr) {
    fastest = std::min(fastest, took);
  } else if (failed->verdict == job::Verdict::timed_out && left <= kTellingGrace) {
    failed->summary = used_up().summary;
  }
}

Ended InputTime::used_up() {
  return {.verdict = job::Verdict::timed_out,
          .summary =
              "get_inputs() used up its time: all its calls together get the timeout, ten "
              "seconds at least and two minutes at most. It is called once for every trial "
              "and every timed call."};
}

}  // namespace assay::node
