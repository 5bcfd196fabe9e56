// What the referee says of a run, turned into evidence, warnings and the end of a job: the same for
// every kernel type. Pure but for is_answer_of(); any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/node/ended.h"
#include "engine/node/kernel_task.h"
#include "engine/node/referee_session.h"

namespace assay::node {

// Why a contract that draws no input proves little: an answer computed beforehand would pass.
inline constexpr const char* kSameInputs =
    "the contract gives the same inputs each time, so that an answer computed beforehand would "
    "pass: let one be randn or uniform.";
// Whether each trial has elements of its own to read.
// Evidence that says which inputs the contract fixes, and that the answer follows them, which it
// was asked: a kernel that ignores them is right in every trial. Nothing against the kernel.
[[nodiscard]] nlohmann::json fixed_inputs_evidence(const contract::Contract& contract);
// Whether some of the inputs are fixed, with others that could be in their place, and some are
// drawn: of a task that draws none its weakness is told instead.
[[nodiscard]] bool fixes_inputs(const contract::Contract& contract);
[[nodiscard]] bool draws_inputs(const contract::Contract& contract);
// Whether there is something to read, and it is the same each time.
[[nodiscard]] bool repeats_inputs(const contract::Contract& contract);

// Adds what is not there yet: once per check, tensor and kernel, since later trials say the same.
void note_findings(nlohmann::json& evidence, const nlohmann::json& findings, const char* whose,
                   std::uint32_t trial);

// A warning that stands once per code and tensor.
void warn_once(nlohmann::json& warnings, const char* code, const std::string& tensor,
               const std::string& message);

// Loads that left their tensors and found memory all the same: findings of the runner, as evidence.
[[nodiscard]] nlohmann::json stray_evidence(const nlohmann::json& strays);
// Of a reference they are a warning.
void warn_of_strays(nlohmann::json& warnings, const nlohmann::json& strays);

// An output that the reference never writes is no answer to compare with; one that it writes in
// part is compared in that part, with a warning and `weak` saying so.
[[nodiscard]] std::optional<Ended> judge_reference(const nlohmann::json& findings,
                                                   nlohmann::json& warnings, std::string& weak);

// Whether all elements of all outputs were seen to be written: a kernel that leaves some is told
// so, and where the reference does nobody compares them.
[[nodiscard]] bool writes_all(const nlohmann::json& evidence, const nlohmann::json& warnings);

// Answers that compute nothing and would pass: `weak` says that the task is so. What an inout
// begins with (a lock, a counter that ends where it began) is no such answer where other outputs
// judge.
void note_weak_oracle(const nlohmann::json& found, const contract::Contract& contract,
                      nlohmann::json& warnings, std::string& weak);

// What times prove of which something that was to tell was not asked, or told nothing
// (gpu_timing.h).
inline constexpr const char* kDoubtfulTimes =
    "Nothing speaks against its times, but not all was asked that could: see the warnings.";

// What a task proves whose reference gives to other inputs what is right for these, too.
inline constexpr const char* kSameAnswers =
    "the reference's answer to other inputs is within the tolerance, so that one which ignores "
    "them "
    "would pass: let the answer hang on the inputs by more, or the tolerance be less.";
// Whether what lies in a slot of the referee's is right as the answer to another trial, too. The
// slot is to be filled anew after that.
[[nodiscard]] bool is_answer_of(RefereeSession& referee, std::uint32_t trial, std::uint32_t slot);

// The end that the candidate's own outputs make, if they do.
[[nodiscard]] std::optional<Ended> judge_outputs(const nlohmann::json& said, std::uint32_t trial);
// Where an output's error is that of fewer bits, or of inputs that cancel, and nobody can tell
// which (judge/precision.h): the task is weak.
void note_unclear_precision(const nlohmann::json& said, nlohmann::json& warnings,
                            std::string& weak);

// Of a device whose kernels reach all memory of the process that holds their clock.
[[nodiscard]] nlohmann::json host_memory_warning();

// Whose failure it is, for the report.
[[nodiscard]] Ended about_reference(Ended ended);
[[nodiscard]] Ended about_kernel(Ended ended);

// What the outputs are held against: "reference", "golden" or "none".
[[nodiscard]] const char* checked_against(const KernelTask& task);

// What a job says of a kernel that passed: what it was compared with, and how often.
[[nodiscard]] std::string passed_summary(const KernelTask& task);

}  // namespace assay::node
