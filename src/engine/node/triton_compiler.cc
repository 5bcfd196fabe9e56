#include "engine/node/triton_compiler.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <optional>

#include "engine/node/python_package.h"
#include "engine/node/python_session.h"
#include "engine/node/python_start.h"
#include "engine/node/triton_claim.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Ada: everything that the emulator executes (mma.sync, cp.async, 8-bit floats) and none of the
// instructions that came with Hopper alone (wgmma, TMA).
constexpr int kEmulatedArch = 89;
constexpr unsigned kMaxWarps = 32;
constexpr std::uint64_t kMaxSharedBytes = 227 << 10;
constexpr std::size_t kMaxScratch = 8;  // pointers that Triton appends; two in 3.9

// What an entry of the cache holds changes with this number.
constexpr const char* kAnswerFormat = "triton 2, assay " ASSAY_VERSION;

// The number of a target that is named; of the emulator's, what it executes.
int arch_of(const CompileGoal& goal) {
  if (goal.arch == kEmulatorArch) return kEmulatedArch;
  return std::stoi(goal.arch.substr(goal.arch.find('_') + 1));
}

// Of the device that runs it, what a source may ask: not which one of several alike it is.
json told_of_device(const json& facts) {
  json told = json::object();
  for (const char* name : {"name", "memory_bytes", "multiprocessors", "l2_bytes"}) {
    if (facts.contains(name)) told[name] = facts.at(name);
  }
  return told;
}

// All that the answer to a request depends on: itself, the interpreter with what is installed in
// it, and our half of the compiler.
std::string key_of(const json& request, const Interpreter& interpreter) {
  std::vector<std::string> parts{kAnswerFormat, python_package(), interpreter.version,
                                 json(interpreter.packages).dump(),
                                 CompileCache::identity(interpreter.executable)};
  for (const auto& folder : interpreter.readable) parts.push_back(CompileCache::identity(folder));
  parts.push_back(request.dump());
  return CompileCache::key(parts);
}

Ended broken_claim(const std::string& what) {
  Ended ended = blame({.why = RunnerEnd::Why::malformed, .detail = what}, RunnerRole::python);
  ended.detail["forged"] = true;
  return ended;
}

// What no device launches, an honest kernel may ask for: its tiles are too large.
std::optional<Ended> no_launch(const TritonClaim& claim) {
  const auto refuse = [](const std::string& why) {
    return Ended{.verdict = Verdict::contract_invalid, .summary = why};
  };
  if (!std::has_single_bit(claim.num_warps) || claim.num_warps > kMaxWarps) {
    return refuse("num_warps is " + std::to_string(claim.num_warps) +
                  "; it must be a power of two up to " + std::to_string(kMaxWarps) + ".");
  }
  if (claim.shared_bytes > kMaxSharedBytes) {
    return refuse("Kernel '" + claim.kernel + "' needs " + std::to_string(claim.shared_bytes) +
                  " bytes of shared memory for each block; a device has at most " +
                  std::to_string(kMaxSharedBytes) +
                  ". Use smaller tiles, or a smaller num_stages.");
  }
  return std::nullopt;
}

std::map<std::string, std::int64_t> whole_metas(const json& metas) {
  std::map<std::string, std::int64_t> whole;
  for (const auto& [name, value] : metas.items()) {
    if (value.is_number_integer()) whole.emplace(name, value.get<std::int64_t>());
  }
  return whole;
}

// The contract as the program takes it: what was folded into it is no argument any more.
std::variant<contract::Contract, Ended> called(const contract::Contract& given,
                                               const TritonClaim& claim) {
  contract::Contract out = given;
  for (auto& arg : out.args) arg.is_meta = true;
  for (const std::size_t index : claim.passed) {
    if (index >= out.args.size() || !out.args[index].is_meta) {
      return broken_claim("an argument that there is not, or twice");
    }
    out.args[index].is_meta = false;
  }
  for (const auto& arg : out.args) {
    if (!arg.is_tensor() || !arg.is_meta) continue;
    return Ended{.verdict = Verdict::contract_invalid,
                 .summary = "Kernel '" + claim.kernel + "' takes no argument for tensor '" +
                            arg.name + "' of the contract."};
  }
  if (!std::is_sorted(claim.passed.begin(), claim.passed.end())) {
    std::vector<contract::Arg> ordered;
    for (const std::size_t index : claim.passed) ordered.push_back(out.args[index]);
    out.args = std::move(ordered);
  }
  for (std::size_t i = 0; i < claim.scratch; ++i) {
    out.args.push_back({.name = "scratch" + std::to_string(i),
                        .type = contract::ArgType::integer,
                        .value = std::int64_t{0}});
  }
  contract::LaunchConfig launch = given.launch.value_or(contract::LaunchConfig{});
  auto grid = contract::closed_grid(given, whole_metas(claim.metas));
  if (const auto* violation = std::get_if<contract::Violation>(&grid)) {
    return Ended{
        .verdict = Verdict::contract_invalid,
        .summary = "launch." + violation->message + ".",
        .detail = {{"violations", json::array({{{"pointer", "/kernel/io" + violation->pointer},
                                                {"message", violation->message}}})}}};
  }
  launch.grid = std::get<std::optional<contract::LaunchDim>>(grid);
  launch.open_grid = {};
  launch.block = contract::LaunchDim{.x = claim.num_warps * 32};
  launch.shared_mem_bytes = static_cast<std::uint32_t>(claim.shared_bytes);
  out.launch = launch;
  return out;
}

// `given` and `called`: the contract before and after the configuration was chosen.
json configuration_of(const TritonClaim& claim, int arch, const contract::Contract& given,
                      const contract::Contract& called) {
  json told = {{"kernel", claim.kernel},
               {"metas", claim.metas},
               {"num_warps", claim.num_warps},
               {"num_stages", claim.num_stages},
               {"shared_bytes", claim.shared_bytes},
               {"arch", "sm_" + std::to_string(arch)}};
  if (given.launch && given.launch->open_grid != called.launch->open_grid) {
    told["grid"] = {called.launch->grid->x, called.launch->grid->y, called.launch->grid->z};
  }
  if (claim.configurations > 0) {
    told["configurations"] = claim.configurations;
    told["chosen"] = claim.chosen;
    told["choices"] = claim.choices;
    if (!claim.passed_over.empty()) told["passed_over"] = claim.passed_over;
  }
  return told;
}

json warnings_of(const KernelSource& source, const TritonClaim& claim) {
  json list = claim.warnings;
  const auto warn = [&](const char* code, const std::string& message) {
    list.push_back({{"code", code}, {"message", message}});
  };
  if (claim.configurations > 0) {
    warn("autotune", "Of " + std::to_string(claim.configurations) +
                         " configurations the first that agrees with the contract" +
                         (claim.passed_over.empty() ? "" : " and that a device takes") +
                         " was compiled (" + claim.metas.dump().substr(0, 200) + ", num_warps " +
                         std::to_string(claim.num_warps) + ", num_stages " +
                         std::to_string(claim.num_stages) +
                         "): none was timed against another. `sweep` with these metas, num_warps "
                         "and num_stages as parameters ranks them.");
  }
  if (claim.has_hooks) {
    warn(
        "hooks",
        "Hooks of the autotuner (its pre_hook, reset_to_zero, restore_value) are host code and are "
        "not run: give an output that must begin as zeros an init in the contract.");
  }
  const auto& launch = source.contract.launch;
  if (launch && launch->block && launch->block->x != claim.num_warps * 32) {
    warn("block",
         "launch.block is ignored: a Triton kernel runs with 32 threads for each of its "
         "num_warps.");
  }
  return list;
}

// How a compiler process that ended is told: the source or Triton brought it down. What an honest
// one never says, the source has said.
Ended about_process(Ended ended) {
  if (ended.detail.value("why", "") == "malformed") ended.detail["forged"] = true;
  return ended;
}

Ended about_compiling(Ended ended) {
  ended = about_process(std::move(ended));
  if (ended.verdict == Verdict::crashed && !ended.detail.value("forged", false)) {
    ended.verdict = Verdict::compile_failed;
    ended.summary = "While Triton compiled: " + ended.summary;
  }
  return ended;
}

// The request's part for executing the source, which is taken out of it.
json split_off_source(json& request) {
  json execute = {{"type", "execute"}};
  for (const char* name : {"source", "file", "arch", "max_shared_bytes", "device"}) {
    execute[name] = request.at(name);
  }
  request.erase("source");
  return execute;
}

// What the answer comes to, fresh or kept. A claim of another form throws or is told.
std::variant<Program, Ended> program_of(const frames::Frame& said, const KernelSource& source,
                                        int arch) {
  TritonClaim claim = triton_claim(said.body, said.blob);
  if (claim.scratch > kMaxScratch) return broken_claim("more arguments than Triton adds");
  if (auto ended = no_launch(claim)) return std::move(*ended);
  if (!claim.needs.empty()) {
    return Ended{.verdict = Verdict::unsupported,
                 .summary = "This kernel needs " + claim.needs.front() +
                            ", which a plain launch does not give.",
                 .detail = {{"missing", claim.needs}}};
  }
  auto taken = called(source.contract, claim);
  if (auto* ended = std::get_if<Ended>(&taken)) return std::move(*ended);
  auto& contract = std::get<contract::Contract>(taken);
  json configuration = configuration_of(claim, arch, source.contract, contract);
  return Program{.ptx = std::move(claim.ptx),
                 .compiler = "Triton " + claim.triton,
                 .entry = claim.entry,
                 .elapsed_ms = said.body.at("elapsed_ms").get<double>(),
                 .called = std::move(contract),
                 .configuration = std::move(configuration),
                 .warnings = warnings_of(source, claim)};
}

}  // namespace

TritonCompiler::Answer TritonCompiler::ask(PythonZygote& zygote, json request,
                                           const CompileGoal& goal,
                                           const std::stop_token& stop) const {
  const auto start = Clock::now();
  auto process = start_python_runner(runners_, zygote, nullptr, stop);
  if (auto* ended = std::get_if<Ended>(&process)) return std::move(*ended);
  PythonSession session(std::get<std::unique_ptr<RunnerProcess>>(std::move(process)), goal.which,
                        stop);
  if (auto ended = session.execute(split_off_source(request), goal.timeout)) {
    return about_process(std::move(*ended));
  }
  auto answer = session.compile(std::move(request));
  if (auto* ended = std::get_if<Ended>(&answer)) return about_compiling(std::move(*ended));
  auto& said = std::get<frames::Frame>(answer);
  said.body["elapsed_ms"] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return answer;
}

std::variant<Program, Ended> TritonCompiler::compile(const KernelSource& source,
                                                     const CompileGoal& goal,
                                                     const std::stop_token& stop) const {
  const auto chosen = pythons_.choose(source.python, "triton");
  if (const auto* none = std::get_if<Ended>(&chosen)) return *none;
  PythonZygote& zygote = *std::get<PythonZygote*>(chosen);
  const int arch = arch_of(goal);
  json request = triton_request(source, arch, std::string(goal.which) + ".py");
  request["max_shared_bytes"] = goal.device.value("shared_bytes_per_block", kMaxSharedBytes);
  request["device"] = told_of_device(goal.device);
  const std::string key = key_of(request, zygote.interpreter());
  auto kept = cache_.find(key);
  const bool cached = kept.has_value();
  Answer answer = cached ? Answer(std::move(*kept)) : ask(zygote, std::move(request), goal, stop);
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  auto& said = std::get<frames::Frame>(answer);
  auto program = decode_claim(RunnerRole::python, [&] { return program_of(said, source, arch); });
  if (auto* made = std::get_if<Program>(&program)) {
    // Only for this very source: whatever it brought about in that process, it did to itself.
    if (!cached) cache_.keep(key, said);
    made->cached = cached;
    made->interpreter = zygote.interpreter().executable;
    return program;
  }
  return about_compiling(std::get<Ended>(std::move(program)));
}

}  // namespace assay::node
