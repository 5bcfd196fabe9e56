#include "plans/commits/measurement.h"

#include <algorithm>

#include "engine/node/ratio.h"
#include "plans/repeatable.h"
#include "plans/samples.h"
#include "plans/text_file.h"

namespace assay::commits {

namespace fs = std::filesystem;
using generators::GeneratorCall;
using generators::GeneratorEnd;
using generators::Status;
using nlohmann::json;

namespace {

constexpr const char* kNotCompared = "equivalence_not_performed";

const char* name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return "none";
    case FaultKind::environment:
      return "environment";
    case FaultKind::code:
      return "code";
    case FaultKind::test:
      return "test";
  }
  return "";
}

// A module of the commit's own checkout that has not the name it was asked for.
bool is_of_checkout(const Side& side, const json& facts) {
  if (!facts.is_object()) return false;
  const json exception = facts.value("exception", json());
  if (!exception.is_object()) return false;
  const json path = exception.value("module_file", json());
  return path.is_string() &&
         path.get_ref<const std::string&>().starts_with(side.checkout().string() + "/");
}

// What a machine lacks is its fault; what the commit's code does, the code's.
FaultKind fault_of(const Side& side, const GeneratorEnd& end) {
  switch (end.classified.status) {
    case Status::import_missing:
      return is_of_checkout(side, end.facts) ? FaultKind::code : FaultKind::environment;
    case Status::reference_missing:
      return FaultKind::test;
    case Status::capability_unsupported:
    case Status::memory_insufficient:
    case Status::environment_fault:
      return FaultKind::environment;
    case Status::ok:
      return FaultKind::none;
    default:
      return FaultKind::code;
  }
}

// The engine's own words where it could not run the command at all: 125 to 127 without a word of
// the harness.
std::string engine_fault(const Side& side, const GeneratorEnd& end) {
  const auto& step = end.end;
  const bool is_engines = step.why == plans::StepEnd::Why::exited && step.signal == 0 &&
                          step.exit_code >= 125 && step.exit_code <= 127;
  if (side.engine().empty() || !is_engines || end.facts.is_object()) return {};
  std::string said = plans::printable(step.tail);
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  return side.engine() + " could not run it (exit code " + std::to_string(step.exit_code) + ")" +
         (said.empty() ? "" : ": " + said);
}

// All files below `folder`.
std::set<fs::path> files_below(const fs::path& folder) {
  std::set<fs::path> files;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_regular_file(error)) files.insert(at->path());
  }
  return files;
}

}  // namespace

Measurement::Measurement(const CommitPlan& plan, const CommitToMeasure& commit,
                         const plans::StepRunner& runner, const fs::path& folder, Teller tell,
                         std::stop_token stop)
    : plan_(plan),
      commit_(commit),
      runner_(runner),
      folder_(folder),
      tell_(std::move(tell)),
      stop_(std::move(stop)),
      repository_(runner, plan.repository, stop_) {}

Measured Measurement::run() {
  const json before = repository_.state();
  Trouble trouble = resolve();
  if (!trouble) trouble = make_sides();
  if (!trouble) trouble = make_reference();
  if (!trouble) trouble = check_equivalence();
  // Times of what nobody compared are told, but they are no success.
  if (!trouble || trouble->status == kNotCompared) {
    if (Trouble another = measure()) trouble = std::move(another);
  }
  compare();
  const json after = repository_.state();
  body_["checkout"] = {{"untouched", before == after},
                       {"compared", {"status", "head", "refs", "worktrees", "stash", "index"}}};
  if (before != after) body_["checkout"]["difference"] = json::diff(before, after);
  return finish(trouble);
}

Measurement::Trouble Measurement::resolve() {
  head_ = repository_.resolve(commit_.head);
  if (head_.empty()) {
    return Problem{"no_commit", FaultKind::environment,
                   plan_.repository.string() + " has no commit " + commit_.head};
  }
  base_ =
      commit_.base.empty() ? repository_.first_parent(head_) : repository_.resolve(commit_.base);
  if (base_.empty()) {
    return Problem{"no_commit", FaultKind::environment,
                   commit_.base.empty() ? commit_.head + " has no parent"
                                        : "there is no commit " + commit_.base};
  }
  if (plan_.main == "auto") main_ = repository_.main_branch();
  if (!plan_.main.empty() && plan_.main != "auto") main_ = repository_.resolve(plan_.main);
  if (!plan_.main.empty() && main_.empty()) {
    return Problem{"no_commit", FaultKind::environment, "there is no commit " + plan_.main};
  }
  body_["base"] = base_;
  body_["head"] = head_;
  body_["main"] = main_.empty() ? json(nullptr) : json(main_);
  if (commit_.script.empty()) {
    return Problem{"no_test", FaultKind::environment,
                   "there is no generator for " + head_.substr(0, 8)};
  }
  // A copy outside every checkout: no side can see another's, or change it.
  const fs::path copy = folder_ / "generator";
  fs::create_directories(copy);
  script_ = copy / fs::path(commit_.script).filename();
  std::error_code error;
  fs::copy_file(commit_.script, script_, fs::copy_options::overwrite_existing, error);
  if (error) return Problem{"no_test", FaultKind::environment, "cannot read " + commit_.script};
  first_steps_.push_back({.argv = {"cp", commit_.script, script_.string()}, .cwd = copy});
  return std::nullopt;
}

Measurement::Trouble Measurement::make_sides() {
  choice_ = choose_environment(plan_, runner_, stop_);
  body_["environment"] = {{"kind", commits::name(choice_.kind)},
                          {"reason", choice_.reason},
                          {"steps", "host: builds need the machine's compilers and network"}};
  if (!choice_.problem.empty())
    return Problem{"unsupported", FaultKind::environment, choice_.problem};
  // A step that is killed has no time to take its container down. The commits' images are kept.
  containers_.emplace(runner_, choice_.engine, folder_);
  const fs::path clone = folder_ / "clone";
  const GitEnd cloned = repository_.clone_to(clone);
  first_steps_.insert(first_steps_.end(), cloned.steps.begin(), cloned.steps.end());
  if (!cloned.ok)
    return Problem{"install_failed", FaultKind::environment, "checkout: " + cloned.problem,
                   plans::Repeatable(folder_).script(first_steps_)};
  sides_.emplace_back("base", base_, folder_ / "base");
  sides_.emplace_back("head", head_, folder_ / "head");
  if (!main_.empty()) sides_.emplace_back("main", main_, folder_ / "main");
  if (!plan_.patch.empty()) sides_.emplace_back("patched", base_, folder_ / "patched");
  for (auto& side : sides_) {
    if (stop_.stop_requested()) return Problem{"cancelled"};
    const auto fault = side.prepare(plan_, choice_, repository_, clone, runner_, stop_);
    body_["sides"][side.name()] = {{"commit", side.commit()}, {"phases", side.phases()}};
    tell_("prepared", !fault,
          {{"phase", side.name()}, {"commit", side.commit()}, {"phases", side.phases()}},
          fault ? plans::read_text(side.log()) : std::string());
    if (!fault) continue;
    const std::string status = fault->phase == "patch" ? "patch_failed" : "install_failed";
    return Problem{status, status == "patch_failed" ? FaultKind::code : FaultKind::environment,
                   side.name() + ", " + fault->phase + ": " + fault->cause, repeat(side, {}),
                   fault->tail};
  }
  return std::nullopt;
}

GeneratorEnd Measurement::run_on(const Side& side, bool reference, bool eqcheck,
                                 const std::string& what) {
  const fs::path work = folder_ / "work";
  fs::create_directories(work);
  // The same tags on every side: they are part of the reference's name.
  GeneratorCall call{
      .script = script_.string(),
      .eqcheck = eqcheck,
      .reference = reference,
      .prefix = "assay",
      .eq_level = plan_.eq_level,
      .return_unit = plan_.return_unit,
      .workdir = work,
      .notes = folder_ / ("notes-" + side.name()),
      .environment = generators::environment_of(
          {.impl_tag = "assay", .commit_hash = head_.substr(0, 8), .eq_level = plan_.eq_level}),
      .timeout = std::chrono::seconds(plan_.timeout_s),
      .log = folder_ / ("log-" + std::to_string(runs_++)),
      .scratch = folder_};
  fs::create_directories(call.notes);
  for (const auto& [key, value] : side.variables()) call.environment.emplace(key, value);
  call.python = side.python({work.string(), call.notes.string(), script_.parent_path().string()},
                            call.environment);
  GeneratorEnd end = generators::run_generator(call, runner_, stop_);
  if (std::string cause = engine_fault(side, end); !cause.empty()) {
    end.classified.status = Status::environment_fault;
    end.classified.message = std::move(cause);
  }
  if (eqcheck && end.classified.status == Status::ok && !loaded_of_base(end)) {
    end.classified.status = Status::reference_missing;
    end.classified.message = "what was loaded is no file that base stored";
    end.facts["compared"] = 0;
  }
  json told = {{"phase", side.name() + " " + what},
               {"status", generators::name(end.classified.status)},
               {"avg_ms", end.avg_ms ? json(*end.avg_ms) : json(nullptr)},
               {"unit_source", end.unit_source},
               {"wall_ms", end.end.wall_ms}};
  const bool ok = end.classified.status == Status::ok;
  if (!ok) told["message"] = plans::printable(end.classified.message);
  if (eqcheck) {
    told["equivalence"] = generators::equivalence_of(call, end);
    body_["equivalence"][side.name()] = told["equivalence"];
  }
  tell_("measured", ok, std::move(told), ok ? std::string() : plans::read_text(call.log));
  return end;
}

std::string Measurement::repeat(const Side& side, const std::vector<plans::Step>& last) const {
  std::vector<plans::Step> steps = first_steps_;
  const auto add = [&](const std::vector<plans::Step>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  const Side& base = sides_.front();
  if (&side != &base && !last.empty()) {
    add(base.steps());
    add(reference_);
  }
  add(side.steps());
  add(last);
  return plans::Repeatable(folder_).script(steps);
}

Measurement::Problem Measurement::blame(const Side& side, const GeneratorEnd& end) const {
  const Status status = end.classified.status;
  Problem problem{
      .status = side.name() + "_failed",
      .fault = fault_of(side, end),
      .cause = side.name() + ": " + generators::name(status) + ": " + end.classified.message,
      .command = repeat(side, end.repeats),
      .tail = plans::printable(end.end.tail)};
  if (status == Status::equivalence_failed) problem.status = "equivalence_failed";
  if (status == Status::reference_missing) {
    problem.status = kNotCompared;
    problem.cause =
        side.name() + ": equivalence was requested, but not performed: " + end.classified.message;
  }
  if (status == Status::capability_unsupported) problem.status = "unsupported";
  if (status == Status::timeout) problem.status = "timeout";
  if (end.end.why == plans::StepEnd::Why::cancelled) problem.status = "cancelled";
  return problem;
}

Measurement::Trouble Measurement::make_reference() {
  const Side& base = sides_.front();
  const GeneratorEnd end = run_on(base, true, false, "reference");
  if (end.classified.status != Status::ok) return blame(base, end);
  reference_ = end.repeats;
  stored_ = files_below(folder_ / "work");
  body_["reference"] = {{"side", "base"}, {"files", end.facts.value("stored", json::array())}};
  if (body_["reference"]["files"].empty()) {
    body_["reference"]["note"] = "the generator stored none by its store_result";
  }
  return std::nullopt;
}

bool Measurement::loaded_of_base(const GeneratorEnd& end) const {
  const json loaded = end.facts.value("loaded", json::array());
  return std::any_of(loaded.begin(), loaded.end(), [&](const json& one) {
    const fs::path file = (folder_ / "work" / one.get_ref<const std::string&>()).lexically_normal();
    // numpy puts an ending of its own behind the name.
    return stored_.contains(file) || stored_.contains(file.string() + ".npy") ||
           stored_.contains(file.string() + ".npz");
  });
}

Measurement::Trouble Measurement::check_equivalence() {
  for (const Side& side : sides_) {
    if (side.name() == "base") continue;
    const GeneratorEnd end = run_on(side, false, true, "equivalence");
    if (end.classified.status != Status::ok) return blame(side, end);
  }
  return std::nullopt;
}

// One run of each side after another, again and again: what drifts drifts for all.
Measurement::Trouble Measurement::measure() {
  for (int round = 0; round < plan_.repeats; ++round) {
    for (const Side& side : sides_) {
      if (stop_.stop_requested()) return Problem{"cancelled"};
      const GeneratorEnd end = run_on(side, false, false, "round " + std::to_string(round + 1));
      if (end.classified.status != Status::ok) return blame(side, end);
      if (end.avg_ms) times_[side.name()].push_back(*end.avg_ms);
    }
  }
  return std::nullopt;
}

void Measurement::compare() {
  for (const auto& [side, times] : times_) {
    if (!times.empty()) body_["timings_ms"][side] = plans::summary_of(times);
    body_["samples_ms"][side] = times;
  }
  const auto& base = times_["base"];
  for (const char* side : {"head", "main", "patched"}) {
    const auto& other = times_[side];
    const std::size_t pairs = std::min(base.size(), other.size());
    const auto positive = [&](const std::vector<double>& times) {
      return std::all_of(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(pairs),
                         [](double one) { return one > 0; });
    };
    if (pairs < 2 || !positive(base) || !positive(other)) continue;
    const node::Ratio ratio =
        node::ratio_of(std::span(base).first(pairs), std::span(other).first(pairs));
    body_["speedup"][side] = {{"ratio", ratio.ratio}, {"low", ratio.low},
                              {"high", ratio.high},   {"confidence", node::kRatioConfidence},
                              {"pairs", ratio.pairs}, {"verdict", node::name(ratio.verdict)}};
  }
}

Measured Measurement::finish(const Trouble& trouble) {
  Measured measured;
  if (trouble) {
    measured.status = trouble->status;
    measured.fault = trouble->fault;
    measured.cause = plans::printable(trouble->cause);
    measured.command = trouble->command;
    measured.tail = trouble->tail;
  }
  body_["status"] = measured.status;
  body_["fault"] = name(measured.fault);
  body_["cause"] = measured.cause;
  body_["command"] = plans::printable(measured.command);
  if (!measured.tail.empty()) body_["tail"] = measured.tail;
  if (head_.empty() || base_.empty()) {
    measured.body = body_;
    return measured;
  }
  const auto of = [&](const char* side) {
    const auto found = times_.find(side);
    return found == times_.end() ? std::vector<double>() : found->second;
  };
  measured.record =
      record_of({.repository = repository_name(repository_.remote_url(), plan_.repository),
                 .base = base_,
                 .head = head_,
                 .patch = repository_.patch_between(base_, head_),
                 .message = repository_.message_of(head_),
                 .script = plans::printable(plans::read_text(script_)),
                 .durations = {of("base"), of("head"), of("main"), of("patched")},
                 .failed = measured.status != "success",
                 .notes = measured.cause},
                plan_, commit_);
  measured.body = body_;
  return measured;
}

}  // namespace assay::commits
