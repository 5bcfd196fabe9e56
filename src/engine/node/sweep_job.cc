#include "engine/node/sweep_job.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/node/median.h"
#include "engine/node/sweep_agreement.h"
#include "engine/node/sweep_table.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kFinalists = 4;
// Below this two events around a launch are most of what is measured: the graph's slope counts.
constexpr double kShortNs = 15'000;
constexpr unsigned kMostCompilers = 8;
// Of the budget: what is compiled and never run ranks nothing.
constexpr int kShareOfCompiling = 2;

// Of a timed stage on a GPU.
std::optional<double> slope_of(const json& timed) {
  if (!timed.value("graph_counts", false) || !timed.contains("views")) return std::nullopt;
  const json graph = timed.at("views").value("graph", json::object());
  const auto found = graph.find("median_ns");
  return found == graph.end() ? std::nullopt : std::optional(found->get<double>());
}

// The first of those in their order, and the quickest of those launched alone: a slope that saves
// more is to be held against it.
void keep_best(std::vector<SweepRow*>& racing, std::size_t count) {
  const auto alone = std::min_element(racing.begin(), racing.end(), is_quicker_alone);
  if (const auto at = static_cast<std::size_t>(alone - racing.begin()); at >= count) {
    std::swap(racing[at], racing[count++]);
  }
  racing.resize(count);
}

// What a longer round could not ask of its times, a shorter one's trust does not hold for.
bool has_doubtful_times(const Conclusion& conclusion) {
  const auto warnings = conclusion.body.find("warnings");
  return warnings != conclusion.body.end() &&
         std::any_of(warnings->begin(), warnings->end(), [](const json& warning) {
           const std::string code = warning.value("code", "");
           return code == "not_shown_anew" || code == "few_examined" || code == "quick_in_graph" ||
                  code == "outputs_vary" || code == "times_not_held";
         });
}

// Of one that ran before: what else there is says that something was lacking, here and now.
bool is_word_on_kernel(job::Verdict verdict) {
  return verdict != job::Verdict::engine_fault && verdict != job::Verdict::unsupported &&
         verdict != job::Verdict::out_of_memory && verdict != job::Verdict::cancelled;
}

}  // namespace

const json* stage_of(const Conclusion& conclusion, const char* name) {
  const auto stages = conclusion.body.find("stages");
  if (stages == conclusion.body.end()) return nullptr;
  for (const auto& stage : *stages) {
    if (stage.value("name", "") == name) return &stage.at("body");
  }
  return nullptr;
}

job::Kind sweep_kind() {
  job::Kind kind = job::kernel_kind();
  kind.name = "sweep";
  kind.stages = {{.name = "received", .during = job::State::submitted},
                 {.name = "compiled", .during = job::State::compiling},
                 {.name = "ran", .during = job::State::profiling},
                 {.name = "concluded", .during = job::State::profiling}};
  return kind;
}

SweepJob::SweepJob(json request, KernelJudge judge, Reporter& reporter, std::stop_token stop)
    : request_(std::move(request)),
      judge_(std::move(judge)),
      reporter_(reporter),
      stop_(std::move(stop)) {
  for (const auto& variant : request_.at("variants")) rows_.push_back({.variant = variant});
}

Conclusion SweepJob::run() {
  const std::chrono::seconds budget(request_.at("budget_s").get<std::int64_t>());
  until_ = Clock::now() + budget;
  compile(Clock::now() + std::chrono::nanoseconds(budget) / kShareOfCompiling);
  measure_in_rounds();
  try_cut_again();
  hold_against_each_other();
  // Side by side each would be held against outputs that may be the wrong ones.
  if (have_disagreed(rows_)) return conclude();
  by_time_ ? find_ties() : find_equal_counts();
  return conclude();
}

json SweepJob::request_for(const SweepRow& row, std::uint32_t trials, With with) const {
  json request = {{"kernel", row.variant.at("kernel")}, {"options", request_.at("options")}};
  request["options"]["num_trials"] = trials;
  request["options"]["until"] = "timed";
  if (!device_.empty()) request["options"]["device"] = device_;
  if (with == With::reference && request_.contains("ref_kernel")) {
    request["ref_kernel"] = request_.at("ref_kernel");
  }
  return request;
}

void SweepJob::compile(Clock::time_point until) {
  StageClock clock(reporter_, "compiled");
  std::atomic<std::size_t> next{0};
  std::mutex guard;
  std::exception_ptr failure;
  const auto compile_more = [&] {
    for (std::size_t i = next++; i < rows_.size() && !stop_.stop_requested(); i = next++) {
      if (Clock::now() >= until) return;
      json request = request_for(rows_[i], kFirstTrials, With::nothing);
      request["options"]["until"] = "compiled";
      const Conclusion compiled = judge_(request, stop_);
      rows_[i].compiled = compiled.verdict == job::Verdict::passed;
      if (rows_[i].compiled) continue;
      rows_[i].verdict = job::name(compiled.verdict);
      rows_[i].summary = compiled.body.value("summary", "");
    }
  };
  // An exception that leaves a thread would end the engine with all its jobs.
  const auto work = [&] {
    try {
      compile_more();
    } catch (...) {
      next = rows_.size();
      const std::lock_guard lock(guard);
      failure = std::current_exception();
    }
  };
  const unsigned threads = std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostCompilers);
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads && i < rows_.size(); ++i) others.emplace_back(work);
  work();
  others.clear();  // joined
  if (failure) std::rethrow_exception(failure);
  if (stop_.stop_requested()) throw JobStopped();
  const auto compiled =
      std::count_if(rows_.begin(), rows_.end(), [](const SweepRow& row) { return row.compiled; });
  clock.body = {{"variants", rows_.size()}, {"compiled", compiled}};
  (void)clock.tell(std::nullopt);
}

std::vector<SweepRow*> SweepJob::alive() {
  std::vector<SweepRow*> rows;
  for (SweepRow& row : rows_) {
    if (row.compiled && (row.verdict.empty() || row.verdict == "passed")) rows.push_back(&row);
  }
  return rows;
}

void SweepJob::measure_in_rounds() {
  const auto wanted = request_.at("options").at("num_trials").get<std::uint32_t>();
  std::vector<SweepRow*> racing = alive();
  for (std::uint32_t trials = std::min(kFirstTrials, wanted);;
       trials = std::min(trials * 4, wanted)) {
    const bool is_first = racing.empty() || !racing.front()->measured;
    for (std::size_t i = 0; i < racing.size(); ++i) {
      if (!budget_left()) return;
      evaluate(*racing[i], trials, racing.size() - i);
    }
    std::erase_if(racing, [](const SweepRow* row) { return row->verdict != "passed"; });
    if (is_first) hold_against_each_other();
    // Instructions are counted once and for all.
    if (trials >= wanted || !by_time_ || racing.empty() || have_disagreed(rows_)) return;
    rank_by_one_clock();
    std::sort(racing.begin(), racing.end(),
              [](const SweepRow* a, const SweepRow* b) { return a->cost < b->cost; });
    keep_best(racing, std::max(std::min(kFinalists, racing.size()), (racing.size() + 1) / 2));
  }
}

// In each round beside the reference: who is right while few runs are asked of it may do something
// else in those that it is ranked by.
void SweepJob::evaluate(SweepRow& row, std::uint32_t trials, std::size_t waiting) {
  StageClock clock(reporter_, "ran");
  const json request = request_for(row, trials, With::reference);
  Judged judged = judge_within_budget(request, waiting);
  const bool is_failed = judged.conclusion.verdict == job::Verdict::engine_fault;
  if (is_failed && budget_left()) judged = judge_within_budget(request, waiting);
  const Conclusion& conclusion = judged.conclusion;
  stay_on_device(conclusion);
  if (judged.is_cut) {
    // What an earlier round has found stands.
    if (!row.measured) row.cut_after_s = judged.limit_s;
    return tell(row, "cut by the budget", clock);
  }
  if (row.measured && !is_word_on_kernel(conclusion.verdict)) {
    row.why_not_again = conclusion.body.value("summary", "");
    return tell(row, "not timed again", clock);
  }
  row.cut_after_s = 0;
  row.why_not_again.clear();
  row.verdict = job::name(conclusion.verdict);
  row.summary = conclusion.body.value("summary", "");
  // The first time speaks of the task; later ones of the time, and of what speaks against it.
  const json trust = conclusion.body.value("trust", json(nullptr));
  if (row.trust.is_null() || trust == kSuspect) row.trust = trust;
  if (row.trust == "verified" && has_doubtful_times(conclusion)) row.trust = trust;
  if (conclusion.verdict == job::Verdict::passed) take_measurement(row, conclusion);
  tell(row, "evaluated", clock);
}

// Times of two GPUs rank nothing, be they of one model: where the first variant ran all others do.
void SweepJob::stay_on_device(const Conclusion& conclusion) {
  const auto environment = conclusion.body.find("environment");
  if (environment == conclusion.body.end()) return;
  const std::string device = environment->value("device", "");
  if (device.starts_with("gpu:")) device_ = device;
}

void SweepJob::take_measurement(SweepRow& row, const Conclusion& conclusion) {
  const json* timed = stage_of(conclusion, "timed");
  const json* validated = stage_of(conclusion, "validated");
  row.measured = true;
  by_time_ = timed != nullptr && timed->value("clock", "") == "gpu";
  if (by_time_) {
    row.cost = row.cold_ns = median(timed->at("samples_ns").get<std::vector<double>>());
    row.graph_ns = slope_of(*timed);
    row.runs = static_cast<std::uint32_t>(timed->at("samples_ns").size());
  } else if (validated != nullptr) {
    row.cost = validated->at("counters").value("thread_instructions", 0.0);
    row.runs = 1;
  }
}

void SweepJob::rank_by_one_clock() {
  bool is_short = false, have_graphs = true;
  for (const SweepRow& row : rows_) {
    if (!row.measured || row.verdict != "passed") continue;
    is_short |= row.cold_ns < kShortNs;
    have_graphs &= row.graph_ns.has_value();
  }
  if (!by_time_) return;
  const bool by_graph = is_short && have_graphs;
  for (SweepRow& row : rows_) {
    if (!row.measured || row.verdict != "passed") continue;
    row.cost = by_graph ? *row.graph_ns : row.cold_ns;
    row.cost_basis = by_graph ? "graph" : "cold";
  }
}

std::vector<SweepRow*> SweepJob::ranked() {
  std::vector<SweepRow*> rows = alive();
  std::erase_if(rows, [](const SweepRow* row) { return !row->measured; });
  const auto is_suspect = [](const SweepRow* row) { return row->is_suspect(); };
  if (!std::all_of(rows.begin(), rows.end(), is_suspect)) std::erase_if(rows, is_suspect);
  std::sort(rows.begin(), rows.end(),
            [](const SweepRow* a, const SweepRow* b) { return a->cost < b->cost; });
  return rows;
}

void SweepJob::tell(const SweepRow& row, const char* what, StageClock& clock) const {
  clock.body = {{"id", row.variant.at("name")},
                {"status", row.verdict},
                {"what", what},
                {"runs", row.runs},
                {"total", rows_.size()}};
  if (row.measured && by_time_) clock.body["median_ns"] = row.cold_ns;
  if (row.measured && !by_time_) clock.body["thread_instructions"] = row.cost;
  (void)clock.tell(std::nullopt);
}

Conclusion SweepJob::conclude() {
  const auto by = by_time_ ? SweepTable::By::time : SweepTable::By::instructions;
  Conclusion conclusion = SweepTable(rows_, by, ties_are_open_).conclude();
  reporter_.tell({.record = {.name = "concluded", .status = job::StageStatus::passed}});
  return conclusion;
}

}  // namespace assay::node
