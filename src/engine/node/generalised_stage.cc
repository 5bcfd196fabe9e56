// The generalised stage of a KernelJob that passed: the tasks it was not shown, each judged by a
// job of its own, as an evaluation would.
#include <algorithm>

#include "engine/node/kernel_job.h"
#include "engine/node/stage_clock.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kToldSummaryBytes = 300;

// What a part of a job says is for that job alone.
class QuietReporter final : public Reporter {
 public:
  explicit QuietReporter(const std::stop_token& stop) : stop_(stop) {}
  void tell(StageEvent event) override { (void)event; }
  void settle() override {
    if (stop_.stop_requested()) throw JobStopped();
  }

 private:
  const std::stop_token& stop_;
};

KernelTask hidden_part(const KernelTask& whole, const HiddenTask& hidden) {
  KernelTask part;
  part.judged_name = whole.judged_name;
  part.reference_name = whole.reference_name;
  part.kernel = whole.kernel;
  part.kernel.contract = hidden.contract;
  part.reference = whole.reference;
  part.reference->contract = hidden.reference_contract;
  part.validation_trials = 1;
  part.timeout = whole.timeout;
  part.atol = whole.atol;
  part.rtol = whole.rtol;
  part.until = Until::validated;
  part.device = whole.device;
  part.client = whole.client;
  return part;
}

// What a kernel does wrong; what else may end a job says nothing of it: our own faults, memory that
// was not to be had, a task that the reference cannot take.
bool is_fault_of_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::wrong_output:
    case Verdict::crashed:
    case Verdict::timed_out:
    case Verdict::launch_failed:
    case Verdict::compile_failed:
      return true;
    default:
      return false;
  }
}

bool speaks_of_kernel(const Conclusion& conclusion) {
  const json detail = conclusion.body.value("detail", json::object());
  return is_fault_of_code(conclusion.verdict) && detail.value("which", "") == "kernel";
}

// The reference in the kernel's place: where it is not right by itself, nobody can be.
KernelTask reference_alone(KernelTask part) {
  part.kernel = *part.reference;
  return part;
}

}  // namespace

void KernelJob::generalise_stage() {
  StageClock clock(reporter_, "generalised");
  json& body = clock.body;
  body = {{"asked", task_.hidden.size()}, {"held", 0}, {"tasks", json::array()}};
  if (!task_.hidden_note.empty()) body["note"] = task_.hidden_note;
  const auto until = Clock::now() + task_.timeout;
  int held = 0;
  for (const HiddenTask& hidden : task_.hidden) {
    json line = {{"changed", hidden.changed}};
    if (Clock::now() >= until) {
      line["outcome"] = "not run: the time was spent";
      body["tasks"].push_back(std::move(line));
      continue;
    }
    const Conclusion conclusion = judge_hidden(hidden_part(task_, hidden));
    std::string unjudged;
    if (speaks_of_kernel(conclusion)) unjudged = why_unjudged(hidden);
    const bool broke = speaks_of_kernel(conclusion) && unjudged.empty();
    const bool passed = conclusion.verdict == Verdict::passed;
    held += passed ? 1 : 0;
    line["outcome"] = passed ? "held" : broke ? "broke" : "no answer";
    if (!passed) {
      line["verdict"] = job::name(conclusion.verdict);
      line["summary"] = conclusion.body.value("summary", "").substr(0, kToldSummaryBytes);
    }
    if (!unjudged.empty()) line["reason"] = std::move(unjudged);
    if (broke) note_broken(line);
    body["tasks"].push_back(std::move(line));
  }
  body["held"] = held;
  generalised_sentence_ = "It held on " + std::to_string(held) + " of " +
                          std::to_string(task_.hidden.size()) + " hidden tasks";
  const bool sizes_varied =
      std::any_of(task_.hidden.begin(), task_.hidden.end(),
                  [](const HiddenTask& hidden) { return hidden.changed.contains("sizes"); });
  generalised_sentence_ += sizes_varied ? "." : "; no other sizes were tried.";
  (void)clock.tell(std::nullopt);
}

Conclusion KernelJob::judge_hidden(KernelTask part) {
  QuietReporter quiet(stop_);
  return KernelJob(runners_, compiler_, pythons_, gpu_, std::move(part), quiet, stop_).run();
}

// A kernel that broke where the reference does not even agree with itself, as with indices that
// point outside on that size: both read what happens to lie there. "" where it does.
std::string KernelJob::why_unjudged(const HiddenTask& hidden) {
  if (task_.reference->is_python()) return "";
  const Conclusion alone = judge_hidden(reference_alone(hidden_part(task_, hidden)));
  if (!speaks_of_kernel(alone) && alone.body.value("trust", json()) != "suspect") return "";
  return ("The reference does not agree with itself there: " + alone.body.value("summary", ""))
      .substr(0, kToldSummaryBytes);
}

// One finding for all of them: the first says where.
void KernelJob::note_broken(const json& line) {
  for (const json& item : evidence_) {
    if (item.at("check") == "generalises") return;
  }
  evidence_.push_back({{"check", "generalises"},
                       {"which", "kernel"},
                       {"result", "disagrees"},
                       {"changed", line.at("changed")},
                       {"verdict", line.at("verdict")},
                       {"summary", line.at("summary")}});
}

}  // namespace assay::node
