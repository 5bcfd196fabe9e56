#include "plans/generators/generator_job.h"

#include "plans/generators/generator_run.h"
#include "plans/python.h"
#include "plans/requirements.h"
#include "plans/samples.h"
#include "plans/scratch_folder.h"
#include "plans/text_file.h"

namespace assay::generators {
namespace {

namespace fs = std::filesystem;
using job::StageStatus;
using job::State;
using job::Verdict;
using nlohmann::json;

std::string text(const json& request, const char* key) { return request.value(key, std::string()); }

EnvironmentTags tags_of(const json& request) {
  return {.impl_tag = text(request, "impl_tag"),
          .commit_hash = text(request, "commit_hash"),
          .device = text(request, "device"),
          .dtype = text(request, "dtype"),
          .opt_gates = text(request, "opt_gates"),
          .module = text(request, "module"),
          .symbol = text(request, "symbol"),
          .eq_level = text(request, "eq_level")};
}

// One verdict for several scripts: a failure before all, then what could not be run.
Verdict worst(const std::vector<Verdict>& verdicts) {
  for (const Verdict one : {Verdict::failed, Verdict::timed_out, Verdict::unsupported}) {
    for (const Verdict verdict : verdicts) {
      if (verdict == one) return one;
    }
  }
  return Verdict::passed;
}

class GeneratorJob {
 public:
  GeneratorJob(const node::Order& order, node::Reporter& reporter, const std::stop_token& stop,
               const plans::Workshop& workshop)
      : request_(order.request),
        job_id_(order.job_id),
        stages_(reporter),
        stop_(stop),
        workshop_(workshop),
        steps_(workshop.steps()),
        tags_(tags_of(order.request)) {}

  node::Conclusion run() {
    auto found = plans::find_python(steps_, text(request_, "python"), stop_);
    if (const auto* none = std::get_if<plans::NoPython>(&found)) {
      return {.verdict = Verdict::unsupported,
              .body = {{"summary", "No Python: " + none->reason}, {"result", json::object()}}};
    }
    python_ = std::get<plans::Python>(std::move(found));
    const auto scripts = request_.at("scripts").get<std::vector<std::string>>();
    const json needs = request_.value("requires", json::object());
    if (!needs.empty()) {
      const auto answer = plans::check_requirements(needs, workshop_.capabilities(), steps_,
                                                    text(request_, "python"), stop_);
      capability_ = plans::to_json(answer);
      if (!answer.supported) return unsupported(answer.summary, scripts);
    }
    for (std::size_t i = 0; i < scripts.size() && !stop_.stop_requested(); ++i) {
      results_.push_back(request_.value("inspect_only", false)
                             ? inspect(scripts[i], i, scripts.size())
                             : run_one(scripts[i], i, scripts.size()));
    }
    return conclude(scripts.size());
  }

 private:
  // Of a confined step: the interpreter's folders and the script's own files.
  GeneratorCall call_of(const std::string& script, std::size_t index) {
    const std::string number = std::to_string(index);
    GeneratorCall call{.script = script,
                       .eqcheck = request_.value("eqcheck", false),
                       .reference = request_.value("reference", false),
                       .prefix = text(request_, "prefix"),
                       .eq_level = text(request_, "eq_level"),
                       .return_unit = request_.value("return_unit", "auto"),
                       .python = {python_.executable},
                       .notes = scratch_.make("notes-" + number),
                       .environment = environment_of(tags_),
                       .timeout = std::chrono::seconds(request_.value("timeout", 300)),
                       .log = scratch_.path() / ("log-" + number),
                       .scratch = scratch_.path()};
    const json wanted = request_.value("env", json::object());
    for (const auto& [key, value] : wanted.items()) {
      call.environment[key] = value.get<std::string>();
    }
    add_other_spellings(call.environment);
    const std::string workdir = text(request_, "workdir");
    call.workdir = workdir.empty() ? scratch_.make("work-" + number) : fs::path(workdir);
    call.enclosure = enclosure_of(script, workdir, call.workdir);
    return call;
  }

  plans::Enclosure enclosure_of(const std::string& script, const std::string& workdir,
                                const fs::path& folder) {
    plans::Enclosure enclosure{.readable = python_.folders, .writable = {folder.string()}};
    for (auto& path : plans::shown_of(fs::path(script).parent_path()))
      enclosure.readable.push_back(std::move(path));
    if (plans::isolation_wish(request_) == plans::IsolationWish::host) {
      isolation_ = "isolation: host was asked for";
    } else if (!steps_.can_confine()) {
      isolation_ = steps_.missing();
    } else if (!workdir.empty()) {
      isolation_ = "it works in a folder of the user's, where it runs as the user";
    } else if (workshop_.capabilities().value("no_gpu", json()).is_null()) {
      isolation_ = "a generator may use the GPU, whose device nodes confined steps are not given";
    } else {
      enclosure.confined = true;
    }
    return enclosure;
  }

  json inspect(const std::string& script, std::size_t index, std::size_t total) {
    GeneratorCall call = call_of(script, index);
    json seen = inspect_generator(call, steps_, stop_);
    seen["script"] = script;
    verdicts_.push_back(seen.contains("unreadable") ? Verdict::failed : Verdict::passed);
    json capability;
    const json needs = seen.value("needs", json::object());
    const auto answer = plans::check_requirements(needs, workshop_.capabilities(), steps_,
                                                  text(request_, "python"), stop_);
    seen["capability"] = plans::to_json(answer);
    stages_.tell("inspected", StageStatus::passed,
                 {{"id", fs::path(script).filename().string()},
                  {"index", index},
                  {"total", total},
                  {"result", seen}});
    return seen;
  }

  json run_one(const std::string& script, std::size_t index, std::size_t total) {
    const GeneratorCall call = call_of(script, index);
    std::vector<GeneratorEnd> runs;
    const int repeats = request_.value("repeats", 1);
    for (int i = 0; i < repeats && !stop_.stop_requested(); ++i) {
      runs.push_back(pass(call, runs));
      if (runs.back().classified.status != Status::ok) break;
    }
    if (runs.empty()) return json::object();
    json told = to_json(call, runs.back());
    told["script"] = script;
    told["log"] = plans::artifact_uri(job_id_, "log-" + std::to_string(index));
    told["step"].erase("log");
    told["isolation"] = {{"level", steps_.level_of(call.enclosure)}, {"why", isolation_}};
    if (!capability_.is_null()) told["capability"] = capability_;
    json samples = json::array();
    for (const auto& run : runs) samples.push_back(run.avg_ms ? json(*run.avg_ms) : json(nullptr));
    told["samples_ms"] = std::move(samples);
    told["result_line"] = result_line(tags_, runs);
    // Of several runs none is the headline, their mean is.
    if (runs.size() > 1 && told.at("result_line").is_object())
      told["avg_ms"] = told.at("result_line").at("avg_ms");
    if (text(request_, "workdir").empty() && told.at("reference").at("written").get<bool>()) {
      told["reference"]["note"] =
          "it lies in a folder that goes with this job; give workdir to keep it";
    }
    verdicts_.push_back(verdict_of(runs.back().classified.status));
    tell(told, script, index, total, call.log);
    return told;
  }

  // The reference is made once: a confined process has a user of its own and may not write over
  // what an earlier one left. With both wishes it is made by a run of its own, so that the
  // comparison has one.
  GeneratorEnd pass(const GeneratorCall& call, const std::vector<GeneratorEnd>& earlier) {
    if (call.reference && !earlier.empty()) {
      GeneratorCall next = call;
      next.reference = false;
      GeneratorEnd end = run_generator(next, steps_, stop_);
      end.repeats.insert(end.repeats.begin(), earlier.front().repeats.front());
      if (end.facts.is_object())
        end.facts["stored"] = earlier.front().facts.value("stored", json::array());
      return end;
    }
    if (call.reference && call.eqcheck) {
      GeneratorCall first = call;
      first.eqcheck = false;
      GeneratorEnd made = run_generator(first, steps_, stop_);
      if (made.classified.status != Status::ok) return made;
      GeneratorCall second = call;
      second.reference = false;
      GeneratorEnd checked = run_generator(second, steps_, stop_);
      checked.repeats.insert(checked.repeats.begin(), made.repeats.front());
      if (checked.facts.is_object())
        checked.facts["stored"] = made.facts.value("stored", json::array());
      return checked;
    }
    return run_generator(call, steps_, stop_);
  }

  void tell(const json& told, const std::string& script, std::size_t index, std::size_t total,
            const fs::path& log) {
    std::vector<node::Artifact> artifacts{
        {"log-" + std::to_string(index), "text/plain", plans::read_text(log)}};
    stages_.tell("ran", told.at("status") == "ok" ? StageStatus::passed : StageStatus::failed,
                 {{"id", fs::path(script).filename().string()},
                  {"status", told.at("status")},
                  {"index", index},
                  {"total", total},
                  {"result", told}},
                 std::move(artifacts));
  }

  node::Conclusion unsupported(const std::string& why, const std::vector<std::string>& scripts) {
    const json result = {{"status", name(Status::capability_unsupported)},
                         {"code", 2},
                         {"message", why},
                         {"capability", capability_},
                         {"equivalence",
                          {{"requested", request_.value("eqcheck", false)},
                           {"performed", false},
                           {"passed", nullptr}}}};
    json body = {{"summary", why}, {"result", result}};
    if (scripts.size() > 1) body["results"] = json::array({result});
    return {.verdict = Verdict::unsupported, .body = std::move(body)};
  }

  node::Conclusion conclude(std::size_t wanted) {
    const bool cut = stop_.stop_requested();
    json lines = json::array();
    std::string summary;
    for (const auto& one : results_) {
      if (one.contains("result_line") && !one.at("result_line").is_null())
        lines.push_back(one.at("result_line"));
      if (summary.size() < 2000) summary += (summary.empty() ? "" : "\n") + sentence(one);
    }
    json body = {
        {"summary",
         cut ? "Cancelled after " + std::to_string(results_.size()) + " scripts." : summary}};
    if (wanted == 1)
      body["result"] = results_.empty() ? json::object() : results_[0];
    else
      body["results"] = results_;
    if (!cut) {
      std::string text;
      for (const auto& line : lines) text += line.dump() + "\n";
      std::vector<node::Artifact> artifacts;
      if (!text.empty()) artifacts.push_back({"result.jsonl", "application/jsonl", text});
      stages_.tell("concluded", StageStatus::passed, json::object(), std::move(artifacts));
    }
    return {.verdict = cut ? Verdict::cancelled : worst(verdicts_), .body = std::move(body)};
  }

  static std::string sentence(const json& one) {
    const std::string script = fs::path(one.value("script", "")).filename().string();
    if (one.contains("unreadable")) return script + ": " + one.at("unreadable").get<std::string>();
    if (!one.contains("status")) return script + ": family " + one.value("family", "unknown");
    std::string text = script + ": " + one.at("status").get<std::string>();
    const std::string message = one.value("message", "");
    if (!message.empty()) text += ": " + message;
    if (one.at("avg_ms").is_number()) text += ", " + one.at("avg_ms").dump() + " ms";
    const json& equivalence = one.at("equivalence");
    if (equivalence.at("requested").get<bool>()) {
      text += equivalence.at("performed").get<bool>() ? ", equivalence performed"
                                                      : ", equivalence NOT performed";
    }
    return text;
  }

  const json& request_;
  const std::string& job_id_;
  plans::Stages stages_;
  const std::stop_token& stop_;
  const plans::Workshop& workshop_;
  const plans::StepRunner& steps_;
  const plans::ScratchFolder scratch_{};
  const EnvironmentTags tags_;
  plans::Python python_{};
  std::string isolation_{};
  json capability_ = nullptr;
  json results_ = json::array();
  std::vector<Verdict> verdicts_{};
};

}  // namespace

job::Kind generator_kind() {
  return {.name = "generator",
          .stages = {{.name = "received", .during = State::submitted},
                     {.name = "inspected", .during = State::validating},
                     {.name = "ran", .during = State::validating},
                     {.name = "concluded", .during = State::validating}},
          .verdicts = {Verdict::passed, Verdict::failed, Verdict::timed_out, Verdict::unsupported,
                       Verdict::cancelled, Verdict::engine_fault}};
}

node::Conclusion run_generator_job(const node::Order& order, node::Reporter& reporter,
                                   const std::stop_token& stop, const plans::Workshop& workshop) {
  return GeneratorJob(order, reporter, stop, workshop).run();
}

}  // namespace assay::generators
