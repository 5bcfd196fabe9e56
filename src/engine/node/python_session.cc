#include "engine/node/python_session.h"

#include <algorithm>
#include <thread>

#include "engine/node/passed_argument.h"
#include "engine/node/python_failure.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kAnswerLimit{30};
// As much as a CUDA source gets; a large Triton kernel took 2 s.
constexpr std::chrono::seconds kCompileLimit{60};
constexpr std::chrono::milliseconds kRunGrace{500};

constexpr const char* kReference = "ref_kernel";

const TensorPlace* place_of(const std::vector<TensorPlace>& places, const std::string& name) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const TensorPlace& one) { return one.name == name; });
  return found == places.end() ? nullptr : &*found;
}

json told_of_build(const Ended& failed) {
  constexpr std::size_t kToldBytes = 600;
  return {{"line", 0},
          {"code", "build"},
          {"message", "A load_inline failed, and the source went on without it: " +
                          failed.summary.substr(0, kToldBytes)}};
}

// Nothing is built while a clock runs, or in what is to be repeated elsewhere.
bool may_build(const std::string& request) {
  for (const char* clocked : {"time", "stage", "go", "fetch", "capture", "programs", "rest"}) {
    if (request == clocked) return false;
  }
  return true;
}

bool asks_for_a_build(const frames::Frame& said) {
  return said.type() == "build" || said.type() == "kernels";
}

}  // namespace

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
  const bool builds = wrappers_ != nullptr && may_build(request.type());
  auto reply = process_->ask(std::move(request), deadline, stop_);
  while (builds) {
    const auto* said = std::get_if<frames::Frame>(&reply);
    if (said == nullptr || !asks_for_a_build(*said)) break;
    const auto start = Clock::now();
    frames::Frame answer = wrappers_->answer(*said);
    const auto took = Clock::now() - start;
    deadline += took;
    built_for_ += took;
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
    explain_death(ended, end->output, file());
    if (end->why == Why::malformed || end->why == Why::fault) ended.detail["forged"] = true;
    return ended;
  }
  return decode_claim(RunnerRole::python, [&]() -> std::variant<json, Ended> {
    json& said = std::get<frames::Frame>(reply).body;
    if (said.at("seq") != seq_) return forged();
    if (wrappers_ != nullptr && asks_for_a_build(std::get<frames::Frame>(reply))) {
      return Ended{.verdict = Verdict::unsupported,
                   .summary =
                       "It calls load_inline in a call that is timed: build it while the source is "
                       "loaded, or in its first call."};
    }
    blob_ = std::move(std::get<frames::Frame>(reply).blob);
    if (said.at("type") == "failed") return failed(said);
    if (said.at("type") != expected) return forged();
    // What a build found and the source went on without.
    const auto swallowed = wrappers_ != nullptr ? wrappers_->take_failure() : std::nullopt;
    if (swallowed) swallowed_ = told_of_build(*swallowed);
    return std::move(said);
  });
}

Ended PythonSession::failed(const json& said) {
  Ended ended = python_failure(said, file(), process_->recent_output());
  // What a build found says more than the exception that it became.
  auto build = wrappers_ != nullptr ? wrappers_->take_failure() : std::nullopt;
  if (build && ended.detail.contains("exception")) return std::move(*build);
  if (wrappers_ != nullptr && said.at("code") == "device_unsupported") {
    ended = wrappers_->unless_refused(std::move(ended));
  }
  // What is right is the reference's to say: one that does not fit says nothing.
  if (which_ == kReference && ended.verdict == Verdict::wrong_output) {
    ended.verdict = Verdict::contract_invalid;
  }
  return ended;
}

json PythonSession::built() const {
  return wrappers_ != nullptr ? wrappers_->report() : json::array();
}

std::variant<json, Ended> PythonSession::ask_running(json body, const char* expected,
                                                     std::vector<LentArena> memory,
                                                     nanoseconds& execution_left) {
  const auto start = Clock::now();
  const auto built_before = built_for_;
  auto reply =
      ask(std::move(body), expected, start + execution_left + kRunGrace, std::move(memory));
  execution_left -= Clock::now() - start - (built_for_ - built_before);
  return reply;
}

std::variant<PythonLoaded, Ended> PythonSession::load(const KernelSource& source, Loading loading,
                                                      std::unique_ptr<WrapperBuild> wrappers) {
  json target = {{"candidate", loading.is_candidate}};
  const auto name = [&](const char* key, const std::string& value) {
    if (!value.empty()) target[key] = value;
  };
  name("entry_point", source.entry_point);
  name("function_name", source.function_name);
  name("class_name", source.class_name);
  name("method_name", source.method_name);
  wrappers_ = std::move(wrappers);
  // What torch builds itself, it builds in there.
  const auto limit = loading.on_gpu && wrappers_ != nullptr
                         ? std::chrono::milliseconds(kMostLoadingTime)
                         : loading_time(loading.timeout);
  auto reply = ask({{"type", "load"},
                    {"source", source.source},
                    {"file", file()},
                    {"kernel_type", source.kernel_type},
                    {"target", std::move(target)},
                    {"device", loading.on_gpu ? "cuda" : "cpu"},
                    {"fast_build", wrappers_ != nullptr},
                    {"init_inputs", std::move(loading.init_inputs)},
                    {"seed", loading.seed}},
                   "loaded", Clock::now() + limit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<PythonLoaded, Ended> {
    json& body = std::get<json>(reply);
    if (json swallowed = take_swallowed_build(); !swallowed.is_null()) {
      body.at("warnings").push_back(std::move(swallowed));
    }
    return PythonLoaded{.name = body.at("name").get<std::string>().substr(0, 200),
                        .has_inputs = body.at("has_inputs").get<bool>(),
                        .no_inputs = body.at("no_inputs").get<std::string>().substr(0, 300),
                        .init_inputs = body.at("init_inputs"),
                        .warnings = body.at("warnings"),
                        .torch = body.at("torch").get<std::string>().substr(0, 100),
                        .python = body.at("python").get<std::string>().substr(0, 100),
                        .built = body.at("built"),
                        .no_capture = body.at("no_capture").get<std::string>().substr(0, 200)};
  });
}

std::optional<Ended> PythonSession::execute(json request, std::chrono::milliseconds timeout) {
  const auto limit = std::min<std::chrono::milliseconds>(loading_time(timeout), kCompileLimit);
  auto reply = ask(std::move(request), "executed", Clock::now() + limit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
}

std::variant<frames::Frame, Ended> PythonSession::compile(json request) {
  auto reply = ask(std::move(request), "compiled", Clock::now() + kCompileLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  frames::Frame answer;
  answer.body = std::get<json>(std::move(reply));
  answer.blob = std::move(blob_);
  return answer;
}

std::variant<json, Ended> PythonSession::ask_for_inputs(json body, const char* expected,
                                                        std::vector<LentArena> memory,
                                                        InputTime& time) {
  if (time.is_used_up()) return InputTime::used_up();
  const auto start = Clock::now();
  auto reply = ask(std::move(body), expected, start + time.left, std::move(memory));
  time.take(Clock::now() - start, std::get_if<Ended>(&reply));
  return reply;
}

std::variant<json, Ended> PythonSession::own_inputs(std::uint64_t seed, InputTime& time) {
  auto reply = ask_for_inputs({{"type", "own_inputs"}, {"seed", seed}}, "inputs", {}, time);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return decode_claim(RunnerRole::python, [&]() -> std::variant<json, Ended> {
    json& body = std::get<json>(reply);
    return json{{"inputs", std::move(body.at("inputs"))}, {"groups", std::move(body.at("groups"))}};
  });
}

std::optional<Ended> PythonSession::make_inputs(const contract::Contract& contract,
                                                const std::vector<TensorPlace>& places,
                                                LentArena memory, std::uint64_t seed,
                                                InputTime& time) {
  json told = json::array();
  for (const TensorPlace& place : places) {
    const contract::Arg& arg = contract.args[place.argument];
    if (arg.is_read()) told.push_back(passed_tensor(arg, place));
  }
  auto reply =
      ask_for_inputs({{"type", "make_inputs"}, {"seed", seed}, {"places", std::move(told)}}, "made",
                     only(std::move(memory)), time);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
}

std::optional<Ended> PythonSession::bind(const contract::Contract& own,
                                         const contract::Contract& judged,
                                         const std::vector<TensorPlace>& places, Arguments taken) {
  json arguments = json::array();
  json outputs = json::array();
  json written = json::array();
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
  // What is written, and of that what only the call can give; else one result goes where it writes.
  for (const TensorPlace& place : places) {
    const contract::Arg& arg = judged.args[place.argument];
    if (!arg.is_written()) continue;
    written.push_back(passed_tensor(arg, place));
    if (arg.role == contract::Role::output) outputs.push_back(written.back());
  }
  if (outputs.empty() && !written.empty()) outputs.push_back(written.front());
  auto reply = ask({{"type", "bind"},
                    {"arguments", arguments},
                    {"outputs", outputs},
                    {"written", written},
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

std::optional<Ended> PythonSession::skip_launches() {
  auto reply = ask({{"type", "skip_launches"}}, "skipping", Clock::now() + kAnswerLimit, {});
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  return std::nullopt;
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

std::variant<InspectedCall, Ended> PythonSession::inspect(LentArena arena, const Looking& looking,
                                                          nanoseconds& execution_left) {
  // Its launches have a little less: what was found until then is told.
  const std::chrono::duration<double> seconds = execution_left * 9 / 10;
  auto reply = ask_running({{"type", "inspect"},
                            {"seed", looking.seed},
                            {"inspect", looking.what},
                            {"checked_blocks", looking.checked_blocks},
                            {"unwritten", looking.unwritten},
                            {"seconds", seconds.count()}},
                           "inspected", only(std::move(arena)), execution_left);
  if (auto* ended = std::get_if<Ended>(&reply)) return std::move(*ended);
  try {
    return inspected_call_claim(std::get<json>(reply));
  } catch (const json::exception&) {
    return Ended{.verdict = Verdict::crashed,
                 .summary = "The source's own process told what are no findings."};
  }
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
