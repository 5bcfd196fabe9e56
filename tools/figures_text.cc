#include "tools/figures_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "mcp/utf8.h"

namespace assay::tools {
namespace {

using mcp::OrderedJson;

constexpr std::size_t kToldVariants = 10;
constexpr std::size_t kNameBytes = 60;
constexpr std::size_t kNoteBytes = 120;
constexpr const char* kDot = " · ";

// Four digits, never an exponent where a reader expects a plain number.
std::string digits(double value) {
  char text[48];
  const bool is_large = std::abs(value) >= 1000;
  std::snprintf(text, sizeof text, is_large ? "%.0f" : "%.4g", value);
  return text;
}

std::string time_text(double ns) {
  for (const auto& [unit_ns, name] :
       std::array{std::pair{1e9, " s"}, std::pair{1e6, " ms"}, std::pair{1e3, " µs"}}) {
    if (ns >= unit_ns) return digits(ns / unit_ns) + name;
  }
  return digits(ns) + " ns";
}

std::optional<double> number(const OrderedJson& in, const char* key) {
  if (!in.is_object()) return std::nullopt;
  const auto found = in.find(key);
  if (found == in.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const OrderedJson& in, const char* key) {
  if (!in.is_object()) return {};
  const auto found = in.find(key);
  return found != in.end() && found->is_string() ? found->get<std::string>() : std::string();
}

OrderedJson part(const OrderedJson& in, const char* key) {
  const auto found = in.find(key);
  return found != in.end() && found->is_object() ? *found : OrderedJson::object();
}

// "1.287 times as fast as the reference [1.271, 1.304], faster".
std::string ratio_text(const OrderedJson& speedup) {
  const auto ratio = number(speedup, "ratio");
  const auto low = number(speedup, "low");
  const auto high = number(speedup, "high");
  if (!ratio || !low || !high) return {};
  std::string told = digits(*ratio) + " times as fast as the reference [" + digits(*low) + ", " +
                     digits(*high) + "], " + text(speedup, "verdict");
  const auto detectable = number(speedup, "detectable");
  if (detectable && text(speedup, "verdict") == "indistinguishable")
    told += " (detectable from " + digits(100 * *detectable) + " %)";
  return told;
}

// "cold 5.12 µs, warm 4.1 µs, graph 3.9 µs".
std::string medians_text(const OrderedJson& timing) {
  std::string told;
  for (const auto& [key, name] : {std::pair{"cold", "cold"}, std::pair{"warm", "warm"},
                                  std::pair{"graph", "graph"}, std::pair{"per_call", "a call"}}) {
    const auto median_ns = number(part(timing, key), "median_ns");
    if (median_ns) told += (told.empty() ? "" : ", ") + (name + (" " + time_text(*median_ns)));
  }
  return told;
}

// Of the reference one is enough to see which it is held against.
std::string reference_text(const OrderedJson& timing) {
  const OrderedJson reference = part(timing, "reference");
  for (const char* key : {"cold", "per_call"}) {
    const auto median_ns = number(part(reference, key), "median_ns");
    if (median_ns) return "; reference " + time_text(*median_ns);
  }
  return {};
}

std::vector<std::string> evaluation(const OrderedJson& report) {
  const OrderedJson timing = part(report, "timing");
  const std::string clock = text(timing, "clock");
  if (clock == "emulated") return {"no GPU time: it ran on the emulator, whose times rank nothing"};
  const std::string medians = medians_text(timing);
  if (medians.empty()) return {};
  std::string line = ratio_text(part(report, "speedup"));
  if (line.empty() && timing.contains("reference") && !text(timing, "speedup_note").empty())
    line = "no ratio: " + mcp::shortened(text(timing, "speedup_note"), kNoteBytes);
  if (!line.empty()) line += kDot;
  return {line + medians + reference_text(timing) + " (medians, clock: " + clock + ")"};
}

std::string variant_text(const OrderedJson& row) {
  const std::string name = mcp::shortened(text(row, "name"), kNameBytes);
  const auto rank = number(row, "rank");
  if (!rank) {
    const std::string verdict = text(row, "verdict");
    return "-  " + name + kDot + (verdict.empty() ? text(row, "note") : verdict);
  }
  std::string told = digits(*rank) + ". " + name;
  if (const auto cost_ns = number(row, "cost_ns")) {
    told += kDot + time_text(*cost_ns);
    const std::string basis = text(row, "cost_basis");
    if (basis == "beside_best") told += " (beside the best)";
    if (basis == "graph") told += " (graph)";
  }
  if (const auto counted = number(row, "thread_instructions"))
    told += kDot + digits(*counted) + " thread instructions";
  if (!text(row, "trust").empty()) told += kDot + text(row, "trust");
  return told + (row.value("tied_with_best", false) ? ", tied" : "");
}

std::vector<std::string> sweep(const OrderedJson& report) {
  const auto table = report.find("table");
  if (table == report.end() || !table->is_array()) return {};
  std::vector<std::string> lines;
  for (const OrderedJson& row : *table) {
    if (lines.size() == kToldVariants) break;
    lines.push_back(variant_text(row));
  }
  if (table->size() > kToldVariants)
    lines.back() += " (and " + std::to_string(table->size() - kToldVariants) + " more in `table`)";
  return lines;
}

}  // namespace

std::vector<std::string> figures_lines(const OrderedJson& report) {
  if (text(report, "kind") == "sweep") return sweep(report);
  return text(report, "verdict") == "passed" ? evaluation(report) : std::vector<std::string>();
}

}  // namespace assay::tools
