// The timed and profiled stages of a KernelJob, on a GPU and on the emulator.
#include <algorithm>

#include "engine/contract/fixed_contents.h"
#include "engine/node/emulated_twin.h"
#include "engine/node/gpu_timing.h"
#include "engine/node/kernel_job.h"
#include "engine/node/locals_check.h"
#include "engine/node/sanitizer_checks.h"
#include "engine/node/stage_clock.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using job::StageStatus;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Emulated times serve nobody's optimisation: a few repeats show that the kernel repeats.
constexpr std::chrono::milliseconds kEmulatedTimingBudget{20};

// A device's driver remembers its utilisation for a second, in samples of a sixth at least: of
// those a job of ours must not have made more than a third.
constexpr std::chrono::milliseconds kRemembered{1'200};
constexpr std::chrono::milliseconds kOnlyJust{50};

// Who comes sooner after another is one of many, of whom the first asked who else is there.
constexpr std::chrono::milliseconds kBurst{200};

bool is_in_burst(const std::optional<GpuLease>& lease) {
  return lease && lease->was_free() < kBurst;
}

bool was_quiet(const std::optional<GpuLease>& lease) {
  return lease && lease->was_free() >= kRemembered && lease->held() <= kOnlyJust;
}

// Its build with -G would wait just so, and nobody would see in its many calls that it does.
bool waits_in_vain(const std::optional<Ended>& ended) {
  return ended && ended->detail.value("fault", json::object()).value("kind", "") == "deadlock";
}

}  // namespace

KernelJob::Step KernelJob::gpu_timed_stage() {
  StageClock clock(reporter_, "timed");
  clock.is_last = task_.metrics_sections.empty() && !task_.generalise;
  clock.body["clock"] = "gpu";
  clock.body["note"] =
      "GPU time between two events around each run, the L2 cache flushed before it (cold); nothing "
      "is subtracted. `views` has the same kernel warm and as the slope of a graph.";
  clock.body["trials_requested"] = task_.num_trials;
  json judged = json::object();
  GpuTiming timing(
      *referee_, *kernel_, reference_.get(),
      {.trials = task_.num_trials,
       .may_add = task_.may_add_trials,
       .warmups = task_.num_warmup,
       .method = task_.timing_method,
       .known_trials = std::max(task_.validation_trials, 1U),
       .arena_bytes = referee_->arena_bytes(),
       .device_bytes = gpu_->gpu().memory_bytes,
       .seen_ns = static_cast<double>(longest_run_.count()),
       .staged_ahead = staged_ahead_,
       .keeps_state = program_->keeps_state(),
       .leaves_memory = program_->leaves_memory(),
       .works_on_contents =
           contract::works_on_contents(task_.kernel.contract) ||
           (task_.reference && contract::works_on_contents(task_.reference->contract)),
       .highest_mhz = highest_mhz(gpu_->gpu().facts),
       .floor =
           floor_of(gpu_->gpu().facts, task_.kernel.contract, writes_all(evidence_, warnings_)),
       .others_are_visible = runners_.share_processes(),
       .was_quiet = was_quiet(lease_),
       .is_in_burst = is_in_burst(lease_),
       .renew = [this](bool is_reference) { return renew(is_reference); }},
      [&](std::uint32_t trial, const json& said) { return judge_trial(trial, said, judged); },
      execution_left_);
  Step ended = timing.measure(clock.body);
  repeats_ = !timing.is_unrepeatable();
  if (timing.is_doubtful() && weak_.empty()) weak_ = kDoubtfulTimes;
  kernel_timing_ = timing_facts(clock.body, "views", "samples_ns");
  reference_timing_ = timing_facts(clock.body, "reference_views", "reference_samples_ns");
  for (const auto& warning : clock.body["warnings"]) warnings_.push_back(warning);
  if (python_reference_) {
    warnings_.push_back(
        {{"code", "reference_untimed"},
         {"message",
          "There is no ratio: the reference's calls are the interpreter's launches, "
          "the kernel's are not."}});
  }
  return clock.tell(std::move(ended));
}

std::variant<KernelSession*, Ended> KernelJob::renew(bool is_reference) {
  auto& session = is_reference ? reference_ : kernel_;
  session.reset();
  session = start_session(is_reference ? task_.reference_name : task_.judged_name,
                          is_reference ? GpuPool::Side::reference : GpuPool::Side::judged, {});
  name_ranges();
  auto loaded = session->load(is_reference ? *task_.reference : task_.kernel,
                              is_reference ? *reference_program_ : *program_, task_.kernel.contract,
                              referee_->places());
  if (auto* ended = std::get_if<Ended>(&loaded)) return std::move(*ended);
  return session.get();
}

// The manual's names: what it calls original is the reference, or the one kernel there is.
void KernelJob::name_ranges() {
  if (!runners_.are_profiled()) return;
  kernel_->name_range(task_.job_id + (task_.reference ? "_custom" : "_original"));
  if (reference_) reference_->name_range(task_.job_id + "_original");
}

void KernelJob::note_ranges() {
  if (kernel_->range_failure().empty()) return;
  warnings_.push_back(
      {{"code", "no_ranges"},
       {"message", "No profiler sees the timed runs: " + kernel_->range_failure()}});
}

KernelJob::Step KernelJob::timed_stage() {
  name_ranges();
  Step ended = gpu_ != nullptr ? gpu_timed_stage() : emulated_timed_stage();
  note_ranges();
  return ended;
}

KernelJob::Step KernelJob::emulated_timed_stage() {
  StageClock clock(reporter_, "timed");
  json samples = json::array();
  json reference_samples = json::array();
  const auto until = Clock::now() + kEmulatedTimingBudget;
  Step ended;
  std::uint32_t done = 0;
  // Every timed run is examined like a trial: the inputs repeat a validated trial's, the poison is
  // new.
  while (!ended && done < task_.num_trials && (done == 0 || Clock::now() < until)) {
    const std::uint32_t trial = done % std::max(task_.validation_trials, 1U);
    json said;
    Ran ran;
    if (reference_ && done < 3) {
      ended = run_reference(trial, said, ran);
      if (ended) break;
      reference_samples.push_back(ran.elapsed.count());
    }
    ended = run_once(*kernel_, trial, said, ran);
    if (!ended) ended = judge_trial(trial, said, clock.body);
    if (!ended) samples.push_back(ran.elapsed.count());
    ++done;
  }
  clock.body.erase("outputs");
  clock.body["clock"] = "emulated";
  clock.body["note"] =
      "Wall time of the emulator on this machine's CPU, not a GPU time; num_warmup has no effect "
      "on it.";
  clock.body["trials_requested"] = task_.num_trials;
  clock.body["samples_ns"] = std::move(samples);
  if (python_reference_) {
    warnings_.push_back({{"code", "reference_untimed"},
                         {"message",
                          "There is no ratio: the reference runs on CPU tensors, and its time says "
                          "nothing of a kernel on the emulator."}});
  }
  if (reference_) clock.body["reference_samples_ns"] = std::move(reference_samples);
  return clock.tell(std::move(ended));
}

void KernelJob::gpu_profile_stage() {
  StageClock clock(reporter_, "profiled");
  profile_.emplace(*gpu_, *referee_, runners_.toolkit().cupti.string(), task_.timeout, stop_);
  const auto& contract = task_.kernel.contract;
  json& metrics = clock.body["device_metrics"] = json::object();
  if (reference_program_) {
    metrics["original_device_metrics"] = profile_->measure(
        *task_.reference, *reference_program_, contract, task_.metrics_sections, reference_timing_);
  }
  json told =
      profile_->measure(task_.kernel, *program_, contract, task_.metrics_sections, kernel_timing_);
  tell_of_kernel(std::move(told), task_.reference.has_value(), metrics, warnings_);
  if (profile_->has_left_running() && lease_) lease_->doubt();
  (void)clock.tell(std::nullopt);
}

InspectionRun KernelJob::inspection() {
  return {.referee = *referee_,
          .kernel = *kernel_,
          .task = task_,
          .has_neighbours = program_->has_neighbours(),
          .strays = strays_,
          .execution_left = execution_left_};
}

// A GPU tells little of what goes wrong on it: there a twin on the emulator is looked at.
json KernelJob::checks_made(const Step& ended) {
  const auto with_locals = [&](json checks, RefereeSession& referee) {
    if (!wants_locals(task_)) return checks;
    if (waits_in_vain(ended)) {
      checks["locals"] = {{"ran", false}};
      checks["notes"].push_back(
          "Uninitialised locals were not looked for: the kernel waits for what never comes.");
    } else {
      check_locals({runners_, compiler_, referee, task_, stop_, execution_left_}, checks);
    }
    return checks;
  };
  if (gpu_ == nullptr) return with_locals(run_checks(inspection()), *referee_);
  EmulatedTwin twin(runners_, task_, stop_);
  auto unloaded = twin.load(task_, *program_);
  const SanitizedWork work = sanitized_kernel(task_, *program_, twin.kernel(),
                                              ended && ended->verdict == job::Verdict::timed_out);
  json sanitized = run_sanitizer({.runners = runners_,
                                  .gpu = gpu_->gpu(),
                                  .checks = task_.checks,
                                  .work = work,
                                  .arena = twin.referee().fill(0),
                                  .otherwise = ": the emulator alone looked.",
                                  .stop = stop_});
  lease_.reset();  // the emulator may look for minutes
  if (unloaded) {
    json out = {{"ran", false},
                {"checks", task_.checks},
                {"findings", json::array()},
                {"notes", {"Checks run on the emulator, and there: " + unloaded->summary}}};
    add_sanitized(out, std::move(sanitized));
    return out;
  }
  json out = with_locals(run_checks({.referee = twin.referee(),
                                     .kernel = twin.kernel(),
                                     .task = task_,
                                     .on_gpu = true,
                                     .has_neighbours = program_->has_neighbours(),
                                     .execution_left = execution_left_}),
                         twin.referee());
  out["on"] = "emulator";
  add_sanitized(out, std::move(sanitized));
  return out;
}

void KernelJob::profile_stage() {
  if (gpu_ != nullptr && !task_.metrics_sections.empty()) return gpu_profile_stage();
  json body = {
      {"reason",
       "Not asked for: `device_metrics: \"on\"` counts, and says what limits the kernel."}};
  if (!task_.metrics_sections.empty()) {
    reporter_.settle();
    body = count_metrics(inspection());
  }
  const bool skipped = body.contains("reason");
  reporter_.tell({.record = {.name = "profiled",
                             .status = skipped ? StageStatus::skipped : StageStatus::passed,
                             .body = std::move(body)}});
}

}  // namespace assay::node
