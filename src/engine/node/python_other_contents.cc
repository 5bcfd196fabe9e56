// Of PythonJob: what to make of a get_inputs() that gives the same each time.
#include "engine/node/python_job.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

// No trial of the task's, and none of the timed ones.
constexpr std::uint32_t kOtherTrial = 9'000;
constexpr const char* kCheck = "other_contents";
constexpr const char* kWeakSource =
    "get_inputs() gives the same each time, so that an answer computed beforehand would pass: let "
    "it draw random numbers without a seed of its own.";
constexpr const char* kWeakContract =
    "the contract gives the same inputs each time, so that an answer computed beforehand would "
    "pass: let one be randn or uniform.";

bool is_answer_of(RefereeSession& referee, std::uint32_t trial) {
  const auto said = referee.outline_as(trial, 0);
  const auto* told = std::get_if<json>(&said);
  if (told == nullptr) return true;
  for (const auto& output : told->at("outputs")) {
    if (!output.at("ok").get<bool>()) return false;
  }
  return true;
}

}  // namespace

// Ended: only of the reference, for which they may mean nothing, or of the kernel.
PythonJob::Step PythonJob::run_on_other_contents(json& said) {
  if (auto ended = run_once(*reference_, kOtherTrial, said)) return about_reference(*ended);
  if (auto ended = run_once(*kernel_, kOtherTrial, said)) {
    ended->summary +=
        " That was on other contents than those of get_inputs(), which gives the "
        "same each time: of the same shapes, and within their range.";
    return about_kernel(std::move(*ended));
  }
  return std::nullopt;
}

PythonJob::Step PythonJob::try_other_contents() {
  if (!reference_ || !inputs_->are_constant()) return std::nullopt;
  const auto tell = [&](const char* result, const std::string& detail) -> json& {
    evidence_.push_back(
        {{"check", kCheck}, {"result", result}, {"which", "kernel"}, {"detail", detail}});
    return evidence_.back();
  };
  const auto give_up = [&](const std::string& why) {
    same_contents_ = true;
    const std::string message = provider_ != nullptr ? kWeakSource : kWeakContract;
    weak_ = "The task is weak: " + message;
    warn_once(warnings_, "weak_oracle", "", message);
    inputs_->vary(false);
    tell("unknown", why);
    return std::nullopt;
  };
  if (provider_ == nullptr) return give_up("they are the contract's");
  if (typical_ * 4 > execution_left_) return give_up("no time is left to try others");
  inputs_->vary(true);
  if (!inputs_->differ(0, kOtherTrial)) return give_up("its inputs hold no numbers to vary");
  json said;
  if (auto ended = run_on_other_contents(said)) {
    if (ended->detail.value("which", "") == "kernel") return ended;
    return give_up("the reference does not take others: " + ended->summary);
  }
  note_findings(evidence_, said.at("findings"), "kernel", kOtherTrial);
  const bool is_right = !judge_outputs(said, kOtherTrial);
  const bool is_old_answer = is_answer_of(*referee_, 0);
  if (is_right && is_old_answer) return give_up("the answer to others is the same");
  if (is_right) {
    tell("agrees",
         "get_inputs() gives the same each time; judged and timed on other contents, too");
    return std::nullopt;
  }
  static_cast<void>(give_up("see below"));
  evidence_.back().update(
      {{"result", "disagrees"},
       {"detail", is_old_answer ? "the answer to get_inputs(), whatever its inputs hold"
                                : "wrong on other contents"},
       {"message", is_old_answer
                       ? "On other contents of the same shapes it gives the answer to those of "
                         "get_inputs(), which gives the same each time: it knew it beforehand."
                       : "On other contents of the same shapes it is wrong: it computes the answer "
                         "to those of get_inputs() alone, which gives the same each time."}});
  return std::nullopt;
}

}  // namespace assay::node
