#include "plans/scenarios/finding.h"

#include <algorithm>

#include "plans/step.h"

namespace assay::scenarios {

using nlohmann::json;

namespace {

constexpr std::size_t kToldText = 300;

std::vector<LinePattern> patterns_of(const json& list) {
  std::vector<LinePattern> patterns;
  for (const auto& one : list) patterns.emplace_back(one.get<std::string>());
  return patterns;
}

std::string quoted_for_regex(const std::string& text) {
  std::string quoted;
  for (const char letter : text) {
    if (std::string_view("\\^$.|?*+()[]{}").find(letter) != std::string_view::npos) quoted += '\\';
    quoted += letter;
  }
  return quoted;
}

}  // namespace

bool is_violation(const Finding& finding) {
  return finding.kind != "compile" && finding.kind != "prompt" &&
         finding.kind != "base_image_reused";
}

json to_json(const Finding& finding) {
  return {{"kind", finding.kind},
          {"file", finding.file},
          {"line", finding.line},
          {"place", finding.file + ":" + std::to_string(finding.line)},
          {"text", plans::printable(finding.text.substr(0, kToldText))},
          {"message", finding.message}};
}

json to_json(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const auto& one : findings) list.push_back(to_json(one));
  return list;
}

Subject subject_from(const json& scenario) {
  const json compile = scenario.value("compile", json::object());
  const std::string target = quoted_for_regex(compile.value("target", ""));
  const std::string package = target.empty() ? "\\S+" : "\\S*" + target + "\\S*";
  json commands =
      json::array({"pip3?\\s+install\\b.*\\s(-e|--editable)(=|\\s)",
                   "setup\\.py\\s+(install|develop|build\\w*|bdist_wheel)", "pip3?\\s+wheel\\b"});
  json lines = json::array({"Successfully installed .*\\b" + package});
  return {.compile_commands = patterns_of(compile.value("commands", commands)),
          .compile_lines = patterns_of(compile.value("log", lines)),
          .forbidden = scenario.value(
              "forbid",
              std::vector<std::string>{"xformers-dependency-downloader", "xformers-builder"})};
}

bool matches_any(const std::vector<LinePattern>& patterns, const std::string& text) {
  const std::string bounded = text.substr(0, kMatchedLength);
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const LinePattern& one) { return one.is_in(bounded); });
}

}  // namespace assay::scenarios
