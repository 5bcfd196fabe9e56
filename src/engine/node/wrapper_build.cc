#include "engine/node/wrapper_build.h"

#include <algorithm>

#include "engine/node/assembling.h"
#include "engine/node/emulated_variables.h"
#include "engine/node/missing_header.h"
#include "engine/node/torch_floats.h"
#include "engine/node/wrapper_headers.h"
#include "engine/node/wrapper_mistake.h"
#include "engine/node/wrapper_request.h"
#include "engine/source/device_code.h"
#include "engine/source/hidden_kernel.h"
#include "engine/source/host_code.h"
#include "engine/source/plain_mistake.h"
#include "engine/source/torch_headers.h"
#include "engine/source/torch_name.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Torch's headers in full took 20 s, beside others twice that.
constexpr std::chrono::seconds kWholeCompileLimit{300};
// With headers compiled ahead, as long as device code may take.
constexpr std::chrono::seconds kHostCompileLimit{180};
constexpr unsigned kMostBuilds = 16;
constexpr std::size_t kMaxTextBytes = 8U << 20;
constexpr std::size_t kMaxKernels = 1024;
constexpr std::uint64_t kConstantBytes = 64U << 10;  // of any device
// Which may have been torn in taking the halves apart: what does not compile then is no mistake.
constexpr const char* kHiddenBrackets = "brackets that the preprocessor opens or closes";
constexpr const char* kAnswerFormat = "wrapper 1, assay " ASSAY_VERSION;

// Words of a C++ compiler about what CUDA's own would know: it is not the author's mistake then.
bool is_about_cuda(const std::string& message) {
  if (message.find("did you mean") != std::string::npos) return false;
  for (const char* word : {"cuda", "CUDA", "'cublas", "'cudnn", "'thrust", "'cub", "'curand",
                           "(*)(", "'__device__", "'__nv"}) {
    if (message.find(word) != std::string::npos) return true;
  }
  return false;
}

Ended unsupported(const std::string& what, const std::string& place, const char* half = "host") {
  return {.verdict = Verdict::unsupported,
          .summary = "The " + std::string(half) + " code uses " + what + place +
                     ", which only torch's own build on a GPU has.",
          .detail = {{"missing", what}}};
}

// NVRTC's own spelling of small floats needs their headers.
void include_small_floats(const json& names, std::vector<std::string>& options) {
  const std::string all = names.dump();
  const std::pair<const char*, const char*> kTypes[] = {{"__half", "cuda_fp16.h"},
                                                        {"__nv_bfloat16", "cuda_bf16.h"}};
  for (const auto& [type, header] : kTypes) {
    const std::string option = std::string("--pre-include=") + header;
    const bool is_there = std::find(options.begin(), options.end(), option) != options.end();
    if (all.find(type) != std::string::npos && !is_there) options.push_back(option);
  }
}

}  // namespace

bool builds_wrappers(const KernelSource& source) {
  return source.kernel_type == "torch_cuda" ||
         (source.kernel_type == "multi_kernel" &&
          source.source.find("load_inline") != std::string::npos);
}

frames::Frame WrapperBuild::answer(const frames::Frame& question) {
  frames::Frame reply;
  const bool is_build = question.type() == "build";
  const auto named = question.body.find("name");  // of another kind: build() refuses it
  if (is_build) {
    name_ = named != question.body.end() && named->is_string() ? named->get<std::string>() : "";
  }
  auto failed = [&](Ended ended) {
    reply.body = {{"ok", false},
                  {"message", ended.summary},
                  {"fall_back", on_gpu() && ended.verdict == Verdict::unsupported}};
    if (reply.body.at("fall_back").get<bool>()) return;
    failed_ = name_;
    failure_ = std::move(ended);
  };
  if (is_build) {
    auto built = decode_claim(RunnerRole::python, [&] { return build(question.body); });
    if (auto* ended = std::get_if<Ended>(&built)) {
      failed(std::move(*ended));
    } else {
      reply.body = {{"ok", true}};
      reply.blob = std::get<std::string>(std::move(built));
    }
  } else {
    auto compiled =
        decode_claim(RunnerRole::python, [&] { return compile_kernels(question.body); });
    if (auto* ended = std::get_if<Ended>(&compiled)) {
      failed(std::move(*ended));
    } else {
      // Another attempt at the same has done it.
      if (failure_ && failed_ == name_) failure_.reset();
      Program& program = std::get<Program>(compiled);
      reply.body = {{"ok", true}, {"lowered", std::move(program.lowered)}};
      reply.blob = on_gpu() ? std::move(program.cubin) : std::move(program.ptx);
    }
  }
  reply.body["type"] = is_build ? "built" : "kernels";
  return reply;
}

std::variant<std::string, Ended> WrapperBuild::build(const json& asked) {
  if (++builds_ > kMostBuilds) {
    return Ended{
        .verdict = Verdict::compile_failed,
        .summary = "It calls load_inline more than " + std::to_string(kMostBuilds) + " times."};
  }
  const std::string cuda = joined(asked.at("cuda"), file_, "cuda_sources");
  const std::string cpp = joined(asked.at("cpp"), file_, "cpp_sources");
  if (cuda.size() + cpp.size() > kMaxTextBytes) {
    return Ended{.verdict = Verdict::compile_failed,
                 .summary = "Its C++ and CUDA sources have more than " +
                            std::to_string(kMaxTextBytes >> 20) + " MiB."};
  }
  if (!asked.at("ld_flags").empty()) {
    const auto flag = asked.at("ld_flags").front().get<std::string>().substr(0, 100);
    return unsupported("`" + flag + "`", " (extra_ldflags, extra_include_paths)");
  }
  if (!is_name(asked.at("name").get<std::string>())) {
    return Ended{.verdict = Verdict::compile_failed,
                 .summary = "The name given to load_inline is no identifier."};
  }
  // Before the host half, which takes minutes where headers are to be compiled.
  if (auto ended = tools_.compiler.missing()) return std::move(*ended);
  // Each is a file of its own to torch's own build, which refuses it after a minute.
  for (const std::string* text : {&cuda, &cpp}) {
    if (auto ended = mistake_in(*text, source_.source, file_)) return std::move(*ended);
  }
  source::HostCode host = source::host_code(cuda + cpp);
  if (!host.obstacles.empty()) {
    const auto& first = host.obstacles.front();
    return unsupported(first.what, " at " + place_of(cuda + cpp, first.line));
  }
  const auto hidden = source::hidden_brackets(cuda);
  torn_ = hidden ? place_of(cuda, *hidden) : "";
  const auto kernel = source::hidden_kernel(cuda);
  hidden_kernel_ = kernel ? kernel->what + ", at " + place_of(cuda, kernel->line) : "";
  const source::DeviceCode device = source::device_code(cuda);
  device_ = {.source = device.text, .kernel_type = "cuda", .compiler_options = device.options};
  for (auto& option : device_options(asked.at("cuda_flags"))) {
    device_.compiler_options.push_back(std::move(option));
  }
  own_ = device_;
  if (!on_gpu() && !host.variables.empty()) {
    device_.source = with_reachable_variables(std::move(device_.source), host.variables);
  }
  // The host half may name what torch's headers have for CUDA's compiler alone, too. Templates fail
  // when they are instantiated: compile_kernels().
  if (source::torch_name(device_.source)) {
    auto compiled = compile_device();
    if (auto* ended = std::get_if<Ended>(&compiled)) return std::move(*ended);
  }
  return compile_host(
      asked, source::torch_prelude(cuda + cpp) + host.text + bindings(asked.at("functions")));
}

// Code that takes what only torch's own build gives it is no mistake.
std::variant<Program, Ended> WrapperBuild::compile_device() {
  auto compiled = tools_.compiler.compile(device_, {.arch = arch_, .debug = is_debug_}, stop_);
  const auto* failed = std::get_if<Ended>(&compiled);
  if (failed == nullptr || failed->verdict != Verdict::compile_failed) return compiled;
  const auto named = source::torch_name(device_.source);
  if (!named && torn_.empty()) return compiled;
  Ended ended =
      named ? unsupported(named->what, " at " + place_of(device_.source, named->line), "device")
            : unsupported(kHiddenBrackets, " at " + torn_, "CUDA");
  for (const char* told : {"log", "diagnostics"}) {
    if (failed->detail.contains(told)) ended.detail[told] = failed->detail[told];
  }
  return ended;
}

// What mixes small floats with other numbers compiles with torch's. Where it does not even then,
// the first failure stands: it is about what the author wrote.
bool WrapperBuild::compile_mixing(std::variant<Program, Ended>& compiled) {
  const KernelSource mixing = with_torchs_floats(device_);
  auto again = tools_.compiler.compile(mixing, {.arch = arch_, .debug = is_debug_}, stop_);
  auto* program = std::get_if<Program>(&again);
  if (program == nullptr) return false;
  json lowered = json::object();
  for (std::size_t i = 0; i < mixing.name_expressions.size(); ++i) {
    const auto found = program->lowered.find(mixing.name_expressions[i]);
    if (found != program->lowered.end()) lowered[device_.name_expressions[i]] = *found;
  }
  program->lowered = std::move(lowered);
  compiled = std::move(again);
  return true;
}

std::variant<std::string, Ended> WrapperBuild::compile_host(const json& asked, std::string text) {
  const auto start = Clock::now();
  auto prepared = tools_.environment.prepare(tools_.runners, tools_.zygote, on_gpu(), stop_);
  if (auto* ended = std::get_if<Ended>(&prepared)) return std::move(*ended);
  const auto& environment = std::get<WrapperEnvironment::Prepared>(prepared);
  // CUDA's compiler would hand its own to the host's; both texts are one unit here.
  json defines = defines_of(asked.at("cxx_flags"));
  for (auto& define : defines_of(asked.at("cuda_flags"))) defines.push_back(std::move(define));
  const auto name = asked.at("name").get<std::string>();
  const bool is_cpp = has_no_text(asked.at("cuda"));
  const std::string key = CompileCache::key(
      {kAnswerFormat, environment.key, text, name, defines.dump(), is_cpp ? "c++" : "cuda"});
  json told = {{"name", name}, {"compiler", environment.compiler}, {"cached", true}};
  if (environment.made_ms > 0) told["headers_ms"] = environment.made_ms;
  if (!environment.note.empty()) told["note"] = environment.note;
  auto kept = tools_.cache.find(key);
  if (!kept) {
    told["cached"] = false;
    auto answer = ask_host_compiler(
        tools_.runners, tools_.zygote,
        {{"type", "compile_host"},
         {"headers", wrapper_headers()},
         {"folder", environment.folder.string()},
         {"text", std::move(text)},
         {"name", name},
         {"defines", std::move(defines)},
         {"is_cpp", is_cpp},
         {"on_gpu", on_gpu()}},
        environment.folder, {}, environment.folder.empty() ? kWholeCompileLimit : kHostCompileLimit,
        stop_);
    if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
    kept = std::get<frames::Frame>(std::move(answer));
    if (!kept->body.at("ok").get<bool>()) return refuse_host(kept->body);
    tools_.cache.keep(key, *kept);
  }
  told["ms"] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  report_.push_back(std::move(told));
  return std::move(kept->blob);
}

// The compiler's words, in the lines of the user's file.
Ended WrapperBuild::refuse_host(const json& said) const {
  Ended ended{.verdict = Verdict::compile_failed,
              .summary = "The host code does not compile",
              .detail = {{"log", said.at("log")}, {"diagnostics", json::array()}}};
  bool is_told = false;
  for (json one : said.at("diagnostics")) {
    const auto line = one.at("line").get<std::size_t>();
    const auto file = one.at("file").get<std::string>();
    one["message"] = told_of_launch(one.at("message").get<std::string>());
    if (file == file_) one["excerpt"] = excerpt_of(source_.source, line);
    if (!is_told && one.at("severity") == "error") {
      is_told = true;
      ended.summary += file == "functions" ? " (what `functions` names must be defined)"
                                           : " at " + file + ":" + std::to_string(line);
      ended.summary += ": " + one.at("message").get<std::string>();
    }
    ended.detail["diagnostics"].push_back(std::move(one));
  }
  if (const auto header = missing_cuda_header(ended.summary)) {
    Ended lacks = lacks_header(*header, ended.summary);
    ended.verdict = lacks.verdict;
    ended.summary = std::move(lacks.summary);
    ended.detail.update(lacks.detail);
  } else if (is_about_cuda(ended.summary) || !hidden_kernel_.empty()) {
    ended.verdict = Verdict::unsupported;
    ended.summary += " — if it is right, only torch's own build on a GPU has what it needs";
    ended.summary += hidden_kernel_.empty() ? "." : " (" + hidden_kernel_ + ").";
    ended.detail["missing"] = "CUDA's own compiler for the host code";
  } else if (ended.verdict == Verdict::compile_failed && !torn_.empty()) {
    Ended torn = unsupported(kHiddenBrackets, " at " + torn_, "CUDA");
    ended.verdict = torn.verdict;
    ended.summary = std::move(torn.summary);
    ended.detail.update(torn.detail);
  }
  if (!is_told) ended.summary += ": " + said.at("log").get<std::string>().substr(0, 300);
  return ended;
}

std::variant<Program, Ended> WrapperBuild::compile_kernels(const json& asked) {
  const auto start = Clock::now();
  json names = asked.at("names");
  const json kernels = names;
  for (const auto& variable : asked.at("variables")) names.push_back(variable);
  if (names.size() > kMaxKernels) {
    return Ended{.verdict = Verdict::compile_failed,
                 .summary = "It has more than " + std::to_string(kMaxKernels) + " kernels."};
  }
  device_.name_expressions = names.get<std::vector<std::string>>();
  include_small_floats(names, device_.compiler_options);
  auto compiled = compile_device();
  const auto* failed = std::get_if<Ended>(&compiled);
  const bool may_mix = failed != nullptr && failed->verdict == Verdict::compile_failed &&
                       names_small_floats(device_.name_expressions);
  const bool mixes = may_mix && compile_mixing(compiled);
  if (auto* ended = std::get_if<Ended>(&compiled)) return std::move(*ended);
  const Program& program = std::get<Program>(compiled);
  for (const auto& name : device_.name_expressions) {
    if (program.lowered.contains(name)) continue;
    return Ended{.verdict = Verdict::compile_failed,
                 .summary = "The device's compiler knows no " + name.substr(0, 200) + "."};
  }
  if (!on_gpu()) {
    own_.name_expressions = device_.name_expressions;
    own_.compiler_options = device_.compiler_options;
    programs_.push_back(mixes ? with_torchs_floats(own_) : own_);
    if (auto ended = too_much_constant_memory(program)) return *std::move(ended);
  }
  if (!report_.empty()) {
    json& told = report_.back();
    told["kernels"] = kernels;
    told["device_compiler"] = program.compiler;
    told["device_cached"] = program.cached;
    told["device_ms"] = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }
  return compiled;
}

// Constant memory that host code writes is the emulator's plain memory, of which there is more.
std::optional<Ended> WrapperBuild::too_much_constant_memory(const Program& program) const {
  const KernelSource& own = programs_.back();
  const bool is_moved = own.source.find("__constant__") != std::string::npos &&
                        device_.source.find("__constant__") == std::string::npos;
  if (!is_moved || global_array_bytes(program.ptx) <= kConstantBytes) return std::nullopt;
  auto ended = node::unless_refused({.verdict = Verdict::unsupported}, tools_.compiler, own, stop_);
  if (ended.verdict == Verdict::unsupported) return std::nullopt;
  return ended;
}

Ended WrapperBuild::unless_refused(Ended ended) const {
  for (const KernelSource& program : programs_) {
    ended = node::unless_refused(std::move(ended), tools_.compiler, program, stop_);
  }
  return ended;
}

}  // namespace assay::node
