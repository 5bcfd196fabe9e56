#include <algorithm>
#include <string>
#include <vector>

#include "mcp/utf8.h"
#include "tools/changes.h"
#include "tools/figures_text.h"
#include "tools/report.h"

namespace assay::tools {
namespace {

using mcp::OrderedJson;

constexpr std::size_t kLines = 6;
// The verdict, the summary and the job's id are always told.
constexpr std::size_t kFreeLines = kLines - 3;
constexpr std::size_t kLineBytes = 220;
constexpr std::size_t kSummaryBytes = 400;

std::string one_line(std::string text, std::size_t bytes = kLineBytes) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text.size() > bytes ? mcp::shortened(text, bytes) : text;
}

std::string and_more(std::size_t told, std::size_t total, const char* what) {
  return told < total ? " (and " + std::to_string(total - told) + " more " + what + ")" : "";
}

// As compilers print it: "kernel.cu:4:10: error: …".
std::string diagnostic_line(const OrderedJson& diagnostic) {
  std::string text;
  if (diagnostic.contains("file")) text += diagnostic.at("file").get<std::string>() + ":";
  for (const char* place : {"line", "column"})
    if (diagnostic.contains(place)) text += diagnostic.at(place).dump() + ":";
  text += (text.empty() ? "" : " ") + diagnostic.at("severity").get<std::string>() + ": " +
          diagnostic.at("message").get<std::string>();
  return one_line(std::move(text));
}

// As many as there is room for, the first one with its source line.
void tell_diagnostics(const OrderedJson& report, std::size_t room,
                      std::vector<std::string>& lines) {
  const auto found = report.find("diagnostics");
  if (found == report.end() || found->empty() || lines.size() >= room) return;
  std::size_t told = 0;
  std::size_t last = 0;
  for (const OrderedJson& one : *found) {
    if (lines.size() >= room) break;
    last = lines.size();
    lines.push_back(diagnostic_line(one));
    if (told++ == 0 && one.contains("excerpt") && lines.size() < room)
      lines.push_back("    " + one_line(one.at("excerpt").get<std::string>()));
  }
  lines[last] += and_more(told, report.value("diagnostics_total", found->size()), "diagnostics");
}

std::string stages_line(const OrderedJson& stages) {
  std::string text;
  for (const auto& one : stages) {
    text += (text.empty() ? "stages: " : " → ") + one.at("name").get<std::string>();
    if (one.at("status") != "passed") text += "(" + one.at("status").get<std::string>() + ")";
  }
  return one_line(std::move(text));
}

std::string baseline_line(const OrderedJson& change) {
  return one_line("since baseline: " + change.at("change").get<std::string>() + ". " +
                  change.at("detail").get<std::string>() +
                  " Changed: " + changes_text(change.at("changed")) + ".");
}

}  // namespace

std::string report_text(const OrderedJson& report) {
  const auto& verdict = report.at("verdict");
  std::string text = verdict.is_string()
                         ? verdict.get<std::string>()
                         : report.at("state").get<std::string>() + " (not finished)";
  if (report.at("trust").is_string()) text += " · trust " + report.at("trust").get<std::string>();
  text += "\n" + one_line(report.at("summary").get<std::string>(), kSummaryBytes) + "\n";
  std::vector<std::string> lines = figures_lines(report);
  // A sweep's variants stand beside the lines that every report may have.
  const std::size_t free = kFreeLines + (lines.size() > 1 ? lines.size() - 1 : 0);
  if (const auto change = report.find("since_baseline"); change != report.end())
    lines.push_back(baseline_line(*change));
  if (const auto& warnings = report.at("warnings"); !warnings.empty())
    lines.push_back(one_line("warning: " + warnings.front().at("message").get<std::string>()) +
                    and_more(1, report.value("warnings_total", warnings.size()), "warnings"));
  // How far it came says little of what did not compile.
  const bool tells_stages = verdict != "compile_failed";
  tell_diagnostics(report, tells_stages ? free - 1 : free, lines);
  if (!report.at("stages").empty() && lines.size() < free)
    lines.push_back(stages_line(report.at("stages")));
  for (const std::string& line : lines) text += line + "\n";
  return text + "job_id: " + report.at("job_id").get<std::string>();
}

}  // namespace assay::tools
