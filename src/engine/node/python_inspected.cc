// Of PythonJob: `checks` where there is no GPU, of the kernels that a source launches on the
// emulator. Its own process looks at them, so that all of it is a claim: it changes no verdict, and
// a source that says nothing of its mistakes is judged by its outputs as every other.
#include <algorithm>

#include "engine/node/division_places.h"
#include "engine/node/kernel_inspection.h"
#include "engine/node/python_job.h"
#include "engine/node/referee_slots.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr const char* kOwnWord =
    "The launches were looked at in the source's own process: what is told of them is its word, "
    "and no verdict rests on it.";
constexpr const char* kContents =
    "Global memory counts as initialised once anything of an allocation was written, and as a "
    "whole "
    "if it was there before the call.";
constexpr const char* kLocals = "locals";  // of a debug build, and nothing beside it
constexpr const char* kNoLaunch = "Nothing was looked at: the call launched no kernel of its own.";
constexpr const char* kInterpreted =
    "Kernels of Triton were not looked at: its interpreter runs them on CPU tensors. Alone, as "
    "kernel_type `triton`, each can be checked.";

// Outputs that hold nothing until the call writes them.
std::vector<std::string> unwritten(const contract::Contract& contract) {
  std::vector<std::string> names;
  for (const contract::Arg& arg : contract.args) {
    const bool is_output = arg.is_tensor() && arg.is_written() && !arg.is_read();
    if (is_output && !arg.tensor_spec->init && !arg.tensor_spec->data) names.push_back(arg.name);
  }
  return names;
}

double device_ms(const json& built) {
  double sum = 0;
  for (const auto& one : built) sum += one.value("device_ms", 0.0);
  return sum;
}

bool has_kind(const json& findings, std::string_view kind) {
  return std::any_of(findings.begin(), findings.end(),
                     [&](const json& finding) { return finding.at("kind") == kind; });
}

void append(json& list, json more) {
  for (auto& one : more) {
    if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(std::move(one));
  }
}

}  // namespace

bool PythonJob::launches_on_emulator() const {
  return gpu_ == nullptr && builds_wrappers(task_.kernel);
}

// A process of its own, so that a fault there is no fault of what is judged, and a kernel that made
// its process hang or fall is looked at all the same.
std::variant<InspectedCall, Ended> PythonJob::look_at_launches(
    std::vector<std::string> what, std::chrono::nanoseconds execution_left, double& compile_ms) {
  const bool debug = is_among(what, kLocals);
  auto started = start_session("kernel");
  if (auto* ended = std::get_if<Ended>(&started)) return std::move(*ended);
  const auto session = std::get<std::unique_ptr<PythonSession>>(std::move(started));
  PythonLoaded loaded;
  if (auto ended = load(*session, task_.kernel, true, loaded, debug)) return std::move(*ended);
  session->group_inputs(input_groups_);
  if (auto ended = session->bind(called_, contract_, referee_->places())) return std::move(*ended);
  auto arena = inputs_->fill(0, kInspectedSlot);
  if (auto* ended = std::get_if<Ended>(&arena)) return std::move(*ended);
  auto limit = inspection_time(execution_left);
  auto said = session->inspect(std::get<LentArena>(std::move(arena)),
                               {.what = std::move(what),
                                .checked_blocks = task_.check_blocks,
                                .unwritten = unwritten(contract_),
                                .seed = inputs_->seed(0)},
                               limit);
  compile_ms += device_ms(session->built());
  return said;
}

void PythonJob::look_at_locals(json& checks, std::chrono::nanoseconds execution_left) {
  json& told = checks["locals"] = {{"ran", false}};
  const auto unseen = [&](const std::string& why) {
    checks["notes"].push_back("Uninitialised locals were not looked for" + why);
  };
  if (has_kind(checks["findings"], "deadlock")) {
    return unseen(": the kernel waits for what never comes.");
  }
  const auto began = std::chrono::steady_clock::now();
  double compile_ms = 0;
  auto answer = look_at_launches({kLocals}, execution_left, compile_ms);
  if (const auto* failed = std::get_if<Ended>(&answer)) {
    return unseen(", which takes a build with -G: " + failed->summary);
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  auto& said = std::get<InspectedCall>(answer);
  told = {{"ran", said.launches > 0},
          {"compile_ms", compile_ms},
          {"run_ms", std::max(took.count() - compile_ms, 0.0)}};
  append(checks["findings"], std::move(said.findings));
  append(checks["notes"], std::move(said.notes));
}

// Nobody but the source's own code can have written it, though no verdict came of that process.
void PythonJob::note_forged() {
  evidence_.push_back(
      {{"check", "checks"},
       {"result", "disagrees"},
       {"which", "kernel"},
       {"detail", "what came on the engine's channel while its launches were looked at"},
       {"message", "It spoke on the engine's own channel while its launches were looked at."}});
}

json PythonJob::checks_of_launches(const Step& ended, std::chrono::nanoseconds execution_left) {
  json out = {{"ran", false},
              {"checks", task_.checks},
              {"findings", json::array()},
              {"notes", json::array()}};
  json& notes = out["notes"];
  double compile_ms = 0;
  auto answer = look_at_launches(task_.checks, execution_left, compile_ms);
  if (const auto* failed = std::get_if<Ended>(&answer)) {
    notes.push_back("The inspection did not come to its end: " + failed->summary);
    if (failed->detail.value("forged", false)) note_forged();
    return out;
  }
  auto& said = std::get<InspectedCall>(answer);
  const bool has_triton = task_.kernel.source.find("triton") != std::string::npos;
  notes = std::move(said.notes);
  if (!said.raised.empty()) notes.push_back("The call raised " + said.raised);
  if (task_.kernel.kernel_type == "multi_kernel" && has_triton) notes.push_back(kInterpreted);
  if (said.launches == 0) {
    notes.push_back(kNoLaunch);
    return out;
  }
  notes.push_back(kOwnWord);
  if (is_among(task_.checks, "initialised")) notes.push_back(kContents);
  out["ran"] = true;
  out["findings"] = std::move(said.findings);
  out["blocks"] = {{"checked", said.checked_blocks}, {"of", said.blocks}};
  place_divisions(out["findings"], task_.kernel.source, "kernel.py");
  if (is_among(task_.checks, "initialised")) look_at_locals(out, execution_left);
  // The one fault that ended it is told already.
  const bool is_told =
      ended && ended->detail.value("code", "") == "device_fault" && out.at("findings").size() == 1;
  if (!is_told) checks_sentence_ = findings_sentence(out);
  return out;
}

}  // namespace assay::node
