// How a KernelJob ends: what its report says of it all.
#include <algorithm>

#include "engine/node/kernel_job.h"
#include "engine/node/kernel_wording.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {

using job::StageStatus;
using job::Verdict;
using nlohmann::json;

namespace {

// What speaks against the kernel, among the warnings and, of one that passed, in the summary.
bool tell_evidence(const json& evidence, bool passed, json& body, json& warnings) {
  bool suspect = false;
  for (const auto& item : evidence) {
    if (item.at("which") != "kernel") continue;
    suspect = true;
    const std::string words = finding_text(item);
    // The likely cause of another end, too.
    const bool explains = item.at("check") == "out_of_bounds_read";
    if (passed || explains) body["summary"] = body["summary"].get<std::string>() + " " + words;
    warnings.push_back({{"code", item.at("check")}, {"message", words}});
  }
  return suspect;
}

bool speaks_of(const json& evidence, const char* which) {
  return std::any_of(evidence.begin(), evidence.end(),
                     [&](const json& item) { return item.at("which") == which; });
}

// Whether the kernel could have written to the memory of the process that timed it.
bool clock_in_reach(const GpuPool* gpu, bool speaks, json& warnings) {
  if (!speaks || gpu == nullptr || !gpu->gpu().reaches_host_memory()) return false;
  warnings.push_back(host_memory_warning());
  return true;
}

// Trust speaks of a passed verdict, and of proven cheating: another failure needs none.
json trust_of(const std::optional<Ended>& ended, bool speaks, bool suspect, bool weak) {
  const bool forged =
      ended && ended->detail.value("forged", false) && ended->detail.value("which", "") == "kernel";
  if (forged) return "rejected";
  if (!speaks) return nullptr;
  // What a task cannot tell, no kernel can prove; nor that a clock was right which it could reach.
  const char* clear = weak ? "audited" : "verified";
  return suspect ? "suspect" : clear;
}

}  // namespace

std::string KernelJob::summary_of_passed() const {
  if (task_.listing) return compiled_summary_;
  if (task_.until == Until::compiled) return "Compiled.";
  return passed_summary(task_);
}

// Of a crash with its next step, where checks would say more: on the emulator it names its place,
// checks that were asked for have said theirs, and they look at device code.
std::string KernelJob::summary_of_failed(const Ended& ended) const {
  const bool may_ask = ended.verdict == Verdict::crashed && gpu_ != nullptr &&
                       task_.checks.empty() && !task_.kernel.is_python() &&
                       ended.detail.value("which", "") == "kernel";
  return ended.summary + (may_ask ? step_after_crash(ended.detail) : "");
}

Conclusion KernelJob::conclude(const Step& ended) {
  Conclusion conclusion{.verdict = ended ? ended->verdict : Verdict::passed};
  clean_ = ran_ && !ended && repeats_ && evidence_.empty();
  // Where the kernel failed, that was in another process; whatever else ended the job may have been
  // anywhere.
  reference_clean_ = ran_ && repeats_ && (!ended || ended->detail.value("which", "") == "kernel") &&
                     !speaks_of(evidence_, "ref_kernel");
  json& body = conclusion.body;
  body["summary"] = ended ? summary_of_failed(*ended) : summary_of_passed();
  if (ended) {
    body["detail"] = ended->detail;
    conclusion.interrupted = ended->interrupted;
  }
  if (!checks_sentence_.empty()) {
    body["summary"] = body["summary"].get<std::string>() + " " + checks_sentence_;
  }
  if (!generalised_sentence_.empty()) {
    body["summary"] = body["summary"].get<std::string>() + " " + generalised_sentence_;
  }
  const bool suspect = tell_evidence(evidence_, !ended, body, warnings_);
  const bool speaks = ran_ && !ended;
  const bool unproved = clock_in_reach(gpu_, speaks, warnings_);
  body["trust"] = trust_of(ended, speaks, suspect, unproved || !weak_.empty());
  if (speaks && !weak_.empty()) body["summary"] = body["summary"].get<std::string>() + " " + weak_;
  body["evidence"] = evidence_;
  if (!ended && follows_fixed_) {
    body["evidence"].push_back(fixed_inputs_evidence(task_.kernel.contract));
  }
  body["environment"] = {{"device", gpu_ != nullptr ? gpu_->gpu().device() : "emulator"},
                         {"device_name", gpu_ != nullptr ? json(gpu_->gpu().name) : json(nullptr)},
                         {"toolkit", program_ ? json(program_->compiler) : json(nullptr)}};
  if (program_ && !program_->interpreter.empty()) {
    body["environment"]["interpreter"] = program_->interpreter;
  }
  if (gpu_ != nullptr && ran_) {
    body["environment"]["runner_reused"] = runner_reused_;
    if (reference_) body["environment"]["reference_runner_reused"] = reference_runner_reused_;
    body["environment"]["referee"] = referee_->is_on_device() ? "device" : "host";
  }
  body["warnings"] = warnings_;
  reporter_.tell({.record = {.name = "concluded", .status = StageStatus::passed}});
  return conclusion;
}

}  // namespace assay::node
