// What the runner of a kernel (runner/kernel_role.cc) answers. The process has met the user's
// program: all of it is a claim, read member by member; json exceptions leave for decode_claim(),
// and so does what has the right type and can be no answer (claimed_value.h).
// How the kernel itself ended is an Ended; an answer to another question is our fault.
//
// Values; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/turn_claim.h"

namespace assay::node {

struct Loaded {
  std::string entry{};
  std::string display_name{};
  unsigned register_rows = 0;  // that the emulator keeps: an assembler seldom needs more
  unsigned max_threads = 0;    // it was compiled for; 0: any
  nlohmann::json kernels = nlohmann::json::array();  // every entry of the module
};

struct Ran {
  std::chrono::nanoseconds elapsed{0};
  nlohmann::json counters = nlohmann::json::object();
  std::string printf_output{};
  bool printf_truncated = false;
  nlohmann::json strays =
      nlohmann::json::array();  // findings: loads out of bounds, on the emulator
};

// What an inspection said, as the runner told it.
struct Inspected {
  std::string ending{};   // completed, or how else it ended
  std::string message{};  // of another end
  nlohmann::json findings = nlohmann::json::array();
  nlohmann::json notes = nlohmann::json::array();
  nlohmann::json profile = nullptr;
  std::uint64_t checked_blocks = 0;  // of the grid
  std::uint64_t blocks = 0;
};

// Turns that one question asked for, as far as they were taken.
struct Turns {
  std::vector<Turn> taken{};          // the last may have no samples: none was taken after that
  std::optional<Ended> ended{};       // how the one behind them did
  std::chrono::nanoseconds asked{0};  // that all of it took, by the engine's clock
};

// What CUPTI recorded of some launches without any counter.
struct RecordedLaunches {
  std::vector<double> ns{};                         // of each
  nlohmann::json facts = nlohmann::json::object();  // what all have in common
  std::string missing{};                            // why there are none
};

// Of a sequence's launches the one that takes the most time, which was counted.
struct CountedLaunch {
  std::size_t index = 0;  // among its launches
  unsigned registers = 0;
  std::uint64_t static_shared_bytes = 0;
  std::vector<double> launches_ns{};  // of each; empty where there is only one
};

// Hardware counters of one run. What was not counted says why in `missing`; then there may be
// recorded launches.
struct Counted {
  std::map<std::string, double> values{};
  std::vector<std::string> without_value{};  // counted, but a ratio over nothing
  std::vector<std::string> refused{};
  std::size_t passes = 0;
  std::string missing{};
  std::map<std::string, std::size_t> group_passes{};  // each counted by itself
  RecordedLaunches recorded{};
  double setup_ms = 0;
  double counting_ms = 0;
  std::optional<CountedLaunch> launch{};  // of a sequence
};

// Where in the request the arguments stand that a kernel is given.
struct PassedArguments {
  std::string kernel{};                    // "/kernel" or "/ref_kernel"
  std::vector<std::size_t> in_contract{};  // which of the contract's each one is

  [[nodiscard]] std::string pointer_to(std::size_t contract_argument) const;
};

// A contract that asks of a kernel what it does not take, at its place in the request.
[[nodiscard]] Ended misfit(std::string message, const std::string& pointer);

// `wanted`: the kernel asked for.
[[nodiscard]] std::variant<Loaded, Ended> loaded_claim(const nlohmann::json& body, RunnerRole role,
                                                       const std::string& wanted,
                                                       const PassedArguments& passed);
// Whether a program of the sequence has variables that outlast a launch.
[[nodiscard]] std::variant<bool, Ended> sequence_claim(const nlohmann::json& body);
[[nodiscard]] std::variant<Ran, Ended> ran_claim(const nlohmann::json& body);
// What a kernel does wrong while it is inspected is no Ended.
[[nodiscard]] std::variant<Inspected, Ended> inspected_claim(const nlohmann::json& body);
// How many places runs can work in: at least one.
[[nodiscard]] std::variant<std::uint32_t, Ended> staged_claim(const nlohmann::json& body);
// Why a capture failed; "" if it did not.
[[nodiscard]] std::variant<std::string, Ended> captured_claim(const nlohmann::json& body);
[[nodiscard]] std::variant<Turns, Ended> turns_claim(const nlohmann::json& body,
                                                     const std::vector<OrderedTurn>& ordered);
[[nodiscard]] std::variant<Counted, Ended> counted_claim(const nlohmann::json& body);

}  // namespace assay::node
