// Of PythonJob: what else than times is asked of what was lifted. Its own process has ended by
// then; other processes repeat its launches, as those of every `cuda` kernel.
#include "engine/node/kernel_inspection.h"
#include "engine/node/python_job.h"
#include "engine/node/python_lift.h"
#include "engine/node/sanitizer_checks.h"
#include "engine/node/stage_clock.h"

namespace assay::node {
namespace {

using job::StageStatus;
using nlohmann::json;

constexpr const char* kNotAsked =
    "Not asked for: `device_metrics: \"on\"` counts, and says what limits the kernel.";
// Of the host's memory, which holds it several times then.
constexpr std::uint64_t kMaxArenaBytes = 1ULL << 30;
constexpr const char* kOnEmulator =
    ". With `device: \"emulator\"` its launches there are looked at.";
constexpr const char* kOfTheHost = "There are no counters of CPU tensors.";

}  // namespace

void PythonJob::profile_stage() {
  const auto skip = [this](const std::string& reason) {
    reporter_.tell(
        {.record = {
             .name = "profiled", .status = StageStatus::skipped, .body = {{"reason", reason}}}});
  };
  if (gpu_ == nullptr) return skip(kOfTheHost);
  if (task_.metrics_sections.empty()) return skip(kNotAsked);
  if (!kernel_sequence_) {
    const std::string why =
        "Counters are taken of launches that can be repeated without Python; these are not: " +
        why_no_lift_ + ".";
    warnings_.push_back({{"code", "no_counters"}, {"message", why}});
    return skip(why);
  }
  StageClock clock(reporter_, "profiled");
  profile_.emplace(*pool_, *referee_, runners_.toolkit().cupti.string(), task_.timeout, stop_);
  const GpuProfile::Fill fill = [this] {
    return inputs_->fill(PythonLift::known_trial(), kJudgedSlot);
  };
  json& metrics = clock.body["device_metrics"] = json::object();
  if (reference_sequence_) {
    metrics["original_device_metrics"] = profile_->measure(
        *reference_sequence_, fill, contract_, task_.metrics_sections, reference_timing_);
  }
  json told =
      profile_->measure(*kernel_sequence_, fill, contract_, task_.metrics_sections, kernel_timing_);
  tell_of_kernel(std::move(told), task_.reference.has_value(), metrics, warnings_);
  if (profile_->has_left_running() && lease_) lease_->doubt();
  (void)clock.tell(std::nullopt);
}

json PythonJob::checks_made() {
  json checks = checks_of_lifted();
  if (is_among(task_.checks, "numbers")) {
    checks["notes"].push_back(
        "`numbers` are looked for by the emulator alone, which executes no machine code.");
  }
  checks_sentence_ = findings_sentence(checks);
  return checks;
}

json PythonJob::checks_of_lifted() {
  json out = {{"ran", false},
              {"checks", task_.checks},
              {"findings", json::array()},
              {"notes", json::array()}};
  const char* otherwise = builds_wrappers(task_.kernel) ? kOnEmulator : ".";
  const auto unseen = [&](const std::string& why) {
    out["notes"].push_back("Nothing was looked at: " + why);
    return out;
  };
  if (gpu_ == nullptr) return unseen("its tensors are the CPU's.");
  if (!kernel_sequence_) {
    return unseen("what it launches cannot be repeated without Python (" + why_no_lift_ + ")" +
                  otherwise);
  }
  // The process that is looked at takes its inputs from the host's memory.
  RefereeSession host(runners_.start(RunnerRole::referee), nullptr, stop_);
  if (auto ended = host.open(contract_, {}, json::object())) return unseen(ended->summary);
  if (host.arena_bytes() > kMaxArenaBytes) {
    return unseen("its tensors need more than " + std::to_string(kMaxArenaBytes >> 20) + " MiB.");
  }
  const SanitizedWork work =
      sanitized_sequence(*kernel_sequence_, contract_, referee_->places(), host.places());
  json sanitized = run_sanitizer({.runners = runners_,
                                  .gpu = *gpu_,
                                  .checks = task_.checks,
                                  .work = work,
                                  .arena = inputs_->fill(host, PythonLift::known_trial()),
                                  .otherwise = otherwise,
                                  .stop = stop_});
  if (sanitized.contains("reason")) {
    out["notes"].push_back("Nothing was looked at: " + sanitized.at("reason").get<std::string>());
  }
  add_sanitized(out, std::move(sanitized));
  return out;
}

}  // namespace assay::node
