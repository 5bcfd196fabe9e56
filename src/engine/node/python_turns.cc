// Of PythonSession: the calls that a clock takes.
#include "engine/node/python_session.h"

namespace assay::node {

using nlohmann::json;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

std::variant<PythonSession::Turn, Ended> PythonSession::time(LentArena memory,
                                                             const TurnRequest& request,
                                                             nanoseconds& execution_left) {
  json body = {{"type", "time"},
               {"calls", request.calls},
               {"contents", request.contents},
               {"stride_bytes", request.stride_bytes},
               {"seed", request.seed}};
  return clocked(std::move(body), "timed", only(std::move(memory)), execution_left);
}

std::variant<PythonSession::Turn, Ended> PythonSession::stage(std::vector<LentArena> memory,
                                                              const Stretches& stretches,
                                                              nanoseconds& execution_left) {
  return clocked({{"type", "stage"},
                  {"contents", stretches.contents},
                  {"stride_bytes", stretches.stride_bytes}},
                 "staged", std::move(memory), execution_left);
}

std::variant<PythonSession::Turn, Ended> PythonSession::go(const Going& going,
                                                           nanoseconds& execution_left) {
  return clocked(
      {{"type", "go"}, {"calls", going.calls}, {"seed", going.seed}, {"moves", going.moves}},
      "gone", {}, execution_left);
}

std::variant<PythonSession::Turn, Ended> PythonSession::fetch(nanoseconds& execution_left) {
  return clocked({{"type", "fetch"}}, "fetched", {}, execution_left);
}

std::variant<PythonSession::Turn, Ended> PythonSession::clocked(json body, const char* expected,
                                                                std::vector<LentArena> memory,
                                                                nanoseconds& execution_left) {
  const auto cpu_before = process_->cpu_time();
  const auto start = Clock::now();
  auto reply = ask_running(std::move(body), expected, std::move(memory), execution_left);
  const auto wall = Clock::now() - start;
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  const auto cpu_after = process_->cpu_time();
  return decode_claim(RunnerRole::python, [&]() -> std::variant<Turn, Ended> {
    Turn turn{.claims = claims_of(std::get<json>(reply)), .wall = wall};
    if (cpu_before && cpu_after) turn.cpu = *cpu_after - *cpu_before;
    return turn;
  });
}

}  // namespace assay::node
