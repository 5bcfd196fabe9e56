#include "engine/node/sweep_table.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "engine/node/sweep_agreement.h"

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

std::string why_no_verdict(const SweepRow& row) {
  if (!row.compiled) return "not compiled within the half of the budget that is for it";
  if (row.cut_after_s <= 0) return "not run: the budget was spent";
  char text[80];
  (void)std::snprintf(text, sizeof text, "cut by the budget, which gave it %.1f s and no more",
                      row.cut_after_s);
  return text;
}

std::string told_number(std::ptrdiff_t count, const char* what) {
  return std::to_string(count) + (count == 1 ? " was " : " were ") + what;
}

}  // namespace

SweepTable::SweepTable(std::vector<SweepRow> rows, By by, bool ties_are_open)
    : rows_(std::move(rows)),
      by_time_(by == By::time),
      ties_are_open_(ties_are_open),
      disagree_(have_disagreed(rows_)) {
  const auto held = std::count_if(rows_.begin(), rows_.end(),
                                  [](const SweepRow& row) { return row.outputs.has_value(); });
  for (SweepRow& row : rows_) {
    row.measured = row.measured && row.verdict == "passed";
    // The only one that the others were to be held against is as doubtful as they are.
    const bool is_alone = held == 1 && row.outputs.has_value();
    const bool is_doubtful = disagree_ || is_alone || !row.why_not_held.empty();
    if (is_doubtful && row.trust == "verified") row.trust = "audited";
  }
  std::stable_sort(rows_.begin(), rows_.end(), stands_before);
}

json SweepTable::line_of(const SweepRow& row, std::size_t rank) const {
  json line = {{"name", row.variant.at("name")},
               {"parameters", row.variant.at("parameters")},
               {"verdict", row.verdict.empty() ? json(nullptr) : json(row.verdict)}};
  if (row.verdict.empty()) {
    line["note"] = why_no_verdict(row);
    return line;
  }
  if (!row.measured) {
    line["summary"] = row.summary.substr(0, kToldSummaryBytes);
    return line;
  }
  line["trust"] = row.trust;
  line[by_time_ ? "cost_ns" : "thread_instructions"] = row.cost;
  if (disagree_) {
    if (row.outputs) line["outputs_group"] = *row.outputs;
  } else {
    line["rank"] = row.tied ? 1 : rank;
    const double best = rows_.front().cost;
    line["relative"] = best > 0 ? json(row.cost / best) : json(nullptr);
  }
  if (!row.why_not_held.empty()) {
    line["note"] = "its outputs were not held against the others': " +
                   row.why_not_held.substr(0, kToldSummaryBytes);
  }
  if (!row.why_not_again.empty()) {
    line["note"] =
        line.value("note", "") + (line.contains("note") ? "; " : "") +
        "no more runs of it than these: " + row.why_not_again.substr(0, kToldSummaryBytes);
  }
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
  const auto cut = count([](const SweepRow& row) { return row.cut_after_s > 0; });
  const std::string all = std::to_string(rows_.size());
  std::string text =
      disagree_ ? "No best of " + all + ", for their outputs disagree"
                : "Best of " + all + ": " + rows_.front().variant.at("name").get<std::string>();
  if (tied > 0) text += " (" + std::to_string(tied) + " more cannot be told from it)";
  text += "; " + std::to_string(passed) + " passed";
  const auto suspect = count([](const SweepRow& row) { return row.measured && row.is_suspect(); });
  if (suspect > 0) text += " (" + std::to_string(suspect) + " of them suspect)";
  text += ", " + std::to_string(failed) + " did not";
  if (cut > 0) text += ", " + told_number(cut, "cut by the budget");
  if (waiting > cut) text += ", " + std::to_string(waiting - cut) + " were not run for the budget";
  const auto raw = count([](const SweepRow& row) { return row.verdict.empty() && !row.compiled; });
  if (raw > 0) text += " (" + std::to_string(raw) + " of them not compiled in its half)";
  text += ".";
  const auto fewer =
      count([](const SweepRow& row) { return row.measured && !row.why_not_again.empty(); });
  if (fewer > 0)
    text += " " + told_number(fewer, "timed in fewer runs, by no fault of the kernel.");
  if (ties_are_open_)
    text += " The budget ended before all near the best were compared with it: ranks may be ties.";
  if (disagree_) return text + " Give a ref_kernel.";
  return text + told_of_agreement(rows_);
}

// What some were found to be is said of them alone: the others may be right.
Conclusion SweepTable::conclude_without_a_pass(Conclusion conclusion) const {
  const auto has_none = [](const SweepRow& row) { return row.verdict.empty(); };
  const auto first = std::find_if_not(rows_.begin(), rows_.end(), has_none);
  const auto waiting = std::count_if(rows_.begin(), rows_.end(), has_none);
  const auto cut = std::count_if(rows_.begin(), rows_.end(),
                                 [](const SweepRow& row) { return row.cut_after_s > 0; });
  std::string untold;  // of those without a verdict
  if (cut > 0) untold = told_number(cut, "cut by the budget");
  if (waiting > cut) {
    untold += (cut > 0 ? ", " : "") + told_number(waiting - cut, "not run: the budget was spent");
  }
  conclusion.verdict = job::Verdict::timed_out;
  std::string& summary = conclusion.body["summary"].get_ref<std::string&>();
  if (first == rows_.end()) {
    summary = cut > 0 ? "No variant has a verdict: " + untold
                      : std::string("No variant was run within the budget");
    summary += ". Give it a larger budget_s.";
    return conclusion;
  }
  conclusion.verdict = job::verdict_from(first->verdict).value_or(job::Verdict::timed_out);
  summary = "No variant passed.";
  if (waiting > 0) {
    const auto told = static_cast<std::ptrdiff_t>(rows_.size()) - waiting;
    summary = "None of the " + std::to_string(told) + " that have a verdict passed; " + untold;
    summary += ".";
  }
  summary += " The first: " + first->summary;
  return conclusion;
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
  body["summary"] = "";
  if (!first.measured) return conclude_without_a_pass(std::move(conclusion));
  body["best"] = disagree_ ? json(nullptr) : body["table"].front();
  body["summary"] = summary_of_passed();
  if (disagree_) body["warnings"] = json::array({warning_of_disagreement(rows_)});
  return conclusion;
}

}  // namespace assay::node
