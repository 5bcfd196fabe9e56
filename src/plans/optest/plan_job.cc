#include "plans/optest/plan_job.h"

#include <algorithm>
#include <set>

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
  PlanJob(const node::Order& order, node::Reporter& reporter, const std::stop_token& stop,
          const plans::Workshop& workshop)
      : request_(order.request),
        job_id_(order.job_id),
        stages_(reporter),
        stop_(stop),
        workshop_(workshop) {}

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
    find_shared_files(*loaded.plan);
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
                          .unmet = [&](const json& needs) { return unmet(needs); },
                          .files = request_.value("files", ""),
                          .seed = wanted_seed()};
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
      tell_how_to_repeat(plan, runs[i], ran.record);
      if (stop_.stop_requested()) {
        // Nobody takes stages any more; the conclusion still says what became of it.
        cases_.push_back(to_json(ran.record));
        break;
      }
      tell(ran, i, runs.size());
      if (stop_on_first && is_failure(ran.record.status)) break;
    }
  }

  [[nodiscard]] std::optional<std::uint64_t> wanted_seed() const {
    if (!request_.contains("seed")) return std::nullopt;
    return static_cast<std::uint64_t>(request_.at("seed").get<std::int64_t>());
  }

  // Files that more than one run of the whole plan reads or writes.
  void find_shared_files(const Plan& plan) {
    std::set<std::filesystem::path> seen;
    for (const Run& run : select_runs(plan, {})) {
      const Resolved resolved = resolve(plan, run);
      std::set<std::filesystem::path> own(resolved.inputs.begin(), resolved.inputs.end());
      own.insert(resolved.outputs.begin(), resolved.outputs.end());
      for (const auto& file : own) {
        if (!seen.insert(file).second) shared_files_.insert(file);
      }
    }
  }

  [[nodiscard]] bool shares_files(const Plan& plan, const Run& run) const {
    const Resolved resolved = resolve(plan, run);
    const auto is_shared = [&](const auto& file) { return shared_files_.contains(file); };
    return std::any_of(resolved.inputs.begin(), resolved.inputs.end(), is_shared) ||
           std::any_of(resolved.outputs.begin(), resolved.outputs.end(), is_shared);
  }

  // Where other runs have put files of their own in place of this one's, its bare command would
  // read theirs and write over them: then the line lets optest make all of it anew, elsewhere.
  void tell_how_to_repeat(const Plan& plan, const Run& run, CaseRecord& record) {
    const bool is_kernel = plan.backends[run.backend].kernel.has_value();
    if (!is_kernel && (!record.more.contains("repro") || !shares_files(plan, run))) return;
    record.more.erase("repro");
    if (!request_.value("is_file", false)) {
      record.more["repro_note"] =
          "the plan was given as a text and its runs share files: argv is what ran";
      return;
    }
    const auto file = std::filesystem::path(plan.folder) /
                      std::filesystem::path(request_.at("file").get<std::string>()).filename();
    std::error_code ignored;
    std::string line =
        plans::command_line({std::filesystem::read_symlink("/proc/self/exe", ignored).string(),
                             "optest", "run", "--plan", file.string(), "--only", run.id});
    for (const char* key : {"python", "isolation"}) {
      const std::string value = request_.value(key, "");
      if (!value.empty()) line += " --" + std::string(key) + "=" + plans::quoted(value);
    }
    for (const auto& seed : record.more.value("seeds", json::array())) {
      if (!seed.is_number_integer() || plan.cases[run.which].generator.all.seed) continue;
      line += " --seed=" + seed.dump();
      break;
    }
    record.more["repro"] = line + " --files \"$(mktemp -d)\"";
  }

  void tell(Ran& ran, std::size_t index, std::size_t total) {
    json told = to_json(ran.record);
    const std::string log = "log-" + std::to_string(index);
    if (!ran.log.empty()) told["log"] = plans::artifact_uri(job_id_, log);
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
  const std::string& job_id_;
  plans::Stages stages_;
  const std::stop_token& stop_;
  const plans::Workshop& workshop_;
  json problems_ = json::array();
  json cases_ = json::array();
  json isolation_ = json::object();
  std::set<std::filesystem::path> shared_files_{};
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
  choice.only = document.value("only", "");
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
  return PlanJob(order, reporter, stop, workshop).run();
}

}  // namespace assay::optest
