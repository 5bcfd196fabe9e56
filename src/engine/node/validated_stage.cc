// The validated stage of a KernelJob: trials whose outputs the referee compares, and one more run.
#include <algorithm>

#include "engine/node/device_turn.h"
#include "engine/node/gpu_timing.h"
#include "engine/node/kernel_inspection.h"
#include "engine/node/kernel_job.h"
#include "engine/node/referee_slots.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kMostBytesAhead = 256ULL << 20;
// After a longer run no other begins before it is known to be right.
constexpr std::chrono::milliseconds kShortRun{10};
// Of a reference on other contents than the task's, beside many times what it took on those.
constexpr std::chrono::seconds kOtherwiseLimit{1};

}  // namespace

KernelJob::Step KernelJob::run_reference(std::uint32_t trial, json& said, Ran& ran) {
  // Memory that the candidate has been shown never holds what is expected of it.
  auto filled = referee_->fill(trial, kReferenceSlot);
  if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
  auto& arena = std::get<LentArena>(filled);
  if (python_reference_) {
    const auto start = Clock::now();
    auto ended = python_reference_->run(std::move(arena), trial, execution_left_);
    if (ended) return about_reference(std::move(*ended));
    ran.elapsed = Clock::now() - start;
  } else {
    auto outcome = reference_->run(std::move(arena), execution_left_);
    if (auto* ended = std::get_if<Ended>(&outcome)) return about_reference(std::move(*ended));
    ran = std::move(std::get<Ran>(outcome));
    warn_of_strays(warnings_, ran.strays);
  }
  reference_run_ = ran.elapsed;
  auto answer = referee_->expect();
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  said = std::move(std::get<json>(answer));
  if (double_reference_) return double_reference_->run(*referee_, execution_left_);
  return task_.in_double && python_reference_ ? run_reference_in_double(trial) : std::nullopt;
}

KernelJob::Step KernelJob::run_reference_in_double(std::uint32_t trial) {
  for (const char* part : {"high", "low"}) {
    auto filled = referee_->fill(trial, kReferenceSlot);
    if (auto* ended = std::get_if<Ended>(&filled)) return std::move(*ended);
    auto ended = python_reference_->run(std::move(std::get<LentArena>(filled)), trial,
                                        execution_left_, part);
    if (ended) return about_reference(std::move(*ended));
    auto answer = referee_->expect_in_double(part);
    if (auto* failed = std::get_if<Ended>(&answer)) return std::move(*failed);
  }
  return std::nullopt;
}

KernelJob::Step KernelJob::run_once(KernelSession& session, std::uint32_t trial, json& said,
                                    Ran& ran, bool to_the_barrier) {
  if (auto ended = launch(session, trial, ran, to_the_barrier)) return ended;
  auto answer = referee_->check(slot_of(trial));
  if (auto* ended = std::get_if<Ended>(&answer)) return std::move(*ended);
  said = std::move(std::get<json>(answer));
  return std::nullopt;
}

KernelJob::Step KernelJob::launch(KernelSession& session, std::uint32_t trial, Ran& ran,
                                  bool to_the_barrier) {
  std::variant<LentArena, Ended> arena;
  if (trial < filled_.size() && filled_[trial].descriptor) {
    arena = std::move(filled_[trial]);
  } else {
    arena = referee_->fill(trial, slot_of(trial));
    staged_ahead_ = false;  // it was of what this slot held before
  }
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  auto outcome =
      session.run(std::move(std::get<LentArena>(arena)), execution_left_, to_the_barrier);
  if (auto* ended = std::get_if<Ended>(&outcome)) return about_kernel(std::move(*ended));
  ran = std::move(std::get<Ran>(outcome));
  longest_run_ = std::max(longest_run_, ran.elapsed);
  note_findings(evidence_, stray_evidence(ran.strays), "kernel", trial);
  if (strays_.empty()) strays_ = ran.strays;
  return std::nullopt;
}

// While the kernel is loaded the referee makes the inputs of its trials, each in memory of its own.
void KernelJob::fill_ahead() {
  const std::uint64_t bytes = referee_->arena_bytes() * task_.validation_trials;
  fills_ahead_ = gpu_ != nullptr && referee_->is_on_device() && !task_.reference &&
                 task_.validation_trials <= kAheadSlots.count && bytes <= kMostBytesAhead;
  if (!fills_ahead_) return;
  for (std::uint32_t trial = 0; trial < task_.validation_trials; ++trial) {
    referee_->fill_ahead(trial, slot_of(trial));
  }
}

// While the stage before is recorded: what will be timed begins with the contents of the first
// trials, and is given them before any of them has run.
KernelJob::Step KernelJob::stage_ahead() {
  if (!fills_ahead_) return std::nullopt;
  for (std::uint32_t trial = 0; trial < task_.validation_trials; ++trial) {
    auto arena = referee_->fill(trial, slot_of(trial));
    if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
    filled_.push_back(std::move(std::get<LentArena>(arena)));
  }
  const Staging staging = staging_of(
      {.arena_bytes = referee_->arena_bytes(), .device_bytes = gpu_->gpu().memory_bytes});
  if (task_.until <= Until::validated || staging.slots > filled_.size()) return std::nullopt;
  std::vector<LentArena> contents;
  for (std::uint32_t slot = 0; slot < staging.slots; ++slot) {
    contents.push_back(filled_[slot].again());
  }
  kernel_->begin_stage(contents, staging.places);
  staged_ahead_ = true;
  return std::nullopt;
}

std::uint32_t KernelJob::slot_of(std::uint32_t trial) const {
  return fills_ahead_ ? kAheadSlots.slot(trial) : kJudgedSlot;
}

// Sums of atomics differ in their last bits from run to run; a reference, or else the tolerance
// between both runs, says whether that is all.
json KernelJob::without_rounding(const json& findings) {
  const bool has_answer = task_.reference || !task_.expected.empty();
  if (!program_ || !program_->adds_in_any_order()) return findings;
  json rest = json::array();
  for (const auto& finding : findings) {
    const bool is_right = has_answer || finding.value("within_tolerance", false);
    if (finding.at("check") != "repeat_differs" || !is_right) {
      rest.push_back(finding);
      continue;
    }
    const std::string tensor = finding.at("tensor");
    warn_once(warnings_, "order_of_atomics", tensor,
              "Two runs gave '" + tensor +
                  "' different values within the tolerance: atomics on floating-point numbers are "
                  "rounded in any order.");
  }
  return rest;
}

KernelJob::Step KernelJob::validation_trial(std::uint32_t trial, json& body) {
  json said;
  Ran ran;
  if (task_.reference) {
    if (auto ended = run_reference(trial, said, ran)) return ended;
    note_findings(evidence_, said.at("findings"), "ref_kernel", trial);
    if (auto ended = judge_reference(said.at("findings"), warnings_, weak_)) return ended;
    if (trial == 0) {
      body["reference"] = {{"ran", true}, {"elapsed_ns", ran.elapsed.count()}};
      auto weak = referee_->weak_oracle();
      if (auto* ended = std::get_if<Ended>(&weak)) return std::move(*ended);
      expected_ = std::get<json>(weak).at("expected");
      note_weak_oracle(std::get<json>(weak).at("warnings"), task_.kernel.contract, warnings_,
                       weak_);
      // No warning: such contents are the manual's own examples.
      if (weak_.empty() && repeats_inputs(task_.kernel.contract)) {
        weak_ = std::string("The task is weak: ") + kSameInputs;
      }
    }
  }
  look_for_same_answers(trial);
  if (auto ended = run_once(*kernel_, trial, said, ran)) {
    ran_ = true;
    ended->detail["trial"] = trial;
    return ended;
  }
  ran_ = true;
  if (trial == 0) tell_first(ran, body);
  return judge_trial(trial, said, body);
}

// An answer that ignores its inputs is right for all trials if the reference's answer to each of
// them is right for the first. The reference has just answered this one. No warning: among the
// manual's own examples are such tasks.
void KernelJob::look_for_same_answers(std::uint32_t trial) {
  if (trial == 0 || !task_.reference || task_.in_double || !draws_inputs(task_.kernel.contract)) {
    return;
  }
  same_answers_ = (trial == 1 || same_answers_) && is_answer_of(*referee_, 0, kReferenceSlot);
  const bool was_last = trial + 1 == task_.validation_trials;
  if (was_last && same_answers_ && weak_.empty()) {
    weak_ = std::string("The task is weak: ") + kSameAnswers;
  }
}

// Only of a device code's own process something could be left of a launch that failed: another
// takes its place.
KernelJob::Step KernelJob::look_for_fixed_inputs() {
  const bool is_task = task_.reference && task_.validation_trials > 0 && weak_.empty() &&
                       !task_.in_double && fixes_inputs(task_.kernel.contract);
  if (!is_task || reference_run_ * 4 > execution_left_) return std::nullopt;
  auto filled = referee_->fill_otherwise(0, kReferenceSlot);
  if (std::holds_alternative<Ended>(filled)) return std::nullopt;
  auto& arena = std::get<LentArena>(filled);
  // On other contents it may do what it never does on those of the task.
  std::chrono::nanoseconds allowed =
      std::min<std::chrono::nanoseconds>(execution_left_, kOtherwiseLimit + 20 * reference_run_);
  execution_left_ -= allowed;
  bool ran = false;
  if (python_reference_) {
    ran = !python_reference_->run(std::move(arena), 0, allowed);
  } else {
    ran = std::holds_alternative<Ran>(reference_->run(std::move(arena), allowed));
    lost_reference_ = !ran;
    if (lost_reference_) (void)renew(true);
  }
  execution_left_ += allowed;
  follows_fixed_ = ran && !is_answer_of(*referee_, 0, kReferenceSlot);
  return std::nullopt;
}

KernelJob::Step KernelJob::judge_trial(std::uint32_t trial, const json& said, json& body) {
  note_findings(evidence_, without_rounding(said.at("findings")), "kernel", trial);
  body["outputs"] = said.at("outputs");
  if (said.contains("digests")) body["digests"] = said.at("digests");
  note_unclear_precision(said, warnings_, weak_);
  return judge_outputs(said, trial);
}

// The same inputs again: a kernel that races with itself seldom gives the same bits twice. On the
// emulator in another order of warps, in which a missing barrier shows that no device may ever
// show. Examined timed runs repeat the first trials too, where there are some.
KernelJob::Step KernelJob::run_again(json& body) {
  const bool reorders = gpu_ == nullptr && program_->shares_memory();
  const bool repeats_timed = task_.until != Until::validated;
  if ((task_.reference || gpu_ != nullptr) && repeats_timed && !reorders) return std::nullopt;
  json said;
  Ran ran;
  if (auto ended = run_once(*kernel_, 0, said, ran, reorders)) return ended;
  if (!reorders) return judge_trial(0, said, body);
  json findings = without_rounding(said.at("findings"));
  for (const auto& output : said.at("outputs")) {
    if (output.value("ok", true)) continue;
    findings.push_back({{"check", "order_of_warps"}, {"tensor", output.at("name")}});
    break;
  }
  note_findings(evidence_, findings, "kernel", 0);
  return std::nullopt;
}

// What is short runs all its trials one after the other, and they are judged together, in their
// order: beside a wrong one the others cost nothing.
KernelJob::Step KernelJob::trials_together(json& body) {
  std::vector<std::uint32_t> slots;
  Step failed;
  for (std::uint32_t trial = 0; trial < task_.validation_trials && !failed; ++trial) {
    if (longest_run_ > kShortRun) break;
    Ran ran;
    failed = launch(*kernel_, trial, ran);
    ran_ = true;
    if (failed) {
      failed->detail["trial"] = trial;
      break;
    }
    if (trial == 0) tell_first(ran, body);
    slots.push_back(slot_of(trial));
  }
  if (slots.empty()) return failed;
  auto checked = referee_->check(slots);
  // Beside a kernel that hangs the referee may fail: that is not what ended the job.
  if (auto* ended = std::get_if<Ended>(&checked)) return failed ? failed : std::move(*ended);
  const auto& said = std::get<std::vector<json>>(checked);
  for (std::size_t i = 0; i < said.size(); ++i) {
    if (auto ended = judge_trial(static_cast<std::uint32_t>(i), said[i], body)) return ended;
    body["trials_passed"] = i + 1;
  }
  return failed;
}

void KernelJob::tell_first(const Ran& ran, json& body) {
  body["counters"] = ran.counters;
  output_ = ran.printf_output;
  body["printf"] = ran.printf_output.substr(0, 2000);
  body["printf_truncated"] = ran.printf_truncated || ran.printf_output.size() > 2000;
}

// The checks gave the device to others, for as long as the emulator looked.
KernelJob::Step KernelJob::lease_again() {
  if (gpu_ == nullptr || lease_ || task_.until <= Until::validated) return std::nullopt;
  return take_turn(lease_, *gpu_, task_.client, task_.timeout, stop_);
}

KernelJob::Step KernelJob::validate_stage() {
  Step ended = stage_ahead();
  StageClock clock(reporter_, "validated");
  clock.body = {{"checked_against", checked_against(task_)},
                {"trials", task_.validation_trials},
                {"trials_passed", 0}};
  if (!ended && fills_ahead_) ended = trials_together(clock.body);
  for (std::uint32_t trial = clock.body["trials_passed"]; trial < task_.validation_trials && !ended;
       ++trial) {
    ended = validation_trial(trial, clock.body);
    if (!ended) clock.body["trials_passed"] = trial + 1;
  }
  if (!ended) ended = run_again(clock.body);
  if (!ended) ended = look_for_fixed_inputs();
  clock.body["findings"] = evidence_;
  if (!task_.checks.empty()) {
    if (ended && referee_ && fills_ahead_) referee_->take_ahead();
    end_failed(ended);
    clock.body["checks"] = checks_made(ended);
    checks_sentence_ = findings_sentence(clock.body["checks"]);
    if (!ended) ended = lease_again();
  }
  if (!output_.empty()) clock.artifacts.push_back({"output", "text/plain", output_});
  return clock.tell(std::move(ended));
}

}  // namespace assay::node
