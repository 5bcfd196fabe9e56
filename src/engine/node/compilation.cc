#include "engine/node/compilation.h"

#include <algorithm>
#include <cctype>

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

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::size_t after_parentheses(std::string_view text, std::size_t i) {
  int depth = 0;
  do {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    ++i;
  } while (i < text.size() && depth > 0);
  return i;
}

// A kernel that is commented out is no kernel.
std::string without_comments(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i, 2);
    if (rest == "//") {
      i = std::min(text.find('\n', i), text.size());
    } else if (rest == "/*") {
      const auto end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
      out += ' ';
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

std::string first_global(std::string_view text) {
  const std::string source = without_comments(text);
  std::size_t i = source.find("__global__");
  std::string name;
  // The name is the identifier before the first parenthesis that is not an attribute's.
  while (i < source.size()) {
    if (is_word(source[i])) {
      const std::size_t start = i;
      while (i < source.size() && is_word(source[i])) ++i;
      name = source.substr(start, i - start);
    } else if (source[i] == '(') {
      if (name != "__launch_bounds__" && name != "__attribute__" && name != "__cluster_dims__") {
        return name;
      }
      i = after_parentheses(source, i);
    } else {
      ++i;
    }
  }
  return {};
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
