#include "plans/scenarios/scenario_job.h"

#include <algorithm>
#include <fstream>

#include "engine/job/record.h"
#include "plans/container_engine.h"
#include "plans/held_step.h"
#include "plans/owned_containers.h"
#include "plans/scenarios/audit.h"
#include "plans/scenarios/command_trace.h"
#include "plans/scenarios/criteria.h"
#include "plans/scenarios/jsonc.h"
#include "plans/scenarios/scenario_log.h"
#include "plans/scenarios/workshop_engine.h"
#include "plans/scratch_folder.h"
#include "plans/text_file.h"

namespace assay::scenarios {
namespace {

namespace fs = std::filesystem;
using job::StageStatus;
using job::State;
using job::Verdict;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;

constexpr std::uintmax_t kAlmostNothing = 1U << 20;  // bytes

// bash where there is one, as the script may expect it.
std::string in_a_shell(const std::string& script) {
  const std::string file = plans::quoted(script);
  return "if command -v bash >/dev/null; then exec bash " + file + "; else exec sh " + file +
         "; fi";
}

class ScenarioJob {
 public:
  ScenarioJob(const json& request, node::Reporter& reporter, const std::stop_token& stop,
              const plans::Workshop& workshop)
      : request_(request),
        stages_(reporter),
        stop_(stop),
        steps_(workshop.steps()),
        subject_(subject_from(request)),
        log_(scratch_.path() / "scenario.log", request.value("name", "scenario")) {}

  node::Conclusion run() {
    audit_ = static_audit(request_);
    stages_.tell("audited",
                 audit_.at("violations").empty() ? StageStatus::passed : StageStatus::failed,
                 audit_);
    if (!choose_engine()) return unsupported();
    const fs::path workspace = copy_workspace();
    owned_.emplace(steps_, containers_by_, scratch_.path(), engine_ == "devcontainer");
    carry_out(carry(workspace));
    // Whoever hears of the end finds nothing left of it.
    held_.reset();
    owned_.reset();
    log_.finish();
    return conclude();
  }

 private:
  // docker, podman, devcontainer, host; auto takes the first of the engines that really runs.
  bool choose_engine() {
    const std::string wanted = request_.value("engine", "auto");
    if (wanted == "host") {
      engine_ = "host";
      return true;
    }
    std::vector<std::string> names{wanted};
    if (wanted == "auto") names = {"docker", "podman"};
    if (wanted == "devcontainer") names = {"docker", "podman"};
    for (const auto& name : names) {
      const auto seen = plans::look_at_engine(steps_, name, stop_);
      engines_.push_back(plans::to_json(seen));
      if (!seen.usable || !engine_.empty()) continue;
      engine_ = wanted == "devcontainer" ? wanted : name;
      containers_by_ = name;
    }
    if (wanted == "devcontainer" && plans::find_program("devcontainer").empty()) {
      engines_.push_back({{"name", "devcontainer"},
                          {"cli_present", false},
                          {"reason", "there is no devcontainer on PATH"}});
      engine_.clear();
    }
    if (engine_ == "docker" || engine_ == "podman") {
      if (!request_.contains("dockerfile"))
        missing_ = "a container is built from a dockerfile, and none is given";
    }
    return !engine_.empty() && missing_.empty();
  }

  node::Conclusion unsupported() {
    std::string why = missing_;
    for (const auto& engine : engines_) {
      if (engine.value("server_reachable", false)) continue;
      why +=
          (why.empty() ? "" : "; ") + engine.at("name").get<std::string>() + ": " +
          (engine.value("cli_present", false) ? "its command is here, but it cannot run anything: "
                                              : "") +
          engine.value("reason", "");
    }
    return {.verdict = Verdict::unsupported,
            .body = {{"summary", "CAPABILITY_UNSUPPORTED: " + why +
                                     ". The static audit was made; engine: host runs the same "
                                     "phases without a container."},
                     {"result", {{"engines", engines_}, {"audit", audit_}}}}};
  }

  // The user's folder is never worked in, and never deleted.
  fs::path copy_workspace() {
    const fs::path workspace = scratch_.make("workspace");
    std::error_code error;
    copy_folder(request_.at("workspace").get<std::string>(), workspace, error);
    if (error) {
      std::error_code ignored;
      // The library says input/output error of a copy that had no room.
      const bool full = fs::space(workspace, ignored).available < kAlmostNothing;
      throw std::runtime_error(
          "the workspace cannot be copied to " + workspace.string() + ": " +
          (full ? std::make_error_code(std::errc::no_space_on_device) : error).message());
    }
    return workspace;
  }

  // What is no file, folder or link (a FIFO, a socket) cannot be copied: it is left out, and named.
  void copy_folder(const fs::path& from, const fs::path& to, std::error_code& error) {
    fs::create_directories(to, error);
    for (const auto& entry : fs::directory_iterator(from, error)) {
      const fs::path target = to / entry.path().filename();
      const auto status = entry.symlink_status(error);
      if (error) return;
      if (fs::is_symlink(status)) {
        fs::copy_symlink(entry.path(), target, error);
      } else if (fs::is_directory(status)) {
        copy_folder(entry.path(), target, error);
        if (!error) fs::permissions(target, status.permissions(), error);
      } else if (fs::is_regular_file(status)) {
        fs::copy_file(entry.path(), target, fs::copy_options::overwrite_existing, error);
      } else {
        left_out_.push_back(plans::printable(entry.path().string()));
      }
      if (error) return;
    }
  }

  Phases carry(const fs::path& workspace) {
    if (engine_ == "host")
      return carry_on_host(request_, workspace, trace_.folder(), scratch_.make("home"));
    const std::string label = plans::OwnedContainers::label(scratch_.path());
    if (engine_ != "devcontainer")
      return carry_in_container(request_, engine_, workspace, trace_.folder(), label,
                                job::new_job_id().substr(0, 8));
    const fs::path place = workspace / ".devcontainer" / "devcontainer.json";
    json edit = request_;
    for (const char* key : {"dockerfile", "post_create"}) {
      if (!edit.contains(key)) continue;
      const fs::path file = in_copy(request_, edit.at(key).get<std::string>(), workspace);
      const bool is_script = std::string_view(key) == "post_create";
      edit[key] = is_script ? in_a_shell(file.lexically_relative(workspace).string())
                            : file.lexically_relative(place.parent_path()).string();
    }
    json document = json::object();
    if (request_.contains("devcontainer")) {
      const auto parsed =
          parse_jsonc(plans::read_text(request_.at("devcontainer").get<std::string>()));
      if (const auto* good = std::get_if<Jsonc>(&parsed)) document = good->document;
    }
    fs::create_directories(place.parent_path());
    std::ofstream(place) << edited_devcontainer(document, edit).dump(2) << '\n';
    return carry_in_devcontainer(request_, containers_by_, workspace, label);
  }

  void carry_out(const Phases& phases) {
    for (const auto& phase : phases) {
      if (stop_.stop_requested()) break;
      const StepEnd end = perform(phase);
      if (phase.name == "verify") verified_ = end.succeeded();
      if (phase.name == "build") built_ = end.succeeded();
      if (end.succeeded() || phase.may_fail) continue;
      problem_ = phase.name + ": " + plans::describe(end);
      tail_ = plans::printable(end.tail);
      break;
    }
  }

  StepEnd perform(const Phase& phase) {
    const Step step{.name = phase.name,
                    .argv = phase.argv,
                    .cwd = phase.cwd,
                    .environment = phase.environment,
                    .timeout = std::chrono::seconds(phase.timeout_s),
                    .log = log_.file()};
    log_.echo(step);
    const StepEnd end = phase.stays ? hold(step) : steps_.run(step, stop_);
    log_.ended(end);
    json told = plans::to_json(step, end);
    told.erase("log");
    told["phase"] = phase.name;
    phases_.push_back(told);
    if (!stop_.stop_requested()) {
      stages_.tell("ran",
                   end.succeeded() || phase.may_fail ? StageStatus::passed : StageStatus::failed,
                   std::move(told));
    }
    return end;
  }

  StepEnd hold(const Step& step) {
    held_.emplace(steps_, step, scratch_.path() / "started");
    return held_->wait_for_command(stop_);
  }

  CompileEvidence compile_evidence(const LogAudit& seen) const {
    const json compile = request_.value("compile", json::object());
    const CommandTrace::Seen trace = trace_.read();
    const std::string dockerfile = request_.value("dockerfile", "");
    const auto& found = audit_.at("findings");
    // A build without a cache carries out each instruction once.
    const auto in_image = std::count_if(found.begin(), found.end(), [&](const json& one) {
      return built_ && one.at("kind") == "compile" && one.at("file") == dockerfile;
    });
    return {.is_traced = trace.in_force,
            .log_decides = compile.contains("log") && !compile.contains("commands"),
            .executed = compiles_among(trace.commands, subject_),
            .in_image = static_cast<std::size_t>(in_image),
            .told_by_log = seen.compiles};
  }

  // One verdict per acceptance criterion.
  json criteria(const LogAudit& seen, const CompileEvidence& evidence,
                const std::vector<Finding>& violations) {
    json list = json::array();
    list.push_back(compile_criterion(evidence));
    // What devcontainer.json takes from elsewhere is told by the audit; the run left it out.
    const std::string left_out = request_.value("devcontainer", "");
    const auto& found = audit_.at("violations");
    const auto declared = std::count_if(found.begin(), found.end(), [&](const json& one) {
      return left_out.empty() || one.value("file", "") != left_out;
    });
    list.push_back(criterion("no_cache_or_builder_image", violations.empty() && declared == 0,
                             std::to_string(violations.size()) + " in the log, " +
                                 std::to_string(declared) + " in the files"));
    list.push_back(echo_criterion(seen));
    const bool asked = request_.contains("verify");
    list.push_back(criterion("verified_inside_the_run", verified_,
                             !asked             ? "no verification was given"
                             : verified_        ? "the verification succeeded in the run itself"
                             : problem_.empty() ? "it did not run"
                                                : problem_));
    return list;
  }

  node::Conclusion conclude() {
    const std::string text = log_.text();
    const LogAudit seen = audit_log(text, log_.name(), subject_);
    std::vector<Finding> violations;
    std::vector<Finding> reused;
    for (const auto& finding : seen.findings) {
      if (is_violation(finding)) violations.push_back(finding);
      if (finding.kind == "base_image_reused") reused.push_back(finding);
    }
    const CompileEvidence evidence = compile_evidence(seen);
    const json list = criteria(seen, evidence, violations);
    std::string summary;
    for (const auto& one : list) {
      if (!one.at("ok").get<bool>())
        summary += (summary.empty() ? "" : "; ") + one.at("criterion").get<std::string>() + ": " +
                   one.at("why").get<std::string>();
    }
    const bool ok = summary.empty() && problem_.empty();
    const bool cut = stop_.stop_requested();
    json result = {
        {"engine", engine_},
        {"criteria", list},
        {"compile_count", compile_count(evidence)},
        {"compile_evidence", to_json(evidence)},
        {"cache_violations", to_json(violations)},
        {"base_images_reused", to_json(reused)},
        {"audit", audit_},
        {"phases", phases_},
        {"problem", problem_},
        {"tail", tail_},
        {"log_file", log_.name()},
        {"left_out_of_the_copy", left_out_},
        {"isolation",
         engine_ == "host" ? "host: a clean folder and private caches, no walls" : engine_}};
    if (request_.contains("dockerfile"))
      result["base_images"] =
          base_images(plans::read_text(request_.at("dockerfile").get<std::string>()));
    if (!cut) {
      stages_.tell("concluded", StageStatus::passed, json::object(),
                   {{log_.name(), "text/plain", text}});
    }
    if (!problem_.empty()) summary = problem_ + (summary.empty() ? "" : "; " + summary);
    return {.verdict = cut  ? Verdict::cancelled
                       : ok ? Verdict::passed
                            : Verdict::failed,
            .body = {{"summary", cut  ? "Cancelled; what was made was taken down."
                                 : ok ? "Built from nothing, compiled once, verified."
                                      : summary},
                     {"result", std::move(result)}}};
  }

  const json& request_;
  plans::Stages stages_;
  const std::stop_token& stop_;
  const plans::StepRunner& steps_;
  const Subject subject_;
  const plans::ScratchFolder scratch_{};
  const CommandTrace trace_{scratch_.make("trace")};
  ScenarioLog log_;
  json audit_ = json::object();
  json engines_ = json::array();
  json phases_ = json::array();
  json left_out_ = json::array();  // of the workspace
  std::string engine_{};           // docker, podman, devcontainer or host
  std::string containers_by_{};    // docker or podman, also under devcontainer
  std::optional<plans::OwnedContainers> owned_{};
  std::optional<plans::HeldStep> held_{};  // goes first
  std::string missing_{};
  std::string problem_{};
  std::string tail_{};
  bool verified_ = false;
  bool built_ = false;
};

}  // namespace

job::Kind scenario_kind() {
  return {.name = "scenario",
          .stages = {{.name = "received", .during = State::submitted},
                     {.name = "audited", .during = State::compiling},
                     {.name = "ran", .during = State::compiling},
                     {.name = "concluded", .during = State::validating}},
          .verdicts = {Verdict::passed, Verdict::failed, Verdict::unsupported, Verdict::cancelled,
                       Verdict::engine_fault}};
}

node::Conclusion run_scenario_job(const node::Order& order, node::Reporter& reporter,
                                  const std::stop_token& stop, const plans::Workshop& workshop) {
  return ScenarioJob(order.request, reporter, stop, workshop).run();
}

}  // namespace assay::scenarios
