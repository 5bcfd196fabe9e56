// One command of a plan, a generator, a commit or a scenario, and how it ended. Values; any thread.
//
// A step is an argv: no shell is between the plan and the program. What it prints goes to a log
// file as it comes; the last of it is kept for whoever reads the report.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace assay::plans {

// Where a step runs. On the host it is the user's own program in the user's own folders; confined
// it sees the system's libraries, `readable`, and may write below `writable` alone.
struct Enclosure {
  bool confined = false;
  std::vector<std::string> readable{};
  std::vector<std::string> writable{};
  std::uint64_t memory_bytes = 16ULL << 30;  // of each process, where it is confined
};

struct Step {
  std::string name{};  // "prepare 1", "command", "install"
  std::vector<std::string> argv{};
  std::filesystem::path cwd{};
  // Over the engine's own environment; confined steps get nothing else.
  std::map<std::string, std::string> environment{};
  std::chrono::milliseconds timeout{300'000};
  std::filesystem::path log{};  // appended to; "" keeps only what the end holds
  Enclosure enclosure{};
};

struct StepEnd {
  enum class Why {
    exited,  // by itself: `signal` or `exit_code` say how
    timed_out,
    cancelled,
    output_flood,
    not_started,  // no such program, no such folder: `detail` says which
    setup_failed,
    lost,  // its end was not recorded: the keeper was killed
  };
  Why why = Why::exited;
  int exit_code = 0;
  int signal = 0;
  std::string detail{};
  std::int64_t started_ns = 0;  // Unix time
  double wall_ms = 0;
  double user_ms = 0;
  double system_ms = 0;
  std::uint64_t max_resident_bytes = 0;
  std::string standard_output{};  // its first bytes, at most kKeptOutputBytes
  std::string tail{};             // the last of both streams together
  std::uint64_t output_bytes = 0;
  bool log_is_cut = false;

  [[nodiscard]] bool succeeded() const {
    return why == Why::exited && signal == 0 && exit_code == 0;
  }
  // The machine failed, not what ran: a missing program is no verdict on the operator.
  [[nodiscard]] bool is_infrastructure() const {
    return why == Why::not_started || why == Why::setup_failed || why == Why::lost;
  }
};

inline constexpr std::size_t kKeptOutputBytes = 4U << 20;
inline constexpr std::size_t kTailBytes = 4U << 10;
inline constexpr std::size_t kLogBytes = 16U << 20;       // of one step; the rest is dropped
inline constexpr std::uint64_t kFloodBytes = 1ULL << 30;  // a step that prints more is killed

[[nodiscard]] const char* name(StepEnd::Why why);
// "exit code 3", "killed by SIGSEGV (11)", "timed out after 2 s": one clause for a sentence.
[[nodiscard]] std::string describe(const StepEnd& end);
[[nodiscard]] nlohmann::json to_json(const Step& step, const StepEnd& end);

// One line that a person can paste into a shell: cd, environment, command, all quoted.
[[nodiscard]] std::string quoted(const std::string& word);
[[nodiscard]] std::string command_line(const std::vector<std::string>& argv);
[[nodiscard]] std::string repro_line(const Step& step);

// Invalid UTF-8 replaced, so that any output can stand in a JSON text.
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace assay::plans
