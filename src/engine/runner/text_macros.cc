#include "engine/runner/text_macros.h"

#include <string_view>

#include "engine/source/macro_option.h"

namespace assay::runner {
namespace {

using std::string_view;

// What is no line of its own stays an option.
std::string line_of(string_view option) {
  if (option.find_first_of("\r\n\\") != string_view::npos) return {};
  if (option.starts_with("-U")) return "#undef " + std::string(option.substr(2)) + "\n";
  const string_view macro = source::defined_by(option);
  if (macro.empty()) return {};
  const auto equals = macro.find('=');
  const bool has_value = equals != string_view::npos;
  const string_view value = has_value ? macro.substr(equals + 1) : "1";
  return "#define " + std::string(macro.substr(0, equals)) + " " + std::string(value) + "\n";
}

}  // namespace

bool failed_in_own_text(const Compiled& compiled) {
  return !compiled.ok && compiled.log.find("__nv_nvrtc_builtin_header.h(") != std::string::npos;
}

std::optional<CompileRequest> with_macros_in_text(const CompileRequest& wanted) {
  CompileRequest out = wanted;
  out.options.clear();
  std::string lines;
  for (const auto& option : wanted.options) {
    const std::string line = line_of(option);
    if (line.empty()) out.options.push_back(option);
    lines += line;
  }
  if (lines.empty()) return std::nullopt;
  out.source = lines + "#line 1\n" + wanted.source;
  return out;
}

}  // namespace assay::runner
