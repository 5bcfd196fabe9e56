#include "plans/optest/plan_job.h"

#include "plans/optest/case_runner.h"
#include "plans/optest/plan.h"
#include "plans/optest/selection.h"
#include "plans/requirements.h"

namespace assay::optest {
namespace {

using job::StageStatus;
using job::State;
using job::Verdict;
using nlohmann::json;

constexpr std::size_t kMaxRuns = 10'000;
constexpr std::size_t kToldRuns = 100;    // in the conclusion; the artifact "report" has all
constexpr std::size_t kToldText = 2'000;  // of a stage's longer texts

std::vector<std::string> words(const json& document, const char* key) {
  return document.value(key, std::vector<std::string>{});
}

// The verdict of an order of kind "kernel", with what its validation said.
node::Conclusion judge_kernel(const plans::Workshop& workshop, const json& request,
                              const std::stop_token& stop) {
  node::Conclusion conclusion = workshop.kernels(request, stop);
  for (const auto& stage : conclusion.body.value("stages", json::array())) {
    if (stage.at("name") == "validated") conclusion.body["validated"] = stage.at("body");
  }
  return conclusion;
}

std::string plural(std::size_t count, const std::string& word) {
  return std::to_string(count) + " " + word + (count == 1 ? "" : "s");
}

class PlanJob {
 public:
  PlanJob(const json& request, node::Reporter& reporter, const std::stop_token& stop,
          const plans::Workshop& workshop)
      : request_(request), stages_(reporter), stop_(stop), workshop_(workshop) {}

  node::Conclusion run() {
    Loaded loaded =
        load_plan(request_.at("plan").get<std::string>(), request_.at("folder").get<std::string>());
    problems_ = problems_json(loaded.problems);
    if (!loaded.plan) return refuse("The plan is not valid: nothing was run.", loaded.problems);
    const Choice choice = choice_from(request_.value("choice", json::object()));
    const std::vector<Run> runs = select_runs(*loaded.plan, choice);
    if (runs.empty()) return refuse(nothing_selected(*loaded.plan, choice), {});
    if (runs.size() > kMaxRuns) {
      return refuse("The plan has " + std::to_string(runs.size()) + " runs, at most " +
                        std::to_string(kMaxRuns) + " are taken at once.",
                    {});
    }
    json ids = json::array();
    for (std::size_t i = 0; i < std::min(runs.size(), kToldRuns); ++i) ids.push_back(runs[i].id);
    stages_.tell("planned", StageStatus::passed,
                 {{"operator", loaded.plan->operator_name},
                  {"total", runs.size()},
                  {"runs", std::move(ids)},
                  {"problems", problems_}});
    run_all(*loaded.plan, runs);
    std::vector<std::string> selected;
    for (const auto& one : runs) selected.push_back(one.id);
    return conclude(selected);
  }

 private:
  node::Conclusion refuse(const std::string& why, const std::vector<Problem>& problems) {
    std::string summary = why;
    for (const auto& problem : problems) {
      if (problem.fatal) summary += "\n" + to_text(problem, request_.value("file", "plan"));
    }
    stages_.tell("planned", StageStatus::failed, {{"problems", problems_}, {"summary", why}});
    return {
        .verdict = Verdict::contract_invalid,
        .body = {
            {"summary", summary}, {"problems", problems_}, {"report", report_of(json::array())}}};
  }

  CachePolicy policy(const Plan& plan) const {
    const std::string wanted = request_.value("cache", "");
    if (wanted.empty()) return plan.cache;
    return wanted == "regen" ? CachePolicy::regen : CachePolicy::reuse;
  }

  void run_all(const Plan& plan, const std::vector<Run>& runs) {
    const plans::StepRunner& steps = workshop_.steps();
    const plans::ScratchFolder scratch;
    CustomFunctions functions(steps, scratch, request_.value("python", ""),
                              plans::isolation_wish(request_) == plans::IsolationWish::automatic);
    const CaseTools tools{.steps = steps,
                          .scratch = scratch,
                          .functions = functions,
                          .kernels =
                              [&](const json& order, const std::stop_token& stop) {
                                return judge_kernel(workshop_, order, stop);
                              },
                          .unmet = [&](const json& needs) { return unmet(needs); }};
    isolation_ = {{"commands", "host"},
                  {"functions", functions.level()},
                  {"note",
                   "Commands of a plan are the user's own programs in the user's own "
                   "folders, so they run on the host as the user" +
                       std::string(steps.can_confine() ? "." : "; " + steps.missing() + ".")}};
    CaseRunner runner(plan, policy(plan), tools);
    const bool stop_on_first = request_.value("stop_on_first", false);
    for (std::size_t i = 0; i < runs.size() && !stop_.stop_requested(); ++i) {
      Ran ran = runner.run(runs[i], stop_);
      if (stop_.stop_requested()) {
        // Nobody takes stages any more; the conclusion still says what became of it.
        cases_.push_back(to_json(ran.record));
        break;
      }
      tell(ran, i, runs.size());
      if (stop_on_first && is_failure(ran.record.status)) break;
    }
  }

  void tell(Ran& ran, std::size_t index, std::size_t total) {
    json told = to_json(ran.record);
    const std::string log = "log-" + std::to_string(index);
    if (!ran.log.empty()) told["log"] = log;
    cases_.push_back(told);
    told["index"] = index;
    told["total"] = total;
    if (told.at("details").get_ref<const std::string&>().size() > kToldText) {
      told["details"] =
          plans::printable(told.at("details").get<std::string>().substr(0, kToldText));
    }
    std::vector<node::Artifact> artifacts;
    if (!ran.log.empty()) artifacts.push_back({log, "text/plain", std::move(ran.log)});
    stages_.tell("ran", is_failure(ran.record.status) ? StageStatus::failed : StageStatus::passed,
                 std::move(told), std::move(artifacts));
  }

  std::string unmet(const json& needs) {
    const plans::RequirementsAnswer answer = plans::check_requirements(
        needs, workshop_.capabilities(), workshop_.steps(), request_.value("python", ""), stop_);
    return answer.supported ? std::string() : answer.summary;
  }

  [[nodiscard]] bool is_cut(std::size_t wanted) const {
    const bool is_last_whole = cases_.empty() || cases_.back().at("status") != "cancelled";
    return stop_.stop_requested() && (cases_.size() < wanted || !is_last_whole);
  }

  node::Conclusion conclude(const std::vector<std::string>& runs) {
    json report = report_of(cases_);
    const bool cut = is_cut(runs.size());
    if (cut) tell_cancelled(report, runs);
    const auto& summary = report.at("summary");
    const auto failures = summary.at("failures").get<std::size_t>();
    const auto unsupported = summary.at("unsupported").get<std::size_t>();
    std::string text = plural(cases_.size(), "run") + ": " + std::to_string(failures) + " failed";
    if (cut) {
      text =
          "Cancelled: " + plural(report.at("not_started").size(), "run") + " not started. " + text;
    }
    if (unsupported > 0) text += ", " + std::to_string(unsupported) + " unsupported";
    for (const auto& one : cases_) {
      if (text.size() > kToldText) break;
      if (one.at("status") == "passed" || one.at("status") == "xfail") continue;
      text += "\n" + one.at("id").get<std::string>() + ": " + one.at("status").get<std::string>() +
              ": " + one.at("details").get<std::string>().substr(0, 300);
    }
    Verdict verdict = Verdict::passed;
    if (cut)
      verdict = Verdict::cancelled;
    else if (failures > 0)
      verdict = Verdict::failed;
    else if (unsupported == cases_.size())
      verdict = Verdict::unsupported;
    std::vector<node::Artifact> artifacts;
    artifacts.push_back(
        {"report", "application/json", report.dump(1, ' ', false, json::error_handler_t::replace)});
    if (cases_.size() > kToldRuns) {
      json some = json::array();
      for (std::size_t i = 0; i < kToldRuns; ++i) some.push_back(cases_[i]);
      report["cases"] = std::move(some);
      report["truncated"] = "the artifact 'report' has all runs";
    }
    if (cut && report.at("not_started").size() > kToldRuns) {
      json& rest = report["not_started"];
      rest.erase(rest.begin() + kToldRuns, rest.end());
    }
    node::Conclusion conclusion{.verdict = verdict,
                                .body = {{"summary", plans::printable(text)},
                                         {"report", std::move(report)},
                                         {"problems", problems_},
                                         {"environment", {{"isolation", isolation_}}}}};
    if (!stop_.stop_requested()) {
      stages_.tell("concluded", StageStatus::passed, json::object(), std::move(artifacts));
    }
    return conclusion;
  }

  const json& request_;
  plans::Stages stages_;
  const std::stop_token& stop_;
  const plans::Workshop& workshop_;
  json problems_ = json::array();
  json cases_ = json::array();
  json isolation_ = json::object();
};

}  // namespace

job::Kind plan_kind() {
  return {.name = "plan",
          .stages = {{.name = "received", .during = State::submitted},
                     {.name = "planned", .during = State::submitted},
                     {.name = "ran", .during = State::validating},
                     {.name = "concluded", .during = State::validating}},
          .verdicts = {Verdict::passed, Verdict::failed, Verdict::contract_invalid,
                       Verdict::unsupported, Verdict::cancelled, Verdict::engine_fault}};
}

Choice choice_from(const json& document) {
  Choice choice{.cases = words(document, "cases"),
                .tags = words(document, "tags"),
                .skip_tags = words(document, "skip_tags")};
  if (document.contains("backend")) choice.backend = document.at("backend").get<std::string>();
  if (document.contains("chip")) choice.chip = document.at("chip").get<std::string>();
  if (document.contains("priority_max"))
    choice.priority_max = document.at("priority_max").get<std::int64_t>();
  return choice;
}

json problems_json(const std::vector<Problem>& problems) {
  json list = json::array();
  for (const auto& one : problems) {
    list.push_back({{"severity", one.fatal ? "error" : "warning"},
                    {"line", one.place.line},
                    {"column", one.place.column},
                    {"where", one.where},
                    {"message", plans::printable(one.message)}});
  }
  return list;
}

node::Conclusion run_plan_job(const node::Order& order, node::Reporter& reporter,
                              const std::stop_token& stop, const plans::Workshop& workshop) {
  return PlanJob(order.request, reporter, stop, workshop).run();
}

}  // namespace assay::optest
