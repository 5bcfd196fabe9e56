#include "engine/node/sweep_table.h"

#include <algorithm>
#include <utility>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kToldSummaryBytes = 300;

// What something speaks against stands behind all that nothing does.
bool stands_before(const SweepRow& a, const SweepRow& b) {
  if (a.measured != b.measured) return a.measured;
  if (a.is_suspect() != b.is_suspect()) return !a.is_suspect();
  if (a.leads != b.leads) return a.leads;
  return a.measured && a.cost < b.cost;
}

}  // namespace

SweepTable::SweepTable(std::vector<SweepRow> rows, By by, bool ties_are_open)
    : rows_(std::move(rows)), by_time_(by == By::time), ties_are_open_(ties_are_open) {
  for (SweepRow& row : rows_) row.measured = row.measured && row.verdict == "passed";
  std::stable_sort(rows_.begin(), rows_.end(), stands_before);
}

json SweepTable::line_of(const SweepRow& row, std::size_t rank) const {
  json line = {{"name", row.variant.at("name")},
               {"parameters", row.variant.at("parameters")},
               {"verdict", row.verdict.empty() ? json(nullptr) : json(row.verdict)}};
  if (row.verdict.empty()) {
    line["note"] = row.compiled ? "not run: the budget was spent"
                                : "not compiled within the half of the budget that is for it";
    return line;
  }
  if (!row.measured) {
    line["summary"] = row.summary.substr(0, kToldSummaryBytes);
    return line;
  }
  line["rank"] = row.tied ? 1 : rank;
  line["trust"] = row.trust;
  line[by_time_ ? "cost_ns" : "thread_instructions"] = row.cost;
  const double best = rows_.front().cost;
  line["relative"] = best > 0 ? json(row.cost / best) : json(nullptr);
  if (by_time_) {
    line["cost_basis"] = row.cost_basis;
    line["median_ns"] = row.cold_ns;
    if (row.graph_ns) line["graph_ns"] = *row.graph_ns;
    line["runs"] = row.runs;
  }
  if (!row.against_best.is_null()) line["against_best"] = row.against_best;
  if (row.tied) line["tied_with_best"] = true;
  return line;
}

json SweepTable::lines() const {
  json table = json::array();
  std::size_t rank = 1;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    // Equal counts are no order.
    const bool is_equal = !by_time_ && i > 0 && rows_[i].cost == rows_[i - 1].cost &&
                          rows_[i].trust == rows_[i - 1].trust;
    if (!is_equal) rank = i + 1;
    table.push_back(line_of(rows_[i], rank));
  }
  return table;
}

std::string SweepTable::summary_of_passed() const {
  const auto count = [&](auto is_such) {
    return std::count_if(rows_.begin(), rows_.end(), is_such);
  };
  const auto passed = count([](const SweepRow& row) { return row.measured; });
  const auto tied = count([](const SweepRow& row) { return row.tied; });
  const auto waiting = count([](const SweepRow& row) { return row.verdict.empty(); });
  const auto failed = static_cast<std::ptrdiff_t>(rows_.size()) - passed - waiting;
  std::string text = "Best of " + std::to_string(rows_.size()) + ": " +
                     rows_.front().variant.at("name").get<std::string>();
  if (tied > 0) text += " (" + std::to_string(tied) + " more cannot be told from it)";
  text += "; " + std::to_string(passed) + " passed";
  const auto suspect = count([](const SweepRow& row) { return row.measured && row.is_suspect(); });
  if (suspect > 0) text += " (" + std::to_string(suspect) + " of them suspect)";
  text += ", " + std::to_string(failed) + " did not";
  if (waiting > 0) text += ", " + std::to_string(waiting) + " were not run for the budget";
  const auto raw = count([](const SweepRow& row) { return row.verdict.empty() && !row.compiled; });
  if (raw > 0) text += " (" + std::to_string(raw) + " of them not compiled in its half)";
  text += ".";
  if (ties_are_open_)
    text += " The budget ended before all near the best were compared with it: ranks may be ties.";
  return text;
}

Conclusion SweepTable::conclude() const {
  Conclusion conclusion{.verdict = job::Verdict::passed};
  json& body = conclusion.body;
  const SweepRow& first = rows_.front();
  // Where none was measured there is no order.
  if (first.measured) body["ranked_by"] = by_time_ ? "cost_ns" : "thread_instructions";
  if (!by_time_) {
    body["note"] =
        "Without a GPU the order is that of the instructions that all threads execute in the first "
        "trial, which is no order of times; within 1 % of the best they are ties.";
  }
  body["table"] = lines();
  if (first.measured) {
    body["best"] = body["table"].front();
    body["summary"] = summary_of_passed();
  } else {
    const auto verdict = job::verdict_from(first.verdict);
    conclusion.verdict = verdict.value_or(job::Verdict::timed_out);
    body["summary"] = verdict ? "No variant passed. The first: " + first.summary
                              : "No variant was run within the budget. Give it a larger budget_s.";
  }
  return conclusion;
}

}  // namespace assay::node
