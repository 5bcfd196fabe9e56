#include "engine/node/compilation.h"

#include <algorithm>

#include "engine/source/signature.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;

// Compiling has a limit of its own: it needs no device and `timeout` counts execution.
constexpr std::chrono::seconds kCompileLimit{60};

std::vector<std::string> options_for(const KernelSource& source, const Toolkit& toolkit) {
  std::vector<std::string> options{std::string("--gpu-architecture=") + kEmulatorArch, "-lineinfo",
                                   "-default-device"};
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

// "error: …" of the first diagnostic, for the summary.
std::string first_error(const std::string& log) {
  const auto at = log.find("error:");
  if (at == std::string::npos) return log.substr(0, log.find('\n'));
  const auto line_start = log.rfind('\n', at);
  const auto from = line_start == std::string::npos ? 0 : line_start + 1;
  return log.substr(from, log.find('\n', from) - from);
}

Ended refused(const json& reply) {
  const auto log = reply.at("log").get<std::string>();
  Ended ended{.verdict = Verdict::compile_failed,
              .summary = "The kernel does not compile: " + first_error(log),
              .detail = {{"log", log},
                         {"log_truncated", reply.at("log_truncated")},
                         {"result", reply.at("result")}}};
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
  Program program{.ptx = std::move(frame.blob),
                  .log = frame.body.at("log").get<std::string>(),
                  .compiler = "NVRTC " + frame.body.at("version").get<std::string>(),
                  .elapsed_ms = frame.body.at("elapsed_ns").get<double>() / 1e6};
  const json& lowered = frame.body.at("lowered");
  for (const auto& expression : source.name_expressions) {
    if (!source.kernel_name.empty() && expression != source.kernel_name) continue;
    if (lowered.contains(expression)) program.entry = lowered.at(expression).get<std::string>();
    break;
  }
  return program;
}

}  // namespace

std::string first_global(std::string_view text) {
  const auto kernels = source::signatures(text);
  return kernels.empty() ? std::string() : kernels.front().name;
}

std::variant<Program, Ended> compile(const Runners& runners, const KernelSource& source,
                                     const std::stop_token& stop) {
  const Toolkit& toolkit = runners.toolkit();
  if (!toolkit.has_compiler()) return missing_compiler(toolkit, "libnvrtc was not found");
  const auto runner = runners.start(RunnerRole::compile);
  frames::Frame request;
  request.body = {{"type", "compile"},
                  {"nvrtc", toolkit.nvrtc.string()},
                  {"file", "kernel.cu"},
                  {"options", options_for(source, toolkit)},
                  {"name_expressions", source.name_expressions}};
  request.blob = source.source;
  auto reply =
      runner->ask(std::move(request), std::chrono::steady_clock::now() + kCompileLimit, stop);
  if (const auto* end = std::get_if<RunnerEnd>(&reply)) return blame(*end, RunnerRole::compile);
  return decode_claim(RunnerRole::compile, [&] {
    return decode_reply(std::move(std::get<frames::Frame>(reply)), source, toolkit);
  });
}

}  // namespace assay::node
