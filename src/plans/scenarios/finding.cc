#include "plans/scenarios/finding.h"

#include <algorithm>

#include "plans/scenarios/workspace_package.h"
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

// A package as pip may spell it; `-`, `_` and `.` are one.
std::string package_pattern(const std::string& package) {
  std::string pattern;
  for (const char letter : package) {
    const bool is_joint = letter == '-' || letter == '_' || letter == '.';
    if (is_joint)
      pattern += "[-_.]";
    else if (std::string_view("\\^$|?*+()[]{}").find(letter) != std::string_view::npos)
      pattern += '.';
    else
      pattern += letter;
  }
  return pattern;
}

// What pip and uv say when the package is there; without a name, when anything editable was built.
json default_lines(const std::string& target) {
  if (target.empty()) {
    return {"Building editable for .*(finished with status 'done'|[.][.][.] *done)",
            "Running setup[.]py develop for "};
  }
  const std::string package = package_pattern(target);
  return {"Successfully installed (.*[[:space:]])?" + package + "-[0-9]",
          "^ *[+] " + package + "==[^ ]+ [(]from "};
}

}  // namespace

bool is_violation(const Finding& finding) {
  return finding.kind != "compile" && finding.kind != "prompt" &&
         finding.kind != "base_image_reused" && finding.kind != "not_audited";
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
  std::string target = compile.value("target", "");
  if (target.empty()) target = package_of(scenario.value("workspace", ""));
  Subject subject{.compile_lines = patterns_of(compile.value("log", default_lines(target))),
                  .forbidden = scenario.value(
                      "forbid", std::vector<std::string>{"xformers-dependency-downloader",
                                                         "xformers-builder"})};
  if (compile.contains("commands")) subject.compile_commands = patterns_of(compile.at("commands"));
  subject.target = std::move(target);
  return subject;
}

bool matches_any(const std::vector<LinePattern>& patterns, const std::string& text) {
  const std::string bounded = text.substr(0, kMatchedLength);
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const LinePattern& one) { return one.place_in(bounded).has_value(); });
}

}  // namespace assay::scenarios
