#include "engine/node/compilation.h"

#include <algorithm>

#include "engine/node/cores.h"
#include "engine/node/leading_headers.h"
#include "engine/node/missing_header.h"
#include "engine/node/triton_assembly.h"
#include "engine/node/triton_compiler.h"
#include "engine/node/wrapper_build.h"
#include "engine/source/ptx_variables.h"
#include "engine/source/signature.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

// Compiling has a limit of its own: it needs no device and `timeout` counts execution.
constexpr std::chrono::seconds kCompileLimit{60};

// One is taken while the next is made; what comes in a burst takes forks beside them.
constexpr unsigned kMostSpares = 8;
constexpr unsigned kCoresPerSpare = 2;
constexpr unsigned kCoresToExecute = 8;
constexpr std::chrono::seconds kSpareIdle{60};
// For whoever comes first after a pause: loading the compiler and compiling once takes 150 ms.
constexpr SparesLeft kSpareLeft{.kept = 1, .until = std::chrono::minutes{15}};
constexpr std::chrono::seconds kRehearsalLimit{10};

// A compile that took this long spent it on headers, if it has any.
constexpr std::chrono::duration<double, std::milli> kWorthHeaders{150};

// What an entry of the cache holds changes with this number.
constexpr const char* kAnswerFormat = "answer 1, assay " ASSAY_VERSION;

std::vector<std::string> options_for(const KernelSource& source, const CompileGoal& goal,
                                     const Toolkit& toolkit) {
  std::vector<std::string> options{"--gpu-architecture=" + goal.arch,
                                   goal.debug ? "-G" : "-lineinfo", "-default-device"};
  // The assembler's figures. It runs for real targets only.
  if (goal.examine && goal.arch.starts_with("sm_")) options.emplace_back("-Xptxas=-v");
  for (const auto& folder : toolkit.include_folders) {
    options.push_back("--include-path=" + folder.string());
  }
  // Meta parameters are compile-time constants; for CUDA C++ that is a macro.
  for (const auto& arg : source.contract.args) {
    if (!arg.is_meta) continue;
    if (const auto* value = std::get_if<std::int64_t>(&arg.value)) {
      options.push_back("-D" + arg.name + "=" + std::to_string(*value));
    }
  }
  const bool has_standard = std::any_of(
      source.compiler_options.begin(), source.compiler_options.end(),
      [](const std::string& option) { return option.find("-std=") != std::string::npos; });
  if (!has_standard) options.emplace_back("--std=c++17");
  // As nvcc does; asked for only where it is used, as not every NVRTC knows it.
  if (source.source.find("__int128") != std::string::npos) {
    options.emplace_back("-device-int128");
  }
  options.insert(options.end(), source.compiler_options.begin(), source.compiler_options.end());
  return options;
}

Ended missing_compiler(const Toolkit& toolkit, const std::string& reason) {
  std::string searched;
  for (const auto& folder : toolkit.searched) searched += (searched.empty() ? "" : ", ") + folder;
  return {
      .verdict = Verdict::unsupported,
      .summary = "No CUDA compiler (NVRTC) on this machine: " + reason +
                 ". Install it with: " + kInstallCompiler,
      .detail = {{"missing", "libnvrtc"}, {"searched", searched}, {"install", kInstallCompiler}}};
}

// Of the first error, for the summary: "kernel.cu:4:10: …".
std::string first_error(const json& reply) {
  for (const auto& one : reply.at("diagnostics")) {
    if (one.at("severity") != "error") continue;
    const auto message = one.at("message").get<std::string>();
    std::string text = message.substr(0, message.find('\n'));
    if (!one.contains("file")) return text;
    std::string place = one.at("file").get<std::string>() + ":" + one.at("line").dump() + ":";
    if (one.contains("column")) place += one.at("column").dump() + ":";
    return place + " " + text;
  }
  const auto log = reply.at("log").get<std::string>();
  return log.empty() ? reply.at("result").get<std::string>() : log.substr(0, log.find('\n'));
}

Ended refused(const json& reply) {
  const std::string error = first_error(reply);
  const auto header = missing_cuda_header(error);
  Ended ended = header ? lacks_header(*header, error)
                       : Ended{.verdict = Verdict::compile_failed,
                               .summary = "The kernel does not compile: " + error};
  for (const char* told :
       {"log", "log_truncated", "result", "diagnostics", "diagnostics_truncated"}) {
    ended.detail[told] = reply.at(told);
  }
  return ended;
}

// REQUIRES a frame of a compile runner; throws json exceptions on one that is none.
std::variant<Program, Ended> decode_reply(frames::Frame frame, const KernelSource& source,
                                          const Toolkit& toolkit) {
  if (frame.type() == "missing") {
    return missing_compiler(toolkit, frame.body.at("what").get<std::string>());
  }
  if (frame.type() != "compiled") return our_fault("The compile runner answered out of turn.");
  if (!frame.body.at("ok").get<bool>()) return refused(frame.body);
  Program program{.log = frame.body.at("log").get<std::string>(),
                  .compiler = "NVRTC " + frame.body.at("version").get<std::string>(),
                  .elapsed_ms = frame.body.at("elapsed_ns").get<double>() / 1e6,
                  .diagnostics = frame.body.at("diagnostics"),
                  .diagnostics_truncated = frame.body.at("diagnostics_truncated")};
  const auto ptx_bytes = frame.body.at("ptx_bytes").get<std::size_t>();
  if (ptx_bytes < frame.blob.size()) program.cubin = frame.blob.substr(ptx_bytes);
  program.ptx = std::move(frame.blob);
  program.ptx.resize(std::min(ptx_bytes, program.ptx.size()));
  if (frame.body.contains("kernels")) {
    program.kernels = frame.body.at("kernels");
    program.kernels_truncated = frame.body.at("kernels_truncated");
  }
  program.lowered = frame.body.at("lowered");
  const json& lowered = program.lowered;
  for (const auto& expression : source.name_expressions) {
    if (!source.kernel_name.empty() && expression != source.kernel_name) continue;
    if (lowered.contains(expression)) program.entry = lowered.at(expression).get<std::string>();
    break;
  }
  return program;
}

// Where headers may be read.
std::vector<std::string> folders_of(const Toolkit& toolkit) {
  std::vector<std::string> folders;
  for (const auto& folder : toolkit.include_folders) folders.push_back(folder.string());
  return folders;
}

frames::Frame request_for(const KernelSource& source, const CompileGoal& goal,
                          const Toolkit& toolkit) {
  frames::Frame request;
  request.body = {{"type", "compile"},
                  {"nvrtc", toolkit.nvrtc.string()},
                  {"file", "kernel.cu"},
                  {"options", options_for(source, goal, toolkit)},
                  {"name_expressions", source.name_expressions},
                  {"folders", folders_of(toolkit)},
                  {"examine", goal.examine}};
  request.blob = source.source;
  return request;
}

// All that the answer to a request depends on: itself, the compiler, its headers, and the program
// that reads what the compiler made.
std::string key_of(const frames::Frame& request, const Runners& runners) {
  std::vector<std::string> parts{kAnswerFormat, CompileCache::identity(runners.executable()),
                                 CompileCache::identity(runners.toolkit().nvrtc)};
  for (const auto& folder : runners.toolkit().include_folders) {
    parts.push_back(CompileCache::identity(folder));
  }
  parts.push_back(request.body.dump());
  parts.push_back(request.blob);
  return CompileCache::key(parts);
}

// What could be compiled ahead of this source. Macros given as options are a user's words, which a
// zygote must not read.
Warmth warmth_for(const KernelSource& source, const frames::Frame& request,
                  const Toolkit& toolkit) {
  Warmth warmth{.options = request.body.at("options").get<std::vector<std::string>>()};
  const bool plain =
      std::none_of(warmth.options.begin(), warmth.options.end(), [](const std::string& option) {
        return option.starts_with("-D") || option.starts_with("-U") ||
               option.starts_with("--define") || option.starts_with("--undefine");
      });
  if (plain) warmth.headers = leading_headers(source.source, toolkit.include_folders);
  return warmth;
}

bool died_by_itself(const Reply& reply) {
  const auto* end = std::get_if<RunnerEnd>(&reply);
  return end != nullptr && end->why == RunnerEnd::Why::exited;
}

// Only what the compiler itself said of the source is worth keeping.
bool is_answer(const frames::Frame& frame) { return frame.type() == "compiled"; }

// Of an atomic operation or a reduction, as `red.global.add.v2.f32` (PTX ISA, "atom", "red",
// "multimem.red", "cp.reduce.async.bulk"): a sum of floats is rounded in the order of its terms.
// What is exchanged may be one, and a tensor map's type its instruction does not say.
bool hangs_on_order(std::string_view instruction) {
  const auto has = [&](const char* what) {
    return instruction.find(what) != std::string_view::npos;
  };
  if (has(".cas.") || has("exch.")) return true;
  return has(".add") &&
         (has(".f16") || has(".bf16") || has(".f32") || has(".f64") || has(".tensor."));
}

}  // namespace

bool Program::adds_in_any_order() const {
  for (const char* operation : {"atom.", "red.", "cp.reduce."}) {
    for (std::size_t at = ptx.find(operation); at != std::string::npos;
         at = ptx.find(operation, at + 1)) {
      const std::size_t length = std::min<std::size_t>(ptx.find_first_of(" \t;", at) - at, 80);
      if (hangs_on_order(std::string_view(ptx).substr(at, length))) return true;
    }
  }
  return false;
}

bool Program::keeps_state() const { return source::has_global_variables(ptx); }

bool Program::has_neighbours() const {
  if (takes_heap()) return true;
  constexpr std::string_view kDeclared = ".shared .align";
  const auto first = ptx.find(kDeclared);
  return first != std::string::npos && ptx.find(kDeclared, first + 1) != std::string::npos;
}

std::string first_global(std::string_view text) {
  const auto kernels = source::signatures(text);
  return kernels.empty() ? std::string() : kernels.front().name;
}

Reply Compiler::ask(const frames::Frame& request, const Warmth& warmth,
                    const std::stop_token& stop) const {
  frames::Frame copy;
  copy.body = request.body;
  copy.blob = request.blob;
  const auto deadline = std::chrono::steady_clock::now() + kCompileLimit;
  if (warmth.headers.empty()) {
    if (auto ready = spares_.take()) {
      Reply reply = ready->ask(std::move(copy), deadline, stop);
      // One that gave no answer (cancelled, overdue, crashed) was killed before ask() returned. To
      // end one that has compiled takes 2 ms: behind the answer.
      if (std::holds_alternative<frames::Frame>(reply)) {
        std::vector<Spares::Process> used;
        used.push_back(std::move(ready));
        spares_.retire(std::move(used));
      }
      return reply;
    }
  }
  const auto runner = runners_.start(RunnerRole::compile, [&](confinement::SpawnRequest wanted) {
    if (auto forked = zygotes_.spawn(warmth, wanted)) {
      if (!forked->pch.empty()) copy.body["pch"] = forked->pch;
      return std::move(forked->child);
    }
    return confinement::spawn(std::move(wanted));
  });
  return runner->ask(std::move(copy), deadline, stop);
}

// What a fork shares with its parent is copied when it is first written to, which takes as long as
// compiling a small kernel does, once. Where cores are many NVRTC makes a thread that stays; a fork
// has not got it and is slower for good (a small kernel 25 to 37 ms instead of 10, on 16 cores
// beside an H200). Executing one takes twice the CPU time, which few cores would miss.
std::unique_ptr<Spares> compile_spares(const Runners& runners, CompileZygotes& zygotes) {
  const unsigned cores = cores_here();
  const bool forks = cores < kCoresToExecute;
  const auto make = [&runners, &zygotes, forks](const std::stop_token& stop) -> Spares::Process {
    bool forked = false;
    auto runner = runners.start(RunnerRole::compile, [&](confinement::SpawnRequest wanted) {
      auto child = forks ? zygotes.spawn({}, wanted) : std::nullopt;
      forked = child.has_value();
      return forked ? std::move(child->child) : confinement::spawn(std::move(wanted));
    });
    if (forks && !forked) return nullptr;
    frames::Frame request;
    request.body = {{"type", "rehearse"},
                    {"nvrtc", runners.toolkit().nvrtc.string()},
                    {"folders", folders_of(runners.toolkit())}};
    const auto reply =
        runner->ask(std::move(request), std::chrono::steady_clock::now() + kRehearsalLimit, stop);
    const auto* said = std::get_if<frames::Frame>(&reply);
    return said != nullptr && said->type() == "rehearsed" ? std::move(runner) : nullptr;
  };
  const std::size_t kept = std::clamp(cores / kCoresPerSpare, 1U, kMostSpares);
  return std::make_unique<Spares>(make, kept, kSpareIdle, 0, kSpareLeft);
}

std::optional<Ended> Compiler::list(Program& program, const std::stop_token& stop) const {
  frames::Frame request;
  request.body = {{"type", "list"}};
  request.blob = program.ptx;
  const Reply reply = ask(request, {}, stop);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, RunnerRole::compile);
  auto read = decode_claim(RunnerRole::compile, [&]() -> std::variant<json, Ended> {
    const json& body = std::get<frames::Frame>(reply).body;
    program.kernels = body.at("kernels");
    program.kernels_truncated = body.at("kernels_truncated");
    return program.kernels;
  });
  if (auto* ended = std::get_if<Ended>(&read)) return std::move(*ended);
  TritonAssembly(runners_, cache_, pythons_).examine(program, stop);
  return std::nullopt;
}

// NVRTC crashes on name expressions of sources that it otherwise reports errors for: those errors
// are what the author needs.
Ended Compiler::crashed(const RunnerEnd& end, const frames::Frame& request,
                        const std::stop_token& stop) const {
  Ended ended = blame(end, RunnerRole::compile);
  if (ended.verdict != Verdict::compile_failed || request.body.at("name_expressions").empty()) {
    return ended;
  }
  frames::Frame without;
  without.body = request.body;
  without.body["name_expressions"] = json::array();
  without.blob = request.blob;
  const Reply reply = ask(without, {}, stop);
  const auto* frame = std::get_if<frames::Frame>(&reply);
  if (frame == nullptr || !is_answer(*frame)) return ended;
  return decode_claim(RunnerRole::compile, [&] {
    for (const char* key : {"log", "log_truncated", "diagnostics", "diagnostics_truncated"}) {
      ended.detail[key] = frame->body.at(key);
    }
    if (!frame->body.at("ok").get<bool>()) {
      ended.summary += " Without the name expressions it says: " + first_error(frame->body);
    }
    return ended;
  });
}

WrapperTools Compiler::wrapper_tools(PythonZygote& zygote) const {
  return {runners_, zygote, *this, cache_, *wrappers_};
}

std::optional<Ended> Compiler::missing() const {
  const Toolkit& toolkit = runners_.toolkit();
  if (toolkit.has_compiler()) return std::nullopt;
  return missing_compiler(toolkit, "libnvrtc was not found");
}

CompilerFacts Compiler::describe() const {
  const Toolkit& toolkit = runners_.toolkit();
  if (!toolkit.has_compiler()) return {.missing = "libnvrtc was not found"};
  frames::Frame request;
  request.body = {{"type", "describe"}, {"nvrtc", toolkit.nvrtc.string()}};
  const Reply reply = ask(request, {}, std::stop_token());
  const auto* frame = std::get_if<frames::Frame>(&reply);
  if (frame == nullptr) {
    return {.missing = blame(std::get<RunnerEnd>(reply), RunnerRole::compile).summary};
  }
  if (frame->type() != "compiler") return {.missing = frame->body.value("what", "no answer")};
  return {.name = "NVRTC " + frame->body.at("version").get<std::string>(),
          .architectures = frame->body.at("architectures").get<std::vector<int>>()};
}

std::variant<Program, Ended> Compiler::compile(const KernelSource& source, const CompileGoal& goal,
                                               const std::stop_token& stop) const {
  if (source.kernel_type == "triton")
    return TritonCompiler(runners_, cache_, pythons_).compile(source, goal, stop);
  if (auto ended = missing()) return std::move(*ended);
  const Toolkit& toolkit = runners_.toolkit();
  const frames::Frame request = request_for(source, goal, toolkit);
  const std::string key = key_of(request, runners_);
  if (auto kept = cache_.find(key)) {
    auto decoded = decode_claim(RunnerRole::compile,
                                [&] { return decode_reply(std::move(*kept), source, toolkit); });
    if (auto* program = std::get_if<Program>(&decoded)) program->cached = true;
    if (auto* ended = std::get_if<Ended>(&decoded)) ended->detail["cached"] = true;
    return decoded;
  }
  const Warmth warmth = warmth_for(source, request, toolkit);
  Reply reply = ask(request, warmth, stop);
  if (died_by_itself(reply) && !warmth.headers.empty()) {
    // Headers that are not as the compiler wrote them crash it: the source is blamed only for what
    // it does without them.
    zygotes_.forget(warmth);
    reply = ask(request, {}, stop);
  }
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return crashed(*end, request, stop);
  auto& frame = std::get<frames::Frame>(reply);
  auto decoded = decode_claim(RunnerRole::compile, [&] {
    frames::Frame copy;
    copy.body = frame.body;
    copy.blob = frame.blob;
    return decode_reply(std::move(copy), source, toolkit);
  });
  // One that does not decode is the runner's end, not the compiler's word.
  const auto* ended = std::get_if<Ended>(&decoded);
  const bool said = ended == nullptr || ended->detail.contains("diagnostics");
  if (is_answer(frame) && said) cache_.keep(key, frame);
  spares_.want();
  const auto* program = std::get_if<Program>(&decoded);
  // A debug build comes after the one that runs, and seldom twice.
  const bool is_slow = program != nullptr && program->elapsed_ms > kWorthHeaders.count();
  if (is_slow && !goal.debug) zygotes_.prepare(warmth);
  return decoded;
}

}  // namespace assay::node
