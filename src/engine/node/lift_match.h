// Two captures of one source, under different inputs, made one sequence that another process can
// repeat on any memory (runner/sequence.h): what the captures agree on. Addresses become offsets
// into the memory of a run, by the buffer they lie in. Launches must be equal in all else. Of their
// numbers the bytes that differ are zero in the repetition: what lies between the members of a
// struct differs by chance, what came from the data is missed there, and its answers are wrong.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "engine/node/lift_claim.h"

namespace assay::node {

struct LiftedWork {
  std::vector<std::size_t> programs{};   // their numbers where they were captured, in our order
  std::vector<std::string> kernels{};    // in order of their launches
  std::vector<std::uint64_t> scratch{};  // bytes of each buffer that is neither input nor output
  std::vector<std::uint64_t> scratch_begins{};  // where each lies in the memory of a run
  std::uint64_t memory_bytes = 0;
  std::uint64_t scratch_begin = 0;
  nlohmann::json steps = nlohmann::json::array();  // as decode_sequence() takes them
  std::string parameters{};
  std::uint64_t blanked_bytes = 0;  // of parameters, that differed from call to call

  [[nodiscard]] std::uint64_t scratch_bytes() const { return memory_bytes - scratch_begin; }
};

// What the two say of the kernels that a call launches, as an item of evidence: {check:
// "kernel_set", result, detail}. "agrees" where both launched the same, each as often; where they
// did not, or nobody knows, "unknown": an honest source may choose by its data.
[[nodiscard]] nlohmann::json kernel_set(const CapturedCall& one, const CapturedCall& other);

// The work, or why there is none.
[[nodiscard]] std::variant<LiftedWork, std::string> matched(const CapturedCall& one,
                                                            const CapturedCall& other);

}  // namespace assay::node
