#include "plans/commits/commit_job.h"

#include <fstream>

#include "plans/commits/measurement.h"
#include "plans/optest/plan_job.h"
#include "plans/requirements.h"

namespace assay::commits {
namespace {

namespace fs = std::filesystem;
using job::StageStatus;
using job::State;
using job::Verdict;
using nlohmann::json;

constexpr std::size_t kToldPatch =
    20'000;  // of a record's patch in the answer; the artifact has all

Verdict verdict_of(const std::string& status) {
  if (status == "success") return Verdict::passed;
  if (status == "unsupported") return Verdict::unsupported;
  if (status == "timeout") return Verdict::timed_out;
  if (status == "cancelled") return Verdict::cancelled;
  return Verdict::failed;
}

std::string sentence(const Measured& measured) {
  const json& body = measured.body;
  const std::string head = body.value("head", std::string("?")).substr(0, 8);
  if (measured.status != "success") {
    return head + ": " + measured.status + ": " + measured.cause +
           (measured.command.empty() ? "" : "\n  " + measured.command);
  }
  std::string text = head + ": success";
  const json speedup = body.value("speedup", json::object());
  if (speedup.contains("head")) {
    const json& one = speedup.at("head");
    text += ", head is " + one.at("verdict").get<std::string>() + ", " + one.at("ratio").dump() +
            "x [" + one.at("low").dump() + ", " + one.at("high").dump() + "]";
  }
  return text;
}

class CommitsJob {
 public:
  CommitsJob(const node::Order& order, node::Reporter& reporter, const std::stop_token& stop,
             const plans::Workshop& workshop)
      : request_(order.request),
        job_id_(order.job_id),
        stages_(reporter),
        stop_(stop),
        workshop_(workshop) {}

  node::Conclusion run() {
    auto read = read_commit_plan(request_);
    if (const auto* bad = std::get_if<BadPlan>(&read)) {
      return {.verdict = Verdict::contract_invalid,
              .body = {{"summary", bad->message}, {"result", json::object()}}};
    }
    const CommitPlan plan = std::get<CommitPlan>(std::move(read));
    const plans::StepRunner& runner = workshop_.steps();
    if (!plan.needs.empty()) {
      const auto answer = plans::check_requirements(plan.needs, workshop_.capabilities(), runner,
                                                    plan.python, stop_);
      if (!answer.supported) {
        return {.verdict = Verdict::unsupported,
                .body = {{"summary", answer.summary},
                         {"result",
                          {{"status", "unsupported"},
                           {"fault", "environment"},
                           {"capability", plans::to_json(answer)}}}}};
      }
    }
    json heads = json::array();
    for (const auto& commit : plan.commits) heads.push_back(commit.head);
    stages_.tell("resolved", StageStatus::passed,
                 {{"commits", heads},
                  {"total", plan.commits.size()},
                  {"refused", plan.refused.size()},
                  {"problems", optest::problems_json(plan.warnings)}});
    for (const auto& refused : plan.refused) refuse(refused);
    for (const auto& commit : plan.commits) {
      if (stop_.stop_requested()) break;
      measure(plan, commit, runner);
    }
    return conclude(plan);
  }

 private:
  // A record that cannot be read is a result of its own, and no pass.
  void refuse(const RefusedExtraction& refused) {
    verdict_ = Verdict::failed;
    summary_ +=
        (summary_.empty() ? "" : "\n") + refused.file + ": bad_extraction: " + refused.reason;
    results_.push_back({{"status", "bad_extraction"},
                        {"fault", "test"},
                        {"file", refused.file},
                        {"cause", refused.reason}});
  }

  void measure(const CommitPlan& plan, const CommitToMeasure& commit,
               const plans::StepRunner& runner) {
    const plans::ScratchFolder scratch;
    const auto tell = [this](const std::string& stage, bool ok, json body, std::string log) {
      std::vector<node::Artifact> artifacts;
      if (!log.empty()) {
        const std::string name = "log-" + std::to_string(logs_++);
        body["log"] = plans::artifact_uri(job_id_, name);
        artifacts.push_back({name, "text/plain", std::move(log)});
      }
      stages_.tell(stage, ok ? StageStatus::passed : StageStatus::failed, std::move(body),
                   std::move(artifacts));
    };
    Measured measured =
        Measurement(plan, commit, runner, scratch.make("commit"), tell, stop_).run();
    const Verdict verdict = verdict_of(measured.status);
    if (verdict != Verdict::passed && verdict_ == Verdict::passed) verdict_ = verdict;
    if (verdict == Verdict::failed) verdict_ = verdict;
    summary_ += (summary_.empty() ? "" : "\n") + sentence(measured);
    if (!measured.record.is_null()) keep_record(plan, measured);
    if (!stop_.stop_requested()) {
      stages_.tell(
          "compared", verdict == Verdict::passed ? StageStatus::passed : StageStatus::failed,
          {{"phase", measured.body.value("head", commit.head)}, {"result", measured.body}});
    }
    results_.push_back(std::move(measured.body));
  }

  void keep_record(const CommitPlan& plan, Measured& measured) {
    lines_ += measured.record.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    record_ = measured.record;
    if (record_.at("patch").get_ref<const std::string&>().size() > kToldPatch) {
      record_["patch"] = "in the artifact record.jsonl";
    }
    if (plan.dataset.empty() || measured.status == "cancelled") return;
    try {
      measured.body["dataset"] = {{"file", plan.dataset.string()},
                                  {"record", add_record(plan.dataset, measured.record)}};
    } catch (const std::runtime_error& error) {
      measured.body["dataset"] = {{"file", plan.dataset.string()}, {"problem", error.what()}};
    }
  }

  node::Conclusion conclude(const CommitPlan& plan) {
    const bool cut = stop_.stop_requested();
    json body = {{"summary", cut ? "Cancelled. " + summary_ : summary_}, {"record", record_}};
    if (!plan.warnings.empty()) body["problems"] = optest::problems_json(plan.warnings);
    if (plan.commits.size() == 1 && plan.refused.empty())
      body["result"] = results_.empty() ? json::object() : results_[0];
    else
      body["results"] = results_;
    if (!cut) {
      std::vector<node::Artifact> artifacts;
      if (!lines_.empty()) artifacts.push_back({"record.jsonl", "application/jsonl", lines_});
      stages_.tell("concluded", StageStatus::passed, json::object(), std::move(artifacts));
    }
    return {.verdict = cut ? Verdict::cancelled : verdict_, .body = std::move(body)};
  }

  const json& request_;
  const std::string& job_id_;
  plans::Stages stages_;
  const std::stop_token& stop_;
  const plans::Workshop& workshop_;
  json results_ = json::array();
  json record_ = nullptr;
  std::string lines_{};
  std::string summary_{};
  Verdict verdict_ = Verdict::passed;
  int logs_ = 0;
};

}  // namespace

job::Kind commits_kind() {
  return {
      .name = "commits",
      .stages = {{.name = "received", .during = State::submitted},
                 {.name = "resolved", .during = State::submitted},
                 {.name = "prepared", .during = State::compiling},
                 {.name = "measured", .during = State::profiling},
                 {.name = "compared", .during = State::profiling},
                 {.name = "concluded", .during = State::profiling}},
      .verdicts = {Verdict::passed, Verdict::failed, Verdict::contract_invalid, Verdict::timed_out,
                   Verdict::unsupported, Verdict::cancelled, Verdict::engine_fault}};
}

node::Conclusion run_commits_job(const node::Order& order, node::Reporter& reporter,
                                 const std::stop_token& stop, const plans::Workshop& workshop) {
  return CommitsJob(order, reporter, stop, workshop).run();
}

}  // namespace assay::commits
