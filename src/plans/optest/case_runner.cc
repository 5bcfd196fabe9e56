#include "plans/optest/case_runner.h"

#include <chrono>
#include <fstream>
#include <iterator>

#include "plans/optest/inputs.h"
#include "plans/optest/judgement.h"
#include "plans/optest/kernel_case.h"
#include "plans/optest/tensor_file.h"
#include "plans/optest/workdir_lock.h"

namespace assay::optest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;
using Clock = std::chrono::steady_clock;

// Inputs, golden and outputs are held as numbers: beyond this the judge itself would be killed.
constexpr std::uint64_t kMaxElements = 1ULL << 29;
constexpr const char* kCancelled = "cancelled while it ran";

std::uint64_t elements_of(const ShapeEntry& shapes) {
  std::uint64_t sum = 0;
  for (const auto* side : {&shapes.inputs, &shapes.outputs}) {
    for (const auto& shape : *side) sum += shape.elements();
  }
  return sum;
}

json texts(const std::vector<fs::path>& paths) {
  json list = json::array();
  for (const auto& path : paths) list.push_back(path.string());
  return list;
}

// How a run ended, before what was expected of it is looked at.
struct Outcome {
  enum class Kind { passed, failed, error, unsupported, cancelled };
  Kind kind = Kind::error;
  std::string details{};
};

// One run on its way.
class RunOnItsWay {
 public:
  RunOnItsWay(const Plan& plan, const Run& run, CachePolicy policy, const CaseTools& tools,
              const std::stop_token& stop)
      : run_(run),
        backend_(plan.backends[run.backend]),
        case_(plan.cases[run.which]),
        shapes_(case_.shapes[run.shape]),
        resolved_(resolve(plan, run, tools.files)),
        policy_(policy),
        tools_(tools),
        stop_(stop),
        log_(tools.scratch.path() / "case.log"),
        plan_folder_(plan.folder),
        original_inputs_(tools.files.empty() ? std::vector<fs::path>()
                                             : resolve(plan, run).inputs) {
    std::error_code ignored;
    fs::remove(log_, ignored);
  }

  Ran go() {
    const auto begun = Clock::now();
    record_.id = run_.id;
    record_.xfail = run_.xfail;
    record_.more["attempts"] = 0;
    if (!backend_.kernel) record_.more["argv"] = resolved_.command;
    Outcome outcome = perform();
    // What went wrong because it was cancelled says nothing of the operator.
    const bool is_wrong =
        outcome.kind == Outcome::Kind::failed || outcome.kind == Outcome::Kind::error;
    if (stop_.stop_requested() && is_wrong) outcome = {Outcome::Kind::cancelled, kCancelled};
    record_.details = std::move(outcome.details);
    record_.status = status_of(outcome.kind);
    record_.more["wall_ms"] =
        std::chrono::duration<double, std::milli>(Clock::now() - begun).count();
    record_.more["steps"] = steps_;
    record_.more["inputs"] = texts(resolved_.inputs);
    record_.more["outputs"] = texts(resolved_.outputs);
    std::ifstream stream(log_, std::ios::binary);
    return {.record = std::move(record_), .log = {std::istreambuf_iterator<char>(stream), {}}};
  }

 private:
  [[nodiscard]] CaseStatus status_of(Outcome::Kind kind) const {
    switch (kind) {
      case Outcome::Kind::passed:
        return run_.xfail ? CaseStatus::xfail_pass : CaseStatus::passed;
      case Outcome::Kind::failed:
        return run_.xfail ? CaseStatus::xfail : CaseStatus::failed;
      case Outcome::Kind::unsupported:
        return CaseStatus::unsupported;
      case Outcome::Kind::cancelled:
        return CaseStatus::cancelled;
      case Outcome::Kind::error:
        break;
    }
    // A missing program is nobody's expected failure.
    return CaseStatus::error;
  }

  Outcome perform() {
    if (!backend_.needs.empty() && tools_.unmet) {
      const std::string missing = tools_.unmet(backend_.needs);
      if (!missing.empty()) return {Outcome::Kind::unsupported, missing};
    }
    if (elements_of(shapes_) > kMaxElements) {
      return {Outcome::Kind::unsupported,
              "the tensors have " + std::to_string(elements_of(shapes_)) + " elements; at most " +
                  std::to_string(kMaxElements) + " can be judged"};
    }
    std::error_code error;
    if (!fs::is_directory(resolved_.workdir, error)) {
      return {Outcome::Kind::error, "the workdir " + resolved_.workdir.string() + " is no folder"};
    }
    const WorkdirLock lock(resolved_.workdir, stop_);
    if (stop_.stop_requested()) return {Outcome::Kind::cancelled, "cancelled before it began"};
    if (const std::string fault = bring_users_inputs(); !fault.empty())
      return {Outcome::Kind::error, fault};
    made_ = make_inputs(case_, shapes_, resolved_, {.policy = policy_, .seed = tools_.seed},
                        tools_.functions, tools_.scratch, stop_);
    note_inputs(made_);
    if (!backend_.kernel) return perform_command();
    if (!made_.problem.empty()) return {Outcome::Kind::error, made_.problem};
    return perform_kernel();
  }

  // A run whose files lie elsewhere begins with the user's own, too.
  std::string bring_users_inputs() {
    for (std::size_t i = 0; i < original_inputs_.size(); ++i) {
      const fs::path& to = resolved_.inputs[i];
      std::error_code error;
      if (to == original_inputs_[i] || !is_users_file(original_inputs_[i])) continue;
      fs::create_directories(to.parent_path(), error);
      fs::copy_file(original_inputs_[i], to, fs::copy_options::skip_existing, error);
      if (error) return "cannot copy " + original_inputs_[i].string() + ": " + error.message();
    }
    return {};
  }

  void note_inputs(const MadeInputs& made) {
    json cache = json::array();
    json seeds = json::array();
    for (const auto& one : made.inputs) {
      cache.push_back(one.cache);
      seeds.push_back(one.seed ? json(static_cast<std::int64_t>(*one.seed)) : json(nullptr));
    }
    record_.more["cache"] = std::move(cache);
    record_.more["seeds"] = std::move(seeds);
  }

  Outcome perform_kernel() {
    const KernelCase kernel(backend_, case_, shapes_, resolved_, plan_folder_);
    Judged judged = kernel.judge(tools_.kernels, stop_, record_.more);
    record_.metrics = std::move(judged.metrics);
    record_.warnings = std::move(judged.warnings);
    if (judged.is_error) return {Outcome::Kind::error, judged.details};
    if (!judged.checked && !judged.ok) return {Outcome::Kind::unsupported, judged.details};
    return {judged.ok ? Outcome::Kind::passed : Outcome::Kind::failed, judged.details};
  }

  Outcome perform_command() {
    Outcome outcome = prepare_and_run();
    note_end();
    for (std::size_t i = 0; i < resolved_.cleanup.size(); ++i) {
      // Also after a cancellation: what was set up is taken down.
      const StepEnd end = take_step("cleanup " + std::to_string(i + 1), resolved_.cleanup[i], {});
      if (end.succeeded()) continue;
      const std::string said = "cleanup " + std::to_string(i + 1) + ": " + plans::describe(end);
      record_.warnings.push_back(said);
      if (outcome.kind == Outcome::Kind::passed) outcome = {Outcome::Kind::error, said};
    }
    if (!made_.problem.empty() || has_told_changes_) return outcome;
    const char* who =
        resolved_.cleanup.empty() ? "what the command left running" : "a cleanup command";
    if (const std::string changed = changed_by(who); !changed.empty())
      record_.warnings.push_back(changed);
    return outcome;
  }

  void note_end() {
    try {
      mark_in_use(made_, resolved_, false);
    } catch (const FileFault& fault) {
      record_.warnings.emplace_back(fault.what());
    }
  }

  Outcome prepare_and_run() {
    if (!made_.problem.empty()) return {Outcome::Kind::error, made_.problem};
    if (const std::string fault = clear_outputs(); !fault.empty())
      return {Outcome::Kind::error, fault};
    try {
      mark_in_use(made_, resolved_, true);
    } catch (const FileFault& fault) {
      return {Outcome::Kind::error, fault.what()};
    }
    for (std::size_t i = 0; i < resolved_.prepare.size(); ++i) {
      const StepEnd end =
          take_step("prepare " + std::to_string(i + 1), resolved_.prepare[i], stop_);
      if (!end.succeeded()) {
        (void)changed_by("prepare");  // the next run makes them anew
        return {Outcome::Kind::error,
                "prepare " + std::to_string(i + 1) + ": " + plans::describe(end)};
      }
    }
    if (const std::string changed = changed_by("a prepare command"); !changed.empty())
      return {Outcome::Kind::error, changed};
    // What a prepare command copied there is no output of this run.
    if (const std::string fault = clear_outputs(); !fault.empty())
      return {Outcome::Kind::error, fault};
    const StepEnd end = run_command();
    Outcome outcome = judge_command(end);
    clear_oddities();
    return outcome;
  }

  Outcome judge_command(const StepEnd& end) {
    // A golden is of the inputs as they were generated; a later run must not begin with others.
    const bool was_killed = end.why == StepEnd::Why::cancelled;
    const std::string changed = changed_by(was_killed ? "the killed command" : "the command");
    if (was_killed) {
      if (!changed.empty()) record_.warnings.push_back(changed);
      return {Outcome::Kind::cancelled, kCancelled};
    }
    if (end.is_infrastructure()) return {Outcome::Kind::error, "command " + plans::describe(end)};
    if (!changed.empty()) return {Outcome::Kind::failed, changed};
    if (!end.succeeded()) {
      return {Outcome::Kind::failed, "command: " + plans::describe(end) + last_line(end)};
    }
    Judged judged = judge_outputs(case_, shapes_, resolved_, tools_.functions, stop_);
    record_.metrics = std::move(judged.metrics);
    for (auto& warning : judged.warnings) record_.warnings.push_back(std::move(warning));
    record_.more["checked"] = judged.checked;
    if (judged.is_error) return {Outcome::Kind::error, judged.details};
    return {judged.ok ? Outcome::Kind::passed : Outcome::Kind::failed, judged.details};
  }

  // "" or which inputs it changed, and what becomes of them.
  std::string changed_by(const std::string& who) {
    std::string names;
    for (const auto& name : changed_inputs(made_, resolved_))
      names += (names.empty() ? "" : ", ") + name;
    if (names.empty()) return {};
    has_told_changes_ = true;
    bool has_users = false;
    for (const auto& one : made_.inputs) has_users = has_users || one.cache == "user";
    return who + " changed " + names + "; what optest made is made anew by the next run" +
           (has_users ? ", what was there before is left as it is now" : "");
  }

  std::string clear_outputs() {
    for (const auto& output : resolved_.outputs) {
      if (std::string fault = clear(output); !fault.empty()) return fault;
    }
    return {};
  }

  // A folder in an output's place is this run's own doing, as nothing was there before it: it must
  // not fail the runs that come after.
  void clear_oddities() {
    for (const auto& output : resolved_.outputs) {
      std::error_code ignored;
      if (fs::is_directory(fs::symlink_status(output, ignored))) fs::remove_all(output, ignored);
    }
  }

  // What an earlier run left must not be taken for this run's output.
  std::string clear(const fs::path& output) {
    for (const auto& input : resolved_.inputs) {
      if (input == output) return output.string() + " is an input and an output";
    }
    try {
      make_parent(output);
    } catch (const FileFault& fault) {
      return fault.what();
    }
    std::error_code error;
    const auto status = fs::symlink_status(output, error);
    if (!fs::exists(status)) return {};
    if (fs::is_directory(status)) return output.string() + " is there, and is a folder";
    if (!fs::remove(output, error))
      return "cannot remove " + output.string() + ": " + error.message();
    return {};
  }

  StepEnd run_command() {
    StepEnd end;
    const std::int64_t most = backend_.retries + 1;
    std::int64_t attempt = 0;
    while (attempt < most) {
      ++attempt;
      if (attempt > 1 && !clear_outputs().empty()) break;
      const std::string step =
          attempt == 1 ? "command" : "command, attempt " + std::to_string(attempt);
      end = take_step(step, resolved_.command, stop_);
      if (end.succeeded() || end.why == StepEnd::Why::cancelled || end.is_infrastructure()) break;
      if (attempt < most) clear_oddities();
    }
    record_.more["attempts"] = attempt;
    return end;
  }

  StepEnd take_step(const std::string& what, const Command& argv, const std::stop_token& stop) {
    const Step step{.name = what,
                    .argv = argv,
                    .cwd = resolved_.workdir,
                    .environment = resolved_.environment,
                    .timeout = std::chrono::seconds(backend_.timeout_s),
                    .log = log_};
    std::ofstream(log_, std::ios::app | std::ios::binary)
        << "+ " << plans::command_line(argv) << '\n';
    const StepEnd end = tools_.steps.run(step, stop);
    std::ofstream(log_, std::ios::app | std::ios::binary)
        << "+ " << what << ": " << plans::describe(end) << '\n';
    json told = plans::to_json(step, end);
    told.erase("log");
    // Of the command, or of what failed before it.
    const bool is_cleanup = what.starts_with("cleanup");
    if (!is_cleanup && (what.starts_with("command") || !end.succeeded()))
      record_.more["repro"] = plans::repro_line(step);
    steps_.push_back(std::move(told));
    return end;
  }

  // The last thing it said is mostly the cause.
  static std::string last_line(const StepEnd& end) {
    std::string text = plans::printable(end.tail);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    const std::size_t start = text.rfind('\n');
    if (start != std::string::npos) text.erase(0, start + 1);
    if (text.size() > 200) text.resize(200);
    return text.empty() ? "" : ": " + plans::printable(text);
  }

  const Run& run_;
  const Backend& backend_;
  const Case& case_;
  const ShapeEntry& shapes_;
  const Resolved resolved_;
  const CachePolicy policy_;
  const CaseTools& tools_;
  const std::stop_token& stop_;
  const fs::path log_;
  const fs::path& plan_folder_;
  const std::vector<fs::path> original_inputs_;  // if inputs lie elsewhere
  MadeInputs made_{};
  bool has_told_changes_ = false;  // of inputs, by whom
  CaseRecord record_{};
  json steps_ = json::array();
};

}  // namespace

Ran CaseRunner::run(const Run& run, const std::stop_token& stop) {
  return RunOnItsWay(plan_, run, policy_, tools_, stop).go();
}

}  // namespace assay::optest
