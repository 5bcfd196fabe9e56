// What examines the runs of a job: makes each run's memory and judges what a run left in it. Two
// are there, which give the same answers: on the host (examination.h), and on a device
// (device_examination.h).
//
// Trusted; lives in the referee's process, whose memory no runner can reach. One thread.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/contract/layout.h"
#include "engine/posix/descriptor.h"

namespace assay::runner {

class Examiner {
 public:
  Examiner() = default;
  virtual ~Examiner() = default;
  Examiner(const Examiner&) = delete;
  Examiner& operator=(const Examiner&) = delete;

  [[nodiscard]] virtual const contract::Layout& layout() const = 0;
  // Whether the memory that fill() lends is a device's.
  [[nodiscard]] virtual bool is_on_device() const = 0;

  // An arena with the inputs of `trial`, outputs poisoned or pre-filled, guards patterned; its
  // descriptor, to be lent to a runner. Arenas stand in slots: the previous one of this slot is let
  // go. What is said next is about this one, until select() says otherwise.
  [[nodiscard]] virtual posix::Descriptor fill(std::uint32_t trial, std::uint32_t slot) = 0;
  // Takes the inputs out of `given`, memory of this layout that was made elsewhere, for the arena
  // that was filled last; its outputs and guards stay as they are. Throws std::runtime_error if the
  // memory does not fit, or where the arena is a device's.
  virtual void take_inputs(posix::Descriptor given) = 0;
  // Inputs of the arena that was filled last whose contents the contract fixes hold others
  // (contract/fixed_contents.h). For outline() alone: expect() and check() would call them changed.
  virtual void draw_otherwise() = 0;
  // Throws std::out_of_range for a slot that was never filled.
  virtual void select(std::uint32_t slot) = 0;
  // The run that is selected counts as one of another trial from now on: what it left is held
  // against that one's answers, which tells whether they differ at all.
  virtual void count_as(std::uint32_t trial) = 0;

  // The outputs now in the arena are what the candidate must produce for this trial. Also says how
  // the reference itself behaved: guards, inputs, unwritten elements. {findings}
  [[nodiscard]] virtual nlohmann::json expect() = 0;

  // The outputs now in the arena are one part of what the reference gives for this trial when it
  // computes in double (see judge/precision.h), which check() tells of from then on.
  enum class Part { high, low };
  virtual void expect_in_double(Part /*part*/) {
    throw std::runtime_error("what was computed in double is looked at on the host only");
  }

  // For a reference that runs in double itself: the arena that was filled last once more, in memory
  // of its own with each element widened (wide_arena.h); and both parts of what that run left.
  [[nodiscard]] virtual posix::Descriptor fill_wide() {
    throw std::runtime_error("what is computed in double is given by the host only");
  }
  virtual void expect_wide() {
    throw std::runtime_error("what was computed in double is looked at on the host only");
  }

  // Judges the outputs now in the arena: against what is expected for the trial if there is
  // anything, and against what the candidate itself gave for the same inputs before.
  // {ok, outputs, findings}; of trial 0, whose inputs are the contract's own, when it is first seen
  // also {digests: {name: sixteen hexadecimal digits}} (judge/digest.h).
  [[nodiscard]] virtual nlohmann::json check() = 0;
  // Likewise of each of these slots, in order; the last is selected then.
  [[nodiscard]] virtual std::vector<nlohmann::json> check_all(
      std::span<const std::uint32_t> slots) {
    std::vector<nlohmann::json> said;
    for (const std::uint32_t slot : slots) {
      select(slot);
      said.push_back(check());
    }
    return said;
  }

  // Of each output {name, shape, ok}: whether it is what is expected, and nothing of what is wrong
  // with it. REQUIRES an expected trial.
  [[nodiscard]] virtual nlohmann::json outline() {
    const nlohmann::json said = check();
    nlohmann::json outputs = nlohmann::json::array();
    for (const auto& output : said.at("outputs")) {
      outputs.push_back(
          {{"name", output.at("name")}, {"shape", output.at("shape")}, {"ok", output.at("ok")}});
    }
    return {{"outputs", std::move(outputs)}};
  }

  // {warnings: trivial answers that would pass (judge/weak_oracle.h), expected: {output:
  // {middle_size (judge/spread.h), atol, rtol}}}, with the tolerance in force; both empty where
  // nothing is expected.
  [[nodiscard]] virtual nlohmann::json weak_oracle() = 0;
};

}  // namespace assay::runner
