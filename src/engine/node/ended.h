// How a job that does not pass ends. Every failure has an owner: what the kernel, the source or the
// request did is a verdict with its cause; what we did is engine_fault. Decided here and nowhere
// else.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "engine/job/verdict.h"
#include "engine/node/runner_process.h"

namespace assay::node {

struct Ended {
  job::Verdict verdict = job::Verdict::engine_fault;
  std::string summary{};  // one cause, one next step
  // Machine-readable cause: signal, limits, fault location, the runner's last output.
  nlohmann::json detail = nlohmann::json::object();
  bool interrupted = false;
};

// Whether what ended so may be at work on its device still: it ran out of its time, crashed, or
// failed in a way that nobody knows.
[[nodiscard]] bool may_go_on(const Ended& ended);

// What the end of a runner means for the job, by the role it played.
[[nodiscard]] Ended blame(const RunnerEnd& end, RunnerRole role);

// Decodes what a runner that met user input has answered. Its words are claims: one that does not
// decode is the runner's end (`malformed`), never an exception of ours.
template <typename Decode>
[[nodiscard]] auto decode_claim(RunnerRole role, Decode&& decode) -> decltype(decode()) {
  try {
    return decode();
  } catch (const nlohmann::json::exception& error) {
    return blame({.why = RunnerEnd::Why::malformed, .detail = error.what()}, role);
  }
}

// It was stopped before it came to its end.
[[nodiscard]] Ended cancelled();
// Behind steps that a cancel only cuts short, as those that count, check or generalise: their job
// is no passed one.
[[nodiscard]] std::optional<Ended> cancelled_if(const std::stop_token& stop);

// Our own failure, told as one.
[[nodiscard]] Ended our_fault(const std::string& what);

}  // namespace assay::node
