#include "engine/node/trial_judgement.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/contract/fixed_contents.h"
#include "engine/node/kernel_wording.h"

namespace assay::node {

using job::Verdict;
using nlohmann::json;

namespace {

// Whether each trial draws its elements anew.
bool is_drawn(const contract::Arg& arg) {
  if (!arg.is_tensor() || !arg.is_read() || arg.tensor_spec->elements() == 0) return false;
  const auto& spec = *arg.tensor_spec;
  if (spec.data) return false;
  return !spec.init || spec.init->kind == contract::InitKind::randn ||
         spec.init->kind == contract::InitKind::uniform;
}

}  // namespace

bool repeats_inputs(const contract::Contract& contract) {
  const auto is_read = [](const contract::Arg& arg) {
    return arg.is_tensor() && arg.is_read() && arg.tensor_spec->elements() > 0;
  };
  return !draws_inputs(contract) &&
         std::any_of(contract.args.begin(), contract.args.end(), is_read);
}

bool draws_inputs(const contract::Contract& contract) {
  return std::any_of(contract.args.begin(), contract.args.end(), is_drawn);
}

bool fixes_inputs(const contract::Contract& contract) {
  return draws_inputs(contract) && !contract::fixed_inputs(contract).empty();
}

json fixed_inputs_evidence(const contract::Contract& contract) {
  return {{"check", "fixed_inputs"},
          {"result", "unknown"},
          {"which", "task"},
          {"detail", contract::fixed_in_words(contract, contract::fixed_inputs(contract)) +
                         ": the same in every trial, and the reference's answer follows them. A "
                         "kernel that ignores them would pass too; other contents in `init`, or "
                         "`generalise: true`, tell."}};
}

void note_findings(json& evidence, const json& findings, const char* whose, std::uint32_t trial) {
  for (const auto& finding : findings) {
    json item = finding;
    item["which"] = whose;
    item["trial"] = trial;
    item["result"] = "disagrees";
    const bool known = std::any_of(evidence.begin(), evidence.end(), [&](const json& old) {
      return old.at("check") == item.at("check") &&
             old.value("tensor", "") == item.value("tensor", "") &&
             old.at("which") == item.at("which");
    });
    if (!known) evidence.push_back(std::move(item));
  }
}

void warn_once(json& warnings, const char* code, const std::string& tensor,
               const std::string& message) {
  const bool known = std::any_of(warnings.begin(), warnings.end(), [&](const json& old) {
    return old.at("code") == code && old.value("tensor", "") == tensor;
  });
  if (!known) warnings.push_back({{"code", code}, {"tensor", tensor}, {"message", message}});
}

json stray_evidence(const json& strays) {
  json evidence = json::array();
  for (const auto& stray : strays) {
    evidence.push_back({{"check", "out_of_bounds_read"},
                        {"tensor", stray.at("memory")},
                        {"where", stray.at("where")},
                        {"message", stray.at("message")}});
  }
  return evidence;
}

void warn_of_strays(json& warnings, const json& strays) {
  for (const auto& stray : strays) {
    warn_once(warnings, "reference_reads_outside", stray.at("memory"),
              "The reference reads outside its tensors" + place_text(stray.at("where")) + ": " +
                  stray.at("message").get<std::string>());
  }
}

std::optional<Ended> judge_reference(const json& findings, json& warnings, std::string& weak) {
  for (const auto& finding : findings) {
    if (finding.at("check") == "input_mutated") {
      // What it computes may hang on what it wrote there; the kernel is shown an untouched input.
      const std::string input = finding.at("tensor");
      weak = "The reference writes to its input '" + input + "': is its role inout?";
      warn_once(warnings, "reference_mutates", input, weak);
    }
    if (finding.at("check") != "unwritten") continue;
    const std::string tensor = finding.at("tensor");
    if (finding.at("count") == finding.at("elements")) {
      Ended ended{.verdict = Verdict::contract_invalid,
                  .summary = "The reference: it never writes output '" + tensor +
                             "', so nothing can be judged by it. Is its role right?",
                  .detail = finding};
      ended.detail["which"] = "ref_kernel";
      return ended;
    }
    weak = "The reference leaves part of its output unwritten: that part was not compared.";
    warn_once(warnings, "reference_unwritten", tensor,
              "The reference leaves " + finding.at("count").dump() + " of " +
                  finding.at("elements").dump() + " elements of '" + tensor +
                  "' unwritten: those are not compared.");
  }
  return std::nullopt;
}

bool writes_all(const json& evidence, const json& warnings) {
  const auto is = [](const char* key, const char* name) {
    return [=](const json& item) { return item.value(key, "") == name; };
  };
  return std::none_of(evidence.begin(), evidence.end(), is("check", "unwritten")) &&
         std::none_of(warnings.begin(), warnings.end(), is("code", "reference_unwritten"));
}

void note_weak_oracle(const json& found, const contract::Contract& contract, json& warnings,
                      std::string& weak) {
  std::set<std::string> trivial;
  for (const auto& warning : found) trivial.insert(warning.at("output").get<std::string>());
  const auto judges = [&](const contract::Arg& arg) {
    return arg.is_tensor() && arg.is_written() && arg.tensor_spec->elements() > 0 &&
           !trivial.contains(arg.name);
  };
  const bool others_judge = std::any_of(contract.args.begin(), contract.args.end(), judges);
  const auto is_inout = [&](const std::string& name) {
    return std::any_of(contract.args.begin(), contract.args.end(), [&](const contract::Arg& arg) {
      return arg.name == name && arg.role == contract::Role::inout;
    });
  };
  for (const auto& warning : found) {
    if (others_judge && is_inout(warning.at("output"))) continue;
    warnings.push_back({{"code", "weak_oracle"}, {"message", warning.at("message")}});
    weak = "The task is weak: an answer that computes nothing would pass it too.";
  }
}

bool is_answer_of(RefereeSession& referee, std::uint32_t trial, std::uint32_t slot) {
  const auto said = referee.outline_as(trial, slot);
  const auto* told = std::get_if<json>(&said);
  if (told == nullptr) return true;
  const json& outputs = told->at("outputs");
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const json& output) { return output.at("ok").get<bool>(); });
}

void note_unclear_precision(const json& said, json& warnings, std::string& weak) {
  static const json::json_pointer over_trials("/precision/over_trials");
  for (const auto& output : said.at("outputs")) {
    if (!output.contains(over_trials) || !output.at(over_trials).at("unclear").get<bool>())
      continue;
    const std::string name = output.at("name");
    warn_once(warnings, "precision_unclear", name,
              "The error in '" + name + "' is " +
                  std::to_string(std::lround(output.at(over_trials).at("ratio").get<double>())) +
                  " times the reference's own: its inputs lie so far from zero, and what is right "
                  "does not, that plain arithmetic may lose as much, and arithmetic in fewer bits "
                  "would as well.");
    if (weak.empty()) weak = "The task is weak: it does not tell in how many bits is computed.";
  }
}

std::optional<Ended> judge_outputs(const json& said, std::uint32_t trial) {
  for (const auto& finding : said.at("findings")) {
    if (finding.at("check") == "guard_zone") {
      return about_kernel({.verdict = Verdict::crashed,
                           .summary = "The kernel wrote outside tensor '" +
                                      finding.at("tensor").get<std::string>() + "'.",
                           .detail = finding});
    }
  }
  for (const auto& output : said.at("outputs")) {
    if (output.at("ok").get<bool>()) continue;
    Ended ended{.verdict = Verdict::wrong_output, .summary = mismatch_summary(output)};
    ended.detail = {{"output", output}, {"trial", trial}, {"which", "kernel"}};
    return ended;
  }
  return std::nullopt;
}

json host_memory_warning() {
  return {{"code", "host_memory_reachable"},
          {"message",
           "Kernels on this device reach the host's memory (HMM or ATS), that of the process which "
           "times them too: outputs are judged elsewhere, but nothing proves its clock, and trust "
           "is at "
           "most `audited`. Where it is HMM, the module option nvidia_uvm uvm_disable_hmm=1 ends "
           "it."}};
}

Ended about_reference(Ended ended) {
  ended.summary = "The reference: " + ended.summary;
  ended.detail["which"] = "ref_kernel";
  return ended;
}

Ended about_kernel(Ended ended) {
  ended.detail["which"] = "kernel";
  return ended;
}

const char* checked_against(const KernelTask& task) {
  if (task.reference) return "reference";
  return task.expected.empty() ? "none" : "golden";
}

std::string passed_summary(const KernelTask& task) {
  const std::string trials = std::to_string(task.validation_trials) + " trials";
  if (!task.reference && task.expected.empty()) {
    return "Ran to its end in " + trials + "; checked against no reference.";
  }
  return std::string("Passed: equal to the ") + (task.reference ? "reference" : "golden") +
         " within tolerance in " + trials + ".";
}

}  // namespace assay::node
