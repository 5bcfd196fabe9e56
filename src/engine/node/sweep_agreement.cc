#include "engine/node/sweep_agreement.h"

#include <algorithm>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kNamed = 2;

std::string names_of(const std::vector<SweepRow>& rows, int group) {
  std::string text;
  std::size_t count = 0;
  for (const SweepRow& row : rows) {
    if (row.outputs != group || ++count > kNamed) continue;
    if (!text.empty()) text += ", ";
    text += row.variant.at("name").get<std::string>();
  }
  if (count > kNamed) text += " and " + std::to_string(count - kNamed) + " more";
  return text;
}

}  // namespace

bool have_disagreed(const std::vector<SweepRow>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const SweepRow& row) { return row.outputs.value_or(1) > 1; });
}

json warning_of_disagreement(const std::vector<SweepRow>& rows) {
  std::string text =
      "The outputs of (" + names_of(rows, 1) + ") are not those of (" + names_of(rows, 2) + ")";
  if (const std::string others = names_of(rows, kOutputGroups); !others.empty()) {
    text += ", and (" + others + ") are like neither";
  }
  text += ": nobody knows which are right. Give a ref_kernel.";
  return {{"code", "variants_disagree"}, {"message", text}};
}

std::string told_of_agreement(const std::vector<SweepRow>& rows) {
  const auto held = std::count_if(rows.begin(), rows.end(),
                                  [](const SweepRow& row) { return row.outputs.has_value(); });
  const auto unheld = std::count_if(rows.begin(), rows.end(),
                                    [](const SweepRow& row) { return !row.why_not_held.empty(); });
  std::string text;
  if (held > 1) text = " Without a ref_kernel outputs were checked against each other only.";
  if (unheld > 0) {
    text += " The outputs of " + std::to_string(unheld) +
            " could not be held against the others': trust is at most audited.";
  }
  return text;
}

}  // namespace assay::node
