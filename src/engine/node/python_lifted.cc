// What becomes of a PythonJob's timed stage once its source is lifted (python_lift.h): device
// code's own times in the place of the interpreter's, which stand beside them.
#include <algorithm>

#include "engine/contract/fixed_contents.h"
#include "engine/node/python_job.h"
#include "engine/node/python_lift.h"
#include "engine/node/trial_judgement.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr const char* kLiftedNote =
    "GPU time of all its launches between two events, repeated without Python, the L2 cache "
    "flushed "
    "before (cold); `views` has them warm and as the slope of a graph, `in_place` the wall time of "
    "a "
    "call where Python makes the launches.";

// What was measured where the source runs, to stand beside.
json taken_in_place(json& body) {
  json in_place = json::object();
  for (const char* key : {"clock", "note", "samples_ns", "reference_samples_ns", "speedup",
                          "speedup_note", "runs_examined", "calls_timed", "calls_per_turn"}) {
    if (!body.contains(key)) continue;
    in_place[key] = std::move(body[key]);
    body.erase(key);
  }
  return in_place;
}

}  // namespace

std::string PythonJob::why_no_lift() const {
  const bool clear = std::none_of(evidence_.begin(), evidence_.end(), [](const json& item) {
    return item.at("result") == "disagrees" && item.value("which", "") == "kernel";
  });
  if (!clear) return "something speaks against it";
  if (!referee_->is_on_device()) return "its contract goes through the host's memory";
  return {};
}

PythonJob::Step PythonJob::lift(json& body) {
  if (gpu_ == nullptr) return std::nullopt;
  std::string why = why_no_lift();
  Step ended;
  if (why.empty()) {
    PythonLift lift(
        {.pool = *pool_,
         .referee = *referee_,
         .inputs = *inputs_,
         .has_answer = !task_.expected.empty(),
         .trials = task_.num_trials,
         .may_add_trials = task_.may_add_trials,
         .warmups = task_.num_warmup,
         .method = task_.timing_method,
         .client = task_.client,
         .others_are_visible = runners_.share_processes(),
         .floor = floor_of(pool_->gpu().facts, contract_, writes_all(evidence_, warnings_)),
         .works_on_contents = contract::works_on_contents(contract_),
         .stop = stop_},
        {.session = kernel_.get(), .no_capture = kernel_loaded_.no_capture, .name = "kernel"},
        reference_ ? std::optional(PythonLift::Side{.session = reference_.get(),
                                                    .no_capture = reference_loaded_.no_capture,
                                                    .name = "ref_kernel"})
                   : std::nullopt,
        [this] { end_python(); });
    ended = lift.lift();
    why = lift.why_not();
    if (!why.empty() && !lift.launched().is_null()) evidence_.push_back(lift.launched());
    if (why.empty()) {
      json in_place = taken_in_place(body);
      body.update(lift.measured());
      body["clock"] = "gpu";
      body["note"] = kLiftedNote;
      body["in_place"] = std::move(in_place);
      body["lifted"] = lift.told();
      body["lifted"]["runner_reused"] = lift.runner_reused();
      for (const auto& warning : body["warnings"]) warnings_.push_back(warning);
      lifted_ = true;
      if (lift.is_doubtful() && weak_.empty()) weak_ = kDoubtfulTimes;
      if (!task_.checks.empty() || !task_.metrics_sections.empty()) {
        kernel_sequence_ = lift.kernel_sequence();
        reference_sequence_ = lift.reference_sequence();
      }
      kernel_timing_ = timing_facts(body, "views", "samples_ns");
      reference_timing_ = timing_facts(body, "reference_views", "reference_samples_ns");
      evidence_.push_back({{"check", "lifted"},
                           {"result", "agrees"},
                           {"which", "kernel"},
                           {"detail", lift.detail()}});
    }
  }
  if (!lifted_) why_no_lift_ = why;
  if (!lifted_ && !ended) {
    evidence_.push_back({{"check", "lifted"},
                         {"result", "unknown"},
                         {"which", "kernel"},
                         {"detail", "not lifted: " + why}});
  }
  return ended;
}

// Nothing that runs user code is left while its launches are repeated.
void PythonJob::end_python() {
  std::vector<std::unique_ptr<RunnerProcess>> used;
  for (auto* session : {&kernel_, &reference_}) {
    if (*session) {
      (*session)->dismiss();  // what is given back is ended in the background
      used.push_back((*session)->release());
    }
    session->reset();
  }
  spares_->give_back(std::move(used));
}

}  // namespace assay::node
