// The generalised stage of a KernelJob that passed: the tasks it was not shown, each judged by a
// job of its own, as an evaluation would.
#include <algorithm>
#include <cmath>

#include "engine/node/kernel_job.h"
#include "engine/node/stage_clock.h"

namespace assay::node {
namespace {

using job::Verdict;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kToldSummaryBytes = 300;
// Three factors, each sixteen times as wide.
constexpr double kMostTimes = 16 * 16 * 16;
// Sizes next to each other differ by less, and by what their middles are taken of.
constexpr double kLeastTimes = 1.25;

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

// Rounding leaves as much more of an output as that is larger, and the absolute tolerance is meant
// for the outputs of the task that was asked: of inputs sixteen times as wide a product of matrices
// is 256 times as large, and one that was summed in another order is not wrong for that. By the one
// in the middle: of a power a few are huge, and the rest would be let pass whatever it is.
std::optional<KernelTask> KernelJob::eased(KernelTask part, const json& expected,
                                           json& told) const {
  for (contract::Arg& arg : part.kernel.contract.args) {
    if (!arg.is_tensor() || !arg.is_written()) continue;
    const json asked = expected_.value(arg.name, json::object());
    const double larger = expected.value(arg.name, json::object()).value("middle_size", 0.0) /
                          asked.value("middle_size", 0.0);
    const double times = std::min(larger, kMostTimes);
    if (!std::isfinite(larger) || times < kLeastTimes) continue;
    arg.tensor_spec->tolerance = {.atol = asked.at("atol").get<double>() * times,
                                  .rtol = asked.at("rtol").get<double>()};
    told[arg.name] = times;
  }
  return told.empty() ? std::nullopt : std::optional(std::move(part));
}

json KernelJob::generalised_line(const HiddenTask& hidden) {
  json line = {{"changed", hidden.changed}};
  const auto part = [&] { return hidden_part(task_, hidden); };
  Hidden judged = judge_hidden(part());
  if (judged.conclusion.verdict == Verdict::wrong_output) {
    json times = json::object();
    auto easier = eased(part(), judged.expected, times);
    // However late: who was slow and wrong is not let off for it.
    if (easier) {
      Hidden again = judge_hidden(std::move(*easier));
      if (again.conclusion.verdict == Verdict::passed) {
        line["atol_times"] = std::move(times);
        judged = std::move(again);
      }
    }
  }
  const Conclusion& conclusion = judged.conclusion;
  std::string unjudged = speaks_of_kernel(conclusion) ? why_unjudged(part()) : "";
  const bool broke = speaks_of_kernel(conclusion) && unjudged.empty();
  const bool passed = conclusion.verdict == Verdict::passed;
  line["outcome"] = passed ? "held" : broke ? "broke" : "no answer";
  if (!passed) {
    line["verdict"] = job::name(conclusion.verdict);
    line["summary"] = conclusion.body.value("summary", "").substr(0, kToldSummaryBytes);
  }
  if (!unjudged.empty()) line["reason"] = std::move(unjudged);
  if (broke) note_broken(line);
  return line;
}

void KernelJob::generalise_stage() {
  StageClock clock(reporter_, "generalised");
  json& body = clock.body;
  body = {{"asked", task_.hidden.size()}, {"held", 0}, {"tasks", json::array()}};
  if (!task_.hidden_note.empty()) body["note"] = task_.hidden_note;
  const auto until = Clock::now() + task_.timeout;
  int held = 0;
  for (const HiddenTask& hidden : task_.hidden) {
    json line = {{"changed", hidden.changed}, {"outcome", "not run: the time was spent"}};
    if (Clock::now() < until) line = generalised_line(hidden);
    held += line.at("outcome") == "held" ? 1 : 0;
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

KernelJob::Hidden KernelJob::judge_hidden(KernelTask part) {
  QuietReporter quiet(stop_);
  KernelJob job(runners_, compiler_, pythons_, gpu_, std::move(part), quiet, stop_);
  Hidden judged{.conclusion = job.run()};
  judged.expected = std::move(job.expected_);
  return judged;
}

// A kernel that broke where the reference does not even agree with itself, as with indices that
// point outside on that size: both read what happens to lie there. "" where it does.
std::string KernelJob::why_unjudged(KernelTask part) {
  if (task_.reference->is_python()) return "";
  const Conclusion alone = judge_hidden(reference_alone(std::move(part))).conclusion;
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
