#include "tools/baseline.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tools/changes.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using job::StageStatus;
using job::Verdict;
using mcp::OrderedJson;
using nlohmann::json;

constexpr double kNoticeable = 0.01;
constexpr std::array<std::string_view, 4> kHurdles{"compiled", "prepared", "validated", "timed"};

// How many hurdles a job took, a pass above all.
std::size_t progress(const JobRecord& record) {
  if (record.verdict == Verdict::passed) return kHurdles.size() + 1;
  return static_cast<std::size_t>(
      std::count_if(record.stages.begin(), record.stages.end(), [](const job::StageRecord& stage) {
        return stage.status == StageStatus::passed &&
               std::find(kHurdles.begin(), kHurdles.end(), stage.name) != kHurdles.end();
      }));
}

bool judged_against(const JobRecord& record) { return record.request.contains("ref_kernel"); }

std::optional<double> share_wrong(const JobRecord& record) {
  const json detail = record.conclusion.value("detail", json::object());
  if (!detail.contains("output")) return std::nullopt;
  const json& output = detail.at("output");
  const double elements = output.at("elements");
  return elements > 0 ? output.at("mismatches").get<double>() / elements : 1.0;
}

std::optional<double> thread_instructions(const JobRecord& record) {
  for (const auto& stage : record.stages) {
    const auto counters = stage.body.find("counters");
    if (counters != stage.body.end()) return counters->at("thread_instructions").get<double>();
  }
  return std::nullopt;
}

OrderedJson verdict_name(const JobRecord& record) {
  return record.verdict ? OrderedJson(job::name(*record.verdict)) : OrderedJson(nullptr);
}

std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g %%", 100 * share);
  return text.data();
}

}  // namespace

OrderedJson change_since(const JobRecord& then, const JobRecord& now) {
  OrderedJson out = {{"job_id", then.id}, {"change", "same"}, {"detail", "The same outcome."}};
  const auto decide = [&](bool better, std::string detail) {
    out["change"] = better ? "better" : "worse";
    out["detail"] = std::move(detail);
  };
  out["verdict"] = {{"then", verdict_name(then)}, {"now", verdict_name(now)}};
  out["changed"] = changes_between(then, now);
  if (judged_against(then) != judged_against(now)) {
    out["detail"] = "Not comparable: only one of the two was judged against a reference.";
    return out;
  }
  const auto before = progress(then);
  const auto after = progress(now);
  if (before != after) {
    decide(after > before,
           after > before ? "It gets further than before." : "It used to get further.");
    return out;
  }
  const auto wrong_before = share_wrong(then);
  const auto wrong_after = share_wrong(now);
  if (wrong_before && wrong_after) {
    out["wrong_share"] = {{"then", *wrong_before}, {"now", *wrong_after}};
    if (*wrong_before != *wrong_after) {
      decide(*wrong_after < *wrong_before, percent(*wrong_after) + " of the elements are wrong, " +
                                               percent(*wrong_before) + " were.");
    }
    return out;
  }
  const auto cost_before = thread_instructions(then);
  const auto cost_after = thread_instructions(now);
  if (now.verdict == Verdict::passed && cost_before && cost_after && *cost_before > 0) {
    const double ratio = *cost_after / *cost_before;
    out["thread_instructions"] = {{"then", *cost_before}, {"now", *cost_after}, {"ratio", ratio}};
    if (ratio < 1 - kNoticeable || ratio > 1 + kNoticeable) {
      decide(ratio < 1, "It executes " + percent(ratio) + " of the instructions it did.");
    }
  }
  return out;
}

}  // namespace assay::tools
