// The validated and timed stages of a PythonJob, and what its report says of it all.
#include <algorithm>

#include "engine/node/kernel_wording.h"
#include "engine/node/python_job.h"
#include "engine/node/python_timing.h"
#include "engine/node/referee_slots.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using job::StageStatus;
using job::Verdict;
using nlohmann::json;

// Timed trials are numbered from here, so that none repeats a validated one.
constexpr std::uint32_t kFirstTimedTrial = 10'000;
// A host loop may wait for what its launches never say.
constexpr std::chrono::seconds kWithoutLaunches{2};

constexpr const char* kOnHostNote =
    "Wall time of one call on CPU tensors and one core, seen from outside: the slope between turns "
    "of N and 2N calls, each on fresh contents; results are copied out in it. Not a GPU time.";
constexpr const char* kOnDeviceNote =
    "Wall time of one call, launches and all, seen from outside: the slope between turns of N and "
    "2N calls that end when the device rests; results are copied to their places in it.";

constexpr const char* kEmulatedNote =
    "Its kernels were executed by the emulator: what that takes says nothing of a GPU.";

std::string joined(const std::vector<std::string>& names) {
  constexpr std::size_t kListed = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    text += (i == 0 ? "" : ", ") + names[i].substr(0, 100);
  }
  return names.size() > kListed ? text + ", …" : text;
}

}  // namespace

void PythonJob::note_claims(const PythonClaims& claims) {
  const auto note = [&](const char* check, const std::vector<std::string>& names,
                        const std::string& message) {
    if (names.empty()) return;
    const bool known = std::any_of(evidence_.begin(), evidence_.end(),
                                   [&](const json& old) { return old.at("check") == check; });
    if (known) return;
    evidence_.push_back({{"check", check},
                         {"result", "disagrees"},
                         {"which", "kernel"},
                         {"detail", joined(names)},
                         {"message", message}});
  };
  note("patched_functions", claims.patched,
       "It replaced functions that a kernel has no business with: " + joined(claims.patched) + ".");
  note("tensor_subclass", claims.foreign,
       "It returned tensors of a type of its own (" + joined(claims.foreign) +
           "), which may put off their work.");
}

bool PythonJob::is_emulated() const {
  return gpu_ == nullptr && task_.kernel.kernel_type == "torch_cuda";
}

void PythonJob::note_build(const json& built) {
  for (const auto& one : built) {
    if (!one.is_object() || one.value("by", json()) != "load_inline") continue;
    const json why = one.value("why", json());
    evidence_.push_back(
        {{"check", "build"},
         {"result", "agrees"},
         {"which", "kernel"},
         {"detail", "torch's own load_inline built it: " +
                        (why.is_string() ? why.get<std::string>() : "").substr(0, 300)}});
  }
}

// A library call in the place of a kernel is honest work, and said.
void PythonJob::note_launches() {
  if (!is_emulated()) return;
  const char* text = "No kernel of its own was launched: what it computes, torch's library does.";
  if (launches_ > 0) {
    if (!is_right_without_launches()) return;
    text =
        "Its own kernels decide nothing here: in two trials its outputs were right with none of "
        "its "
        "launches executed. Either something else computes them, or what the kernels do changes "
        "nothing of these inputs.";
  }
  evidence_.push_back(
      {{"check", "launches"}, {"result", "agrees"}, {"which", "kernel"}, {"detail", text}});
  warnings_.push_back({{"code", "launches"}, {"message", text}});
}

bool PythonJob::is_right_without_launches() {
  // Memory that is used again holds old answers: only to other inputs are they wrong.
  if (!reference_ || same_contents_ || inputs_->are_constant()) return false;
  const std::chrono::nanoseconds allowed = kWithoutLaunches + 4 * typical_;
  if (2 * allowed > execution_left_ || kernel_->skip_launches()) return false;
  execution_left_ = allowed;
  for (const std::uint32_t trial : {kFirstTimedTrial, kFirstTimedTrial + 1}) {
    json said;
    if (run_once(*reference_, trial, said) || run_once(*kernel_, trial, said)) return false;
    if (judge_outputs(said, trial)) return false;
  }
  return true;
}

void PythonJob::note_output() {
  constexpr std::size_t kMuch = 1U << 20;
  for (auto* session : {kernel_.get(), reference_.get()}) {
    if (session == nullptr || session->output_bytes() < kMuch) continue;
    const char* whose = session == kernel_.get() ? "kernel" : "ref_kernel";
    warn_once(warnings_, "output", whose,
              std::string(whose) + " wrote " + std::to_string(session->output_bytes() >> 20) +
                  " MiB to stdout and stderr: only the end of it is kept, and writing takes time.");
  }
}

void PythonJob::note_chosen(json& body) {
  if (chosen_.empty()) return;
  constexpr std::size_t kMostTold = 16;
  constexpr std::size_t kMostBytes = 300;
  json told = json::array();
  for (const auto& one : chosen_) {
    if (told.size() < kMostTold) told.push_back(one.substr(0, kMostBytes));
  }
  warnings_.push_back(
      {{"code", "autotune"},
       {"message",
        "Without a GPU no configuration is timed against another: the first ran that pruning "
        "leaves. " +
            told.front().get<std::string>() +
            (told.size() > 1 ? ", and " + std::to_string(told.size() - 1) + " more" : "")}});
  body["configurations"] = std::move(told);
}

PythonJob::Step PythonJob::run_once(PythonSession& session, std::uint32_t trial, json& said) {
  return run_once(session, trial, said, execution_left_);
}

PythonJob::Step PythonJob::run_once(PythonSession& session, std::uint32_t trial, json& said,
                                    std::chrono::nanoseconds& left) {
  const bool as_reference = &session == reference_.get();
  auto arena = inputs_->fill(trial, as_reference ? kReferenceSlot : kJudgedSlot);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  const auto start = std::chrono::steady_clock::now();
  auto ran = session.run(std::get<LentArena>(std::move(arena)), inputs_->seed(trial), left);
  ran_ = true;
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - start;
  typical_ = as_reference || !reference_ ? took : std::max(took, typical_);
  if (auto* ended = std::get_if<Ended>(&ran)) return std::move(*ended);
  if (!as_reference) {
    note_claims(std::get<PythonClaims>(ran));
    launches_ = std::get<PythonClaims>(ran).launches;
    chosen_ = std::get<PythonClaims>(std::move(ran)).chosen;
  }
  auto answer = as_reference ? referee_->expect() : referee_->check();
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  said = std::get<json>(std::move(answer));
  return std::nullopt;
}

PythonJob::Step PythonJob::judge_trial(std::uint32_t trial, const json& said, json& body) {
  note_findings(evidence_, said.at("findings"), "kernel", trial);
  body["outputs"] = said.at("outputs");
  if (said.contains("digests")) body["digests"] = said.at("digests");
  note_unclear_precision(said, warnings_, weak_);
  return judge_outputs(said, trial);
}

// As KernelJob does. Inputs that are the same each time are looked at for themselves
// (python_other_contents.cc).
void PythonJob::look_for_same_answers(std::uint32_t trial) {
  if (trial == 0) return;
  same_answers_ = (trial == 1 || same_answers_) && is_answer_of(*referee_, 0, kReferenceSlot);
  const bool was_last = trial + 1 == task_.validation_trials;
  if (was_last && same_answers_ && weak_.empty() && !inputs_->are_constant()) {
    weak_ = std::string("The task is weak: ") + kSameAnswers;
  }
}

PythonJob::Step PythonJob::validation_trial(std::uint32_t trial, json& body) {
  json said;
  if (reference_) {
    if (auto ended = run_once(*reference_, trial, said)) return about_reference(std::move(*ended));
    note_findings(evidence_, said.at("findings"), "ref_kernel", trial);
    if (auto ended = judge_reference(said.at("findings"), warnings_, weak_)) return ended;
    if (trial == 0) {
      body["reference"] = {{"ran", true}};
      auto weak = referee_->weak_oracle();
      if (auto* ended = std::get_if<Ended>(&weak)) return std::move(*ended);
      note_weak_oracle(std::get<json>(weak).at("warnings"), contract_, warnings_, weak_);
    }
    look_for_same_answers(trial);
  }
  if (auto ended = run_once(*kernel_, trial, said)) {
    ended->detail["trial"] = trial;
    return about_kernel(std::move(*ended));
  }
  return judge_trial(trial, said, body);
}

PythonJob::Step PythonJob::validate_stage() {
  StageClock clock(reporter_, "validated");
  clock.body = {{"checked_against", checked_against(task_)},
                {"trials", task_.validation_trials},
                {"trials_passed", 0}};
  Step ended;
  for (std::uint32_t trial = 0; trial < task_.validation_trials && !ended; ++trial) {
    ended = validation_trial(trial, clock.body);
    if (!ended) clock.body["trials_passed"] = trial + 1;
  }
  if (!ended) {
    // The same inputs again: what is remembered from the first time, or left to chance, shows.
    json said;
    ended = run_once(*kernel_, 0, said);
    if (!ended) ended = judge_trial(0, said, clock.body);
  }
  if (!ended) ended = try_other_contents();
  const auto left = execution_left_;
  if (!ended) note_launches();
  if (json late = kernel_->take_swallowed_build(); !late.is_null()) {
    warnings_.push_back({{"code", "source"}, {"message", late.at("message")}});
  }
  note_chosen(clock.body);
  ended = blame_state(std::move(ended));
  if (!task_.checks.empty() && launches_on_emulator()) {
    clock.body["checks"] = checks_of_launches(ended, left);
  }
  inputs_->forget();
  clock.body["findings"] = evidence_;
  if (const std::string output = kernel_->recent_output(); !output.empty()) {
    clock.artifacts.push_back({"output", "text/plain", output});
  }
  return clock.tell(std::move(ended));
}

PythonJob::Step PythonJob::timed_stage() {
  if (is_emulated()) {
    reporter_.tell(
        {.record = {
             .name = "timed",
             .status = StageStatus::skipped,
             .body = {{"clock", "emulated"}, {"note", kEmulatedNote}, {"reason", kEmulatedNote}}}});
    return std::nullopt;
  }
  StageClock clock(reporter_, "timed");
  clock.body["clock"] = gpu_ != nullptr ? "wall" : "cpu";
  clock.body["note"] = gpu_ != nullptr ? kOnDeviceNote : kOnHostNote;
  clock.body["trials_requested"] = task_.num_trials;
  json judged = json::object();
  const bool repeatable =
      std::none_of(contract_.args.begin(), contract_.args.end(), [](const contract::Arg& arg) {
        return arg.is_tensor() && arg.is_read() && arg.is_written();
      });
  PythonTiming timing(
      *referee_, *inputs_, *kernel_, reference_.get(),
      {.trials = task_.num_trials,
       .warmups = task_.num_warmup,
       .first_trial = kFirstTimedTrial,
       .arena_bytes = referee_->arena_bytes(),
       .typical = typical_,
       .on_device = gpu_ != nullptr,
       .lent_on_device = referee_->is_on_device(),
       .repeatable = repeatable,
       .same_contents = same_contents_},
      [&](std::uint32_t trial, const json& said) { return judge_trial(trial, said, judged); },
      execution_left_);
  Step ended = timing.measure(clock.body);
  if (!timing.fewer_calls().empty()) {
    warnings_.push_back({{"code", "slow_inputs"}, {"message", timing.fewer_calls()}});
  }
  for (const auto& item : timing.evidence()) evidence_.push_back(item);
  note_claims({.patched = timing.patched()});
  note_output();
  if (!ended) ended = lift(clock.body);
  if (!ended && !task_.checks.empty() && !launches_on_emulator()) {
    clock.body["checks"] = checks_made();
  }
  return clock.tell(std::move(ended));
}

std::string PythonJob::summary_of_passed() const {
  if (task_.until == Until::compiled) return "Loaded: " + kernel_loaded_.name + " is there.";
  return passed_summary(task_);
}

// Trust speaks of a passed verdict, and of proven cheating. User code ran beside the clock's
// subject: what the outside audit confirms is as far as it goes, unless its launches were right
// without it.
json PythonJob::trust(const Step& ended, bool suspect) const {
  if (ended && ended->detail.value("forged", false)) return "rejected";
  if (ended || !ran_) return nullptr;
  if (suspect) return "suspect";
  const bool reachable = gpu_ != nullptr && gpu_->reaches_host_memory();
  return lifted_ && weak_.empty() && !reachable ? "verified" : "audited";
}

Conclusion PythonJob::conclude(const Step& ended) {
  Conclusion conclusion{.verdict = ended ? ended->verdict : Verdict::passed};
  json& body = conclusion.body;
  std::string summary = ended ? ended->summary : summary_of_passed();
  if (ended) {
    body["detail"] = ended->detail;
    conclusion.interrupted = ended->interrupted;
  }
  bool suspect = false;
  for (const auto& item : evidence_) {
    if (item.value("which", "") != "kernel" || item.at("result") != "disagrees") continue;
    suspect = true;
    const std::string words =
        item.contains("message") ? item.at("message").get<std::string>() : finding_text(item);
    if (!ended) summary += " " + words;
    warnings_.push_back({{"code", item.at("check")}, {"message", words}});
  }
  note_output();
  if (!checks_sentence_.empty()) summary += " " + checks_sentence_;
  if (!ended && ran_ && gpu_ != nullptr && gpu_->reaches_host_memory()) {
    warnings_.push_back(host_memory_warning());
  }
  body["trust"] = trust(ended, suspect);
  if (!ended && !weak_.empty()) summary += " " + weak_;
  body["summary"] = std::move(summary);
  body["evidence"] = evidence_;
  if (!ended && follows_fixed_) body["evidence"].push_back(fixed_inputs_evidence(contract_));
  body["environment"] = {
      {"device", gpu_ != nullptr ? gpu_->device() : "cpu"},
      {"device_name", gpu_ != nullptr ? json(gpu_->name) : json(nullptr)},
      {"toolkit",
       kernel_loaded_.torch.empty() ? json(nullptr) : json("torch " + kernel_loaded_.torch)},
      {"interpreter", zygote_.interpreter().executable},
      {"python", zygote_.interpreter().version}};
  if (!ended && !task_.checks.empty() && task_.until < Until::timed && !launches_on_emulator()) {
    warnings_.push_back({{"code", "checks"},
                         {"message",
                          "`checks` look at what is lifted out of a Python source, which is where "
                          "it is timed: leave `until` at timed or further."}});
  }
  body["warnings"] = warnings_;
  reporter_.tell({.record = {.name = "concluded", .status = StageStatus::passed}});
  return conclusion;
}

}  // namespace assay::node
