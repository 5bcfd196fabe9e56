// Several programs and what is done with them in order, on one stretch of memory: what a Python
// source was seen to launch, repeated without Python (engine/node/lift_match.h makes it). The
// stretch begins with the arena of the run, as the referee laid it out; behind that stands scratch
// memory, zero at the start of every run, for buffers that are neither input nor output.
//
// A value; it comes from a process that met user code, so that decode_sequence() believes nothing:
// every offset and size lies within what the value says of itself.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

// CUlaunchAttributeID and the numbers that it takes.
struct LaunchTrait {
  int id = 0;
  std::array<int, 3> value{};
};

struct SequenceStep {
  enum class Kind { launch, copy, fill };
  Kind kind = Kind::launch;
  // A launch. Where `pointer_offsets` say, the parameters hold addresses as for memory at address
  // 0.
  std::size_t program = 0;
  emulator::Launch launch{};
  std::vector<std::size_t> pointer_offsets{};
  std::vector<LaunchTrait> traits{};
  // A copy or fill: offsets into the memory.
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;  // of each element of a fill
  unsigned width = 1;       // its bytes: 1, 2 or 4
};

struct Sequence {
  std::vector<std::string> programs{};  // machine code or PTX
  std::uint64_t scratch_begin = 0;
  std::uint64_t memory_bytes = 0;
  std::vector<SequenceStep> steps{};

  [[nodiscard]] std::uint64_t scratch_bytes() const { return memory_bytes - scratch_begin; }
  // Whether a program has variables that keep their values from launch to launch; of one that is
  // no machine code nobody knows.
  [[nodiscard]] bool has_variables() const;
};

// {programs: [bytes], scratch_begin, memory_bytes, steps: [{do: "launch", program, entry, grid,
// block, shared_bytes, parameter_bytes, pointers: [offset], traits: [[id, n, n, n]]} | {do: "copy",
// to, from, bytes} | {do: "fill", to, value, width, bytes}]}; the blob has the programs and then
// the parameters. Throws std::runtime_error or a json exception on anything else.
[[nodiscard]] Sequence decode_sequence(const nlohmann::json& body, std::string_view blob);

}  // namespace assay::runner
