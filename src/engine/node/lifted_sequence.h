// What was lifted out of a Python source (python_lift.h), as other processes take it: those that
// count what it does to the hardware and those that look for its mistakes, after its own process
// has ended.
//
// A value; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/node/lift_match.h"

namespace assay::node {

struct LiftedSequence {
  nlohmann::json body = nlohmann::json::object();  // as decode_sequence() takes it
  std::string blob{};                              // programs, then parameters
  std::vector<std::string> kernels{};              // in order of their launches
  std::vector<std::uint64_t> scratch{};            // bytes of each buffer beside the arena
  std::vector<std::uint64_t> scratch_begins{};
};

// `bytes`: of each program; `code`: all of them.
[[nodiscard]] inline LiftedSequence lifted_sequence(const LiftedWork& work,
                                                    const std::vector<std::uint64_t>& bytes,
                                                    const std::string& code) {
  return {.body = {{"programs", bytes},
                   {"scratch_begin", work.scratch_begin},
                   {"memory_bytes", work.memory_bytes},
                   {"steps", work.steps}},
          .blob = code + work.parameters,
          .kernels = work.kernels,
          .scratch = work.scratch,
          .scratch_begins = work.scratch_begins};
}

}  // namespace assay::node
