// Of PythonJob: what to make of a get_inputs() that gives the same each time.
#include <algorithm>
#include <chrono>

#include "engine/node/python_job.h"
#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

// No trial of the task's, and none of the timed ones.
constexpr std::uint32_t kOtherTrial = 9'000;
constexpr std::chrono::seconds kOtherwiseLimit{1};
constexpr const char* kCheck = "other_contents";
constexpr std::size_t kMostNames = 200;
constexpr const char* kWeakSource =
    "get_inputs() gives the same each time, so that an answer computed beforehand would pass: let "
    "it draw random numbers without a seed of its own.";

}  // namespace

// On other contents a reference may do what it never does on those of the task: it has a little
// time, and another process takes its place if it did not come to an answer.
PythonJob::Step PythonJob::ask_reference_otherwise(
    const std::function<Step(std::chrono::nanoseconds& left)>& ask, std::string& why_not) {
  const auto given =
      std::min<std::chrono::nanoseconds>(execution_left_, kOtherwiseLimit + 20 * typical_);
  const auto typical = typical_;
  auto left = given;
  auto ended = ask(left);
  if (!ended) {
    execution_left_ -= given - left;
    return std::nullopt;
  }
  typical_ = typical;
  why_not = "the reference does not take others: " + about_reference(*std::move(ended)).summary;
  return renew_reference();
}

PythonJob::Step PythonJob::run_on_other_contents(json& said, const std::string& of,
                                                 std::string& why_not) {
  const auto ask = [&](std::chrono::nanoseconds& left) {
    return run_once(*reference_, kOtherTrial, said, left);
  };
  auto lost = ask_reference_otherwise(ask, why_not);
  if (lost || !why_not.empty()) return lost;
  if (auto ended = run_once(*kernel_, kOtherTrial, said)) {
    ended->summary += " That was on other contents than those of " + of +
                      ": of the same shapes, and within their range.";
    return about_kernel(std::move(*ended));
  }
  return std::nullopt;
}

PythonJob::Step PythonJob::try_other_contents() {
  if (!reference_) return std::nullopt;
  if (!inputs_->are_constant()) return try_constant_inputs();
  const auto tell = [&](const char* result, const std::string& detail) -> json& {
    evidence_.push_back(
        {{"check", kCheck}, {"result", result}, {"which", "kernel"}, {"detail", detail}});
    return evidence_.back();
  };
  const auto give_up = [&](const std::string& why) {
    same_contents_ = true;
    const std::string message = provider_ != nullptr ? kWeakSource : kSameInputs;
    weak_ = "The task is weak: " + message;
    warn_once(warnings_, "weak_oracle", "", message);
    inputs_->vary({});
    tell("unknown", why);
    return std::nullopt;
  };
  if (provider_ == nullptr) return give_up("they are the contract's");
  if (typical_ * 4 > execution_left_) return give_up("no time is left to try others");
  inputs_->vary({.arguments = inputs_->constant()});
  if (!inputs_->differ(0, kOtherTrial)) return give_up("its inputs hold no numbers to vary");
  json said;
  std::string why_not;
  if (auto ended =
          run_on_other_contents(said, "get_inputs(), which gives the same each time", why_not)) {
    return ended;
  }
  if (!why_not.empty()) return give_up(why_not);
  note_findings(evidence_, said.at("findings"), "kernel", kOtherTrial);
  const bool is_right = !judge_outputs(said, kOtherTrial);
  const bool is_old_answer = is_answer_of(*referee_, 0, 0);
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

// As KernelJob does. The kernel is not asked: the contract says what it is given.
PythonJob::Step PythonJob::look_for_fixed_inputs() {
  const bool is_task = reference_ && weak_.empty() && fixes_inputs(contract_);
  if (!is_task || typical_ * 4 > execution_left_) return std::nullopt;
  auto arena = referee_->fill_otherwise(0, kOtherSlot);
  if (std::holds_alternative<Ended>(arena)) return std::nullopt;
  const auto ask = [&](std::chrono::nanoseconds& left) -> Step {
    auto ran = reference_->run(std::get<LentArena>(std::move(arena)), inputs_->seed(0), left);
    if (auto* ended = std::get_if<Ended>(&ran)) return std::move(*ended);
    return std::nullopt;
  };
  std::string why_not;
  auto lost = ask_reference_otherwise(ask, why_not);
  if (!lost && why_not.empty()) follows_fixed_ = !is_answer_of(*referee_, 0, kOtherSlot);
  return lost;
}

PythonJob::Step PythonJob::renew_reference() {
  const bool is_provider = provider_ == reference_.get();
  json groups = reference_->groups();
  reference_.reset();  // ended before another begins
  auto session = start_session("ref_kernel");
  if (auto* ended = std::get_if<Ended>(&session)) return std::move(*ended);
  reference_ = std::get<std::unique_ptr<PythonSession>>(std::move(session));
  if (auto ended = load(*reference_, *task_.reference, false, reference_loaded_)) return ended;
  if (is_provider) {
    provider_ = reference_.get();
    inputs_->provided_by(*reference_);
    // Asked once, so that it knows how they are grouped.
    auto told = reference_->own_inputs(inputs_->seed(0), input_time_);
    if (auto* ended = std::get_if<Ended>(&told)) return about_reference(std::move(*ended));
  }
  reference_->group_inputs(std::move(groups));
  auto ended = reference_->bind(reference_contract_, contract_, referee_->places());
  return ended ? Step(about_reference(std::move(*ended))) : std::nullopt;
}

PythonJob::Step PythonJob::try_constant_inputs() {
  if (provider_ == nullptr) return look_for_fixed_inputs();
  const auto constant = inputs_->constant();
  if (constant.empty()) return std::nullopt;
  std::string names;
  for (const std::size_t argument : constant) {
    names += (names.empty() ? "" : ", ") + contract_.args[argument].name;
  }
  names = names.substr(0, kMostNames) + " (the same in every get_inputs())";
  const auto tell = [&](const char* result, const std::string& detail) {
    evidence_.push_back({{"check", kCheck},
                         {"result", result},
                         {"which", "kernel"},
                         {"detail", names + ": " + detail}});
  };
  const auto give_up = [&](const std::string& why) {
    inputs_->vary({});
    tell("unknown", why);
    return std::nullopt;
  };
  if (typical_ * 4 > execution_left_) return give_up("no time is left to try others");
  inputs_->vary({.arguments = constant, .masks_too = true});
  if (inputs_->constant() == constant) return give_up("no numbers or masks to vary");
  json said;
  std::string why_not;
  if (auto ended = run_on_other_contents(said, names, why_not)) return ended;
  if (!why_not.empty()) return give_up(why_not);
  note_findings(evidence_, said.at("findings"), "kernel", kOtherTrial);
  if (!judge_outputs(said, kOtherTrial)) {
    tell("agrees", "judged and timed on other contents, too");
    return std::nullopt;
  }
  inputs_->vary({});
  tell("disagrees", "wrong on other contents");
  evidence_.back()["message"] = "On other contents of " + names +
                                " it is wrong: it computes the answer to those alone, or ignores "
                                "an input that the reference follows.";
  return std::nullopt;
}

}  // namespace assay::node
