// How a KernelJob ends: what its report says of it all.
#include "engine/node/kernel_job.h"
#include "engine/node/kernel_wording.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {

using job::StageStatus;
using job::Verdict;
using nlohmann::json;

std::string KernelJob::summary_of_passed() const {
  if (task_.listing) return compiled_summary_;
  if (task_.until == Until::compiled) return "Compiled.";
  return passed_summary(task_);
}

Conclusion KernelJob::conclude(const Step& ended) {
  Conclusion conclusion{.verdict = ended ? ended->verdict : Verdict::passed};
  clean_ = ran_ && !ended && evidence_.empty();
  json& body = conclusion.body;
  body["summary"] = ended ? ended->summary : summary_of_passed();
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
  bool suspect = false;
  for (const auto& item : evidence_) {
    if (item.at("which") != "kernel") continue;
    suspect = true;
    const std::string words = finding_text(item);
    if (!ended) body["summary"] = body["summary"].get<std::string>() + " " + words;
    warnings_.push_back({{"code", item.at("check")}, {"message", words}});
  }
  // Trust speaks of a passed verdict, and of proven cheating: another failure needs none.
  const bool forged =
      ended && ended->detail.value("forged", false) && ended->detail.value("which", "") == "kernel";
  const bool speaks = ran_ && !ended;
  // What a task cannot tell, no kernel can prove.
  const char* clear = weak_.empty() ? "verified" : "audited";
  body["trust"] = forged    ? json("rejected")
                  : !speaks ? json(nullptr)
                            : json(suspect ? "suspect" : clear);
  if (speaks && !weak_.empty()) body["summary"] = body["summary"].get<std::string>() + " " + weak_;
  body["evidence"] = evidence_;
  body["environment"] = {{"device", gpu_ != nullptr ? gpu_->gpu().device() : "emulator"},
                         {"device_name", gpu_ != nullptr ? json(gpu_->gpu().name) : json(nullptr)},
                         {"toolkit", program_ ? json(program_->compiler) : json(nullptr)}};
  if (gpu_ != nullptr && ran_) {
    body["environment"]["runner_reused"] = runner_reused_;
    body["environment"]["referee"] = referee_->is_on_device() ? "device" : "host";
  }
  body["warnings"] = warnings_;
  reporter_.stage({.record = {.name = "concluded", .status = StageStatus::passed}});
  return conclusion;
}

}  // namespace assay::node
