#include "engine/node/python_session.h"

#include <algorithm>
#include <thread>

#include "engine/node/passed_scalar.h"
#include "engine/node/python_failure.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

// Modules are imported from a disk that may be cold, weights are made.
constexpr std::chrono::seconds kLoadLimit{120};
constexpr std::chrono::seconds kAnswerLimit{30};
// As much as a CUDA source gets; a large Triton kernel took 2 s.
constexpr std::chrono::seconds kCompileLimit{60};
constexpr std::chrono::milliseconds kRunGrace{500};
// Before its deadline a process says where it is.
constexpr std::chrono::milliseconds kTellingGrace{300};

constexpr const char* kReference = "ref_kernel";

json passed_tensor(const contract::Arg& arg, const TensorPlace& place) {
  const contract::TensorSpec& spec = *arg.tensor_spec;
  json item = {{"name", arg.name},
               {"type", "tensor"},
               {"role", contract::name(arg.role)},
               {"offset", place.offset},
               {"bytes", place.bytes},
               {"shape", spec.shape},
               {"dtype", contract::name(spec.dtype)}};
  if (spec.strides) item["strides"] = *spec.strides;
  return item;
}

const TensorPlace* place_of(const std::vector<TensorPlace>& places, const std::string& name) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const TensorPlace& one) { return one.name == name; });
  return found == places.end() ? nullptr : &*found;
}

std::vector<LentArena> only(LentArena arena) {
  std::vector<LentArena> one;
  one.push_back(std::move(arena));
  return one;
}

PythonClaims claims_of(const json& body) {
  return {.patched = body.value("patched", std::vector<std::string>{}),
          .foreign = body.value("foreign", std::vector<std::string>{}),
          .launches = body.value("launches", std::uint64_t{0}),
          .chosen = body.value("chosen", std::vector<std::string>{})};
}

}  // namespace

PythonSession::PythonSession(std::unique_ptr<RunnerProcess> process, std::string which,
                             std::stop_token stop)
    : process_(std::move(process)), which_(std::move(which)), stop_(std::move(stop)) {}

// Only the user's own code can have written it: the worker answers each request once.
Ended PythonSession::forged() const {
  Ended ended{.verdict = Verdict::crashed,
              .summary =
                  "The source spoke on the engine's own channel (an answer that nobody had "
                  "asked for): nothing it says counts."};
  ended.detail = {{"why", "forged"}, {"forged", true}};
  return ended;
}

Reply PythonSession::ask_building(frames::Frame request, Deadline deadline) {
  auto reply = process_->ask(std::move(request), deadline, stop_);
  while (wrappers_ != nullptr) {
    const auto* said = std::get_if<frames::Frame>(&reply);
    if (said == nullptr || (said->type() != "build" && said->type() != "kernels")) break;
    const auto start = Clock::now();
    frames::Frame answer = wrappers_->answer(*said);
    deadline += Clock::now() - start;
    reply = process_->ask(std::move(answer), deadline, stop_);
  }
  return reply;
}

std::variant<json, Ended> PythonSession::ask(json body, const char* expected, Deadline deadline,
                                             std::vector<LentArena> memory) {
  frames::Frame request;
  request.body = std::move(body);
  request.body["seq"] = ++seq_;
  const std::chrono::duration<double> left = deadline - kTellingGrace - Clock::now();
  request.body["limit_s"] = std::max(left.count(), 0.001);
  for (LentArena& arena : memory) {
    request.body["arena_bytes"] = arena.bytes;
    request.body["on_device"] = arena.on_device;
    request.descriptors.push_back(std::move(arena.descriptor));
  }
  auto reply = ask_building(std::move(request), deadline);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) {
    Ended ended = blame(*end, RunnerRole::python);
    using Why = RunnerEnd::Why;
    if (end->why == Why::malformed || end->why == Why::fault) ended.detail["forged"] = true;
    return ended;
  }
  return decode_claim(RunnerRole::python, [&]() -> std::variant<json, Ended> {
    json& said = std::get<frames::Frame>(reply).body;
    if (said.at("seq") != seq_) return forged();
    blob_ = std::move(std::get<frames::Frame>(reply).blob);
    if (said.at("type") == expected) return std::move(said);
    if (said.at("type") != "failed") return forged();
    Ended ended = python_failure(said, file(), process_->recent_output());
    // What is right is the reference's to say: one that does not fit says nothing.
    if (which_ == kReference && ended.verdict == Verdict::wrong_output) {
      ended.verdict = Verdict::contract_invalid;
    }
    return ended;
  });
}

std::variant<json, Ended> PythonSession::ask_running(json body, const char* expected,
                                                     std::vector<LentArena> memory,
                                                     nanoseconds& execution_left) {
  const auto start = Clock::now();
  auto reply =
      ask(std::move(body), expected, start + execution_left + kRunGrace, std::move(memory));
  execution_left -= Clock::now() - start;
  return reply;
}

std::variant<PythonLoaded, Ended> PythonSession::load(const KernelSource& source, bool is_candidate,
                                                      std::uint64_t seed, bool on_gpu,
                                                      WrapperBuild* wrappers) {
  json target = {{"candidate", is_candidate}};
  const auto name = [&](const char* key, const std::string& value) {
    if (!value.empty()) target[key] = value;
  };
  name("entry_point", source.entry_point);
  name("function_name", source.function_name);
  name("class_name", source.class_name);
  name("method_name", source.method_name);
  wrappers_ = wrappers;
  auto reply = ask({{"type", "load"},
                    {"source", source.source},
                    {"file", file()},
                    {"kernel_type", source.kernel_type},
                    {"target", std::move(target)},
                    {"device", on_gpu ? "cuda" : "cpu"},
                    {"fast_build", wrappers != nullptr},
                    {"seed", seed}},
                   "loaded", Clock::now() + kLoadLimit, {});
  wrappers_ = nullptr;
  if (auto* ended = std::get_if<Ended>(&reply)) {
    // What the build found says more than the exception that it became.
    auto failure = wrappers != nullptr ? wrappers->take_failure() : std::nullopt;
    if (failure && ended->detail.contains("exception")) return std::move(*failure);
    return std::move(*ended);
  }
  return decode_claim(RunnerRole::python, [&]() -> std::variant<PythonLoaded, Ended> {
    const json& body = std::get<json>(reply);
    return PythonLoaded{.name = body.at("name").get<std::string>().substr(0, 200),
                        .has_inputs = body.at("has_inputs").get<bool>(),
                        .warnings = body.at("warnings"),
                        .torch = body.at("torch").get<std::string>().substr(0, 100),
                        .python = body.at("python").get<std::string>().substr(0, 100),
                        .built = body.at("built"),
                        .no_capture = body.at("no_capture").get<std::string>().substr(0, 200)};
  });
}

std::variant<frames::Frame, Ended> PythonSession::compile(json request) {
  auto reply = ask(std::move(request), "compiled", Clock::now() + kCompileLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  frames::Frame answer;
  answer.body = std::get<json>(std::move(reply));
  answer.blob = std::move(blob_);
  return answer;
}

std::variant<json, Ended> PythonSession::own_inputs(std::uint64_t seed) {
  auto reply =
      ask({{"type", "own_inputs"}, {"seed", seed}}, "inputs", Clock::now() + kLoadLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<json, Ended> {
    json& body = std::get<json>(reply);
    return json{{"inputs", std::move(body.at("inputs"))}, {"groups", std::move(body.at("groups"))}};
  });
}

std::optional<Ended> PythonSession::make_inputs(const contract::Contract& contract,
                                                const std::vector<TensorPlace>& places,
                                                LentArena memory, std::uint64_t seed) {
  json told = json::array();
  for (const TensorPlace& place : places) {
    const contract::Arg& arg = contract.args[place.argument];
    if (arg.is_read()) told.push_back(passed_tensor(arg, place));
  }
  auto reply = ask({{"type", "make_inputs"}, {"seed", seed}, {"places", std::move(told)}}, "made",
                   Clock::now() + kLoadLimit, only(std::move(memory)));
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
}

std::optional<Ended> PythonSession::bind(const contract::Contract& own,
                                         const contract::Contract& judged,
                                         const std::vector<TensorPlace>& places, Arguments taken) {
  json arguments = json::array();
  json outputs = json::array();
  for (std::size_t i = 0; i < own.args.size(); ++i) {
    const contract::Arg& arg = own.args[i];
    if (!arg.is_tensor()) {
      arguments.push_back(passed_scalar(arg));
      arguments.back()["is_meta"] = arg.is_meta;
      continue;
    }
    const TensorPlace* place = place_of(places, arg.name);
    if (place == nullptr) {
      const std::string pointer = "/" + which_ + "/io/args/" + std::to_string(i);
      return Ended{.verdict = Verdict::contract_invalid,
                   .summary =
                       "The contract does not fit: the kernel under test has no tensor "
                       "named '" +
                       arg.name + "' (" + pointer + ")"};
    }
    arguments.push_back(passed_tensor(judged.args[place->argument], *place));
  }
  for (const TensorPlace& place : places) {
    const contract::Arg& arg = judged.args[place.argument];
    if (arg.role == contract::Role::output) outputs.push_back(passed_tensor(arg, place));
  }
  // Without an output of its own, what is returned goes where it writes.
  for (const TensorPlace& place : places) {
    const contract::Arg& arg = judged.args[place.argument];
    if (outputs.empty() && arg.is_written()) outputs.push_back(passed_tensor(arg, place));
  }
  auto reply = ask({{"type", "bind"},
                    {"arguments", arguments},
                    {"outputs", outputs},
                    {"what_fits", taken == Arguments::what_fits},
                    {"groups", groups_}},
                   "bound", Clock::now() + kAnswerLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
}

std::variant<json, Ended> PythonSession::shapes(LentArena arena, std::uint64_t seed,
                                                nanoseconds& execution_left) {
  auto reply = ask_running({{"type", "shapes"}, {"seed", seed}}, "shapes", only(std::move(arena)),
                           execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<json, Ended> {
    return std::get<json>(reply).at("outputs");
  });
}

std::variant<PythonClaims, Ended> PythonSession::run(LentArena arena, std::uint64_t seed,
                                                     nanoseconds& execution_left,
                                                     const char* in_double) {
  json body = {{"type", "run"}, {"seed", seed}};
  if (in_double != nullptr) body["in_double"] = in_double;
  auto reply = ask_running(std::move(body), "ran", only(std::move(arena)), execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<PythonClaims, Ended> {
    return claims_of(std::get<json>(reply));
  });
}

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

std::variant<PythonSession::Turn, Ended> PythonSession::go(std::uint32_t calls, std::uint64_t seed,
                                                           nanoseconds& execution_left) {
  return clocked({{"type", "go"}, {"calls", calls}, {"seed", seed}}, "gone", {}, execution_left);
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

std::variant<CapturedCall, Ended> PythonSession::capture(LentArena arena, std::uint64_t seed,
                                                         nanoseconds& execution_left) {
  const std::uint64_t bytes = arena.bytes;
  auto reply = ask_running({{"type", "capture"}, {"seed", seed}}, "captured",
                           only(std::move(arena)), execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<CapturedCall, Ended> {
    auto call = captured_call(std::get<json>(reply), blob_, bytes);
    if (auto* good = std::get_if<CapturedCall>(&call)) return std::move(*good);
    CapturedCall refused;
    refused.refused = std::get<std::string>(call);
    return refused;
  });
}

std::variant<PythonSession::Programs, Ended> PythonSession::programs(
    const std::vector<std::size_t>& numbers) {
  auto reply = ask({{"type", "programs"}, {"programs", numbers}}, "programs",
                   Clock::now() + kAnswerLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<Programs, Ended> {
    Programs programs{.bytes = std::get<json>(reply).at("bytes").get<std::vector<std::uint64_t>>(),
                      .code = std::move(blob_)};
    std::uint64_t left = programs.code.size();
    for (const std::uint64_t bytes : programs.bytes) {
      if (bytes > left) return forged();
      left -= bytes;
    }
    if (left != 0 || programs.bytes.size() != numbers.size()) return forged();
    return programs;
  });
}

std::variant<nanoseconds, Ended> PythonSession::rest(nanoseconds pause) {
  const auto before = process_->cpu_time();
  std::this_thread::sleep_for(pause);
  const auto after = process_->cpu_time();
  auto reply = ask({{"type", "rest"}}, "rested", Clock::now() + kAnswerLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return before && after ? *after - *before : nanoseconds(0);
}

}  // namespace assay::node
