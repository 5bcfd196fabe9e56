#include "engine/node/sweep_job.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/node/median.h"

namespace assay::node {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kFirstTrials = 10;
constexpr std::size_t kFinalists = 4;
// Slower than the best by more than this is no tie, whatever the interval.
constexpr double kWorthComparing = 1.10;
// Counts of instructions say nothing finer: within this of the best a variant is tied with it.
constexpr double kSameCount = 1.01;
// Below this two events around a launch are most of what is measured: the graph's slope counts.
constexpr double kShortNs = 15'000;
constexpr unsigned kMostCompilers = 8;
constexpr std::size_t kToldSummaryBytes = 300;
// Of the budget: what is compiled and never run ranks nothing.
constexpr int kShareOfCompiling = 2;
constexpr const char* kSuspect = "suspect";

const json* stage_of(const Conclusion& conclusion, const char* name) {
  const auto stages = conclusion.body.find("stages");
  if (stages == conclusion.body.end()) return nullptr;
  for (const auto& stage : *stages) {
    if (stage.value("name", "") == name) return &stage.at("body");
  }
  return nullptr;
}

// Of a timed stage on a GPU.
std::optional<double> slope_of(const json& timed) {
  if (!timed.value("graph_counts", false) || !timed.contains("views")) return std::nullopt;
  const json graph = timed.at("views").value("graph", json::object());
  const auto found = graph.find("median_ns");
  return found == graph.end() ? std::nullopt : std::optional(found->get<double>());
}

// What something speaks against is quicker than nothing else.
template <typename Row>
bool is_quicker_alone(const Row* a, const Row* b) {
  if ((a->trust == kSuspect) != (b->trust == kSuspect)) return b->trust == kSuspect;
  return a->cold_ns < b->cold_ns;
}

// The first of those in their order, and the quickest of those launched alone: a slope that saves
// more is to be held against it.
template <typename Row>
void keep_best(std::vector<Row*>& racing, std::size_t count) {
  const auto alone = std::min_element(racing.begin(), racing.end(), is_quicker_alone<Row>);
  if (const auto at = static_cast<std::size_t>(alone - racing.begin()); at >= count) {
    std::swap(racing[at], racing[count++]);
  }
  racing.resize(count);
}

}  // namespace

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
  by_time_ ? find_ties() : find_equal_counts();
  return conclude();
}

bool SweepJob::budget_left() const { return Clock::now() < until_; }

json SweepJob::request_for(const Row& row, std::uint32_t trials, With with) const {
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
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.compiled; });
  clock.body = {{"variants", rows_.size()}, {"compiled", compiled}};
  (void)clock.tell(std::nullopt);
}

std::vector<SweepJob::Row*> SweepJob::alive() {
  std::vector<Row*> rows;
  for (Row& row : rows_) {
    if (row.compiled && (row.verdict.empty() || row.verdict == "passed")) rows.push_back(&row);
  }
  return rows;
}

void SweepJob::measure_in_rounds() {
  const auto wanted = request_.at("options").at("num_trials").get<std::uint32_t>();
  std::vector<Row*> racing = alive();
  for (std::uint32_t trials = std::min(kFirstTrials, wanted);;
       trials = std::min(trials * 4, wanted)) {
    const bool is_first = racing.empty() || !racing.front()->measured;
    for (Row* row : racing) {
      if (!budget_left()) return;
      evaluate(*row, trials, is_first ? With::reference : With::nothing);
    }
    std::erase_if(racing, [](const Row* row) { return row->verdict != "passed"; });
    // Instructions are counted once and for all.
    if (trials >= wanted || !by_time_ || racing.empty()) return;
    rank_by_one_clock();
    std::sort(racing.begin(), racing.end(),
              [](const Row* a, const Row* b) { return a->cost < b->cost; });
    keep_best(racing, std::max(std::min(kFinalists, racing.size()), (racing.size() + 1) / 2));
  }
}

void SweepJob::evaluate(Row& row, std::uint32_t trials, With with) {
  StageClock clock(reporter_, "ran");
  const Conclusion conclusion = judge_(request_for(row, trials, with), stop_);
  if (stop_.stop_requested()) throw JobStopped();
  stay_on_device(conclusion);
  row.verdict = job::name(conclusion.verdict);
  row.summary = conclusion.body.value("summary", "");
  // The first time speaks of the output; later ones of the time, and of what speaks against it.
  const json trust = conclusion.body.value("trust", json(nullptr));
  if (row.trust.is_null() || trust == kSuspect) row.trust = trust;
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

void SweepJob::take_measurement(Row& row, const Conclusion& conclusion) {
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
  for (const Row& row : rows_) {
    if (!row.measured || row.verdict != "passed") continue;
    is_short |= row.cold_ns < kShortNs;
    have_graphs &= row.graph_ns.has_value();
  }
  for (Row& row : rows_) {
    if (by_time_ && row.measured) row.cost = is_short && have_graphs ? *row.graph_ns : row.cold_ns;
  }
}

std::vector<SweepJob::Row*> SweepJob::ranked() {
  std::vector<Row*> rows = alive();
  std::erase_if(rows, [](const Row* row) { return !row->measured; });
  const auto is_suspect = [](const Row* row) { return row->trust == kSuspect; };
  if (!std::all_of(rows.begin(), rows.end(), is_suspect)) std::erase_if(rows, is_suspect);
  std::sort(rows.begin(), rows.end(), [](const Row* a, const Row* b) { return a->cost < b->cost; });
  return rows;
}

void SweepJob::find_ties() {
  rank_by_one_clock();
  const std::vector<Row*> rows = ranked();
  if (rows.size() < 2) return;
  // A slope is believed no sooner than side by side: a kernel that does less on what the launch
  // before has left has the least of all.
  Row* best = *std::min_element(rows.begin(), rows.end(), is_quicker_alone<Row>);
  if (Row* faster = compare_with(*best, rows); faster != nullptr) {
    for (Row* row : rows) {
      row->against_best = nullptr;
      row->tied = false;
    }
    best = faster;
    (void)compare_with(*best, rows);
  }
  // What two take side by side says more than what each took by itself.
  best->leads = true;
  for (Row* row : rows) {
    if (row == best || row->cost >= best->cost) continue;
    const double ratio =
        row->against_best.is_object() ? row->against_best.value("ratio", 1.0) : 1.0;
    row->cost = best->cost / (ratio > 0 && ratio < 1 ? ratio : 1.0);
  }
}

SweepJob::Row* SweepJob::compare_with(Row& best, const std::vector<Row*>& ranked) {
  Row* faster = nullptr;
  double most = 1;
  for (Row* row : ranked) {
    if (row == &best || row->cost > best.cost * kWorthComparing) continue;
    if (!budget_left()) {
      ties_are_open_ = true;
      break;
    }
    const json compared = compare(*row, best);
    if (!compared.is_object()) continue;
    row->against_best = compared;
    const std::string verdict = row->against_best.value("verdict", "");
    row->tied = verdict == "indistinguishable";
    const double ratio = row->against_best.value("ratio", 1.0);
    if (verdict == "faster" && ratio > most) {
      faster = row;
      most = ratio;
    }
  }
  return faster;
}

json SweepJob::compare(const Row& row, const Row& with) {
  StageClock clock(reporter_, "ran");
  json request = request_for(row, request_.at("options").at("num_trials"), With::nothing);
  request["ref_kernel"] = with.variant.at("kernel");
  const Conclusion compared = judge_(request, stop_);
  if (stop_.stop_requested()) throw JobStopped();
  const json* timed = stage_of(compared, "timed");
  if (timed == nullptr || !timed->value("speedup", json()).is_object()) return nullptr;
  tell(row, "compared with the best", clock);
  return timed->at("speedup");
}

// They are what they are, whoever counts: no comparison is needed.
void SweepJob::find_equal_counts() {
  const std::vector<Row*> rows = ranked();
  for (Row* row : rows) {
    row->tied = row != rows.front() && row->cost <= rows.front()->cost * kSameCount;
  }
}

void SweepJob::tell(const Row& row, const char* what, StageClock& clock) const {
  clock.body = {{"id", row.variant.at("name")},
                {"status", row.verdict},
                {"what", what},
                {"runs", row.runs},
                {"total", rows_.size()}};
  if (row.measured) clock.body[by_time_ ? "median_ns" : "thread_instructions"] = row.cost;
  (void)clock.tell(std::nullopt);
}

json SweepJob::line_of(const Row& row, std::size_t rank) const {
  json line = {{"name", row.variant.at("name")},
               {"parameters", row.variant.at("parameters")},
               {"verdict", row.verdict.empty() ? json(nullptr) : json(row.verdict)}};
  if (row.verdict.empty()) {
    line["note"] = row.compiled ? "not run: the budget was spent"
                                : "not compiled within the half of the budget that is for it";
    return line;
  }
  if (!row.measured) {
    line["summary"] = row.summary.substr(0, kToldSummaryBytes);
    return line;
  }
  line["rank"] = row.tied ? 1 : rank;
  line["trust"] = row.trust;
  line[by_time_ ? "median_ns" : "thread_instructions"] = row.cost;
  const double best = rows_.front().cost;
  line["relative"] = best > 0 ? json(row.cost / best) : json(nullptr);
  if (by_time_) line["runs"] = row.runs;
  if (!row.against_best.is_null()) line["against_best"] = row.against_best;
  if (row.tied) line["tied_with_best"] = true;
  return line;
}

std::string SweepJob::summary_of_passed() const {
  const auto count = [&](auto is_such) {
    return std::count_if(rows_.begin(), rows_.end(), is_such);
  };
  const auto passed = count([](const Row& row) { return row.measured; });
  const auto tied = count([](const Row& row) { return row.tied; });
  const auto waiting = count([](const Row& row) { return row.verdict.empty(); });
  const auto failed = static_cast<std::ptrdiff_t>(rows_.size()) - passed - waiting;
  std::string text = "Best of " + std::to_string(rows_.size()) + ": " +
                     rows_.front().variant.at("name").get<std::string>();
  if (tied > 0) text += " (" + std::to_string(tied) + " more cannot be told from it)";
  text += "; " + std::to_string(passed) + " passed";
  const auto suspect = count([](const Row& row) { return row.measured && row.trust == kSuspect; });
  if (suspect > 0) text += " (" + std::to_string(suspect) + " of them suspect)";
  text += ", " + std::to_string(failed) + " did not";
  if (waiting > 0) text += ", " + std::to_string(waiting) + " were not run for the budget";
  const auto raw = count([](const Row& row) { return row.verdict.empty() && !row.compiled; });
  if (raw > 0) text += " (" + std::to_string(raw) + " of them not compiled in its half)";
  text += ".";
  if (ties_are_open_)
    text += " The budget ended before all near the best were compared with it: ranks may be ties.";
  return text;
}

Conclusion SweepJob::conclude() {
  for (Row& row : rows_) row.measured = row.measured && row.verdict == "passed";
  // What something speaks against stands behind all that nothing does.
  std::stable_sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) {
    if (a.measured != b.measured) return a.measured;
    const bool is_suspect = a.trust == kSuspect;
    if (is_suspect != (b.trust == kSuspect)) return !is_suspect;
    if (a.leads != b.leads) return a.leads;
    return a.measured && a.cost < b.cost;
  });
  Conclusion conclusion{.verdict = job::Verdict::passed};
  json& body = conclusion.body;
  // Where none was measured there is no order.
  if (rows_.front().measured) body["ranked_by"] = by_time_ ? "median_ns" : "thread_instructions";
  if (!by_time_) {
    body["note"] =
        "Without a GPU the order is that of the instructions that all threads execute in the first "
        "trial, which is no order of times; within 1 % of the best they are ties.";
  }
  body["table"] = json::array();
  std::size_t rank = 1;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    // Equal counts are no order.
    const bool is_equal = !by_time_ && i > 0 && rows_[i].cost == rows_[i - 1].cost &&
                          rows_[i].trust == rows_[i - 1].trust;
    if (!is_equal) rank = i + 1;
    body["table"].push_back(line_of(rows_[i], rank));
  }
  const Row& first = rows_.front();
  if (first.measured) {
    body["best"] = body["table"].front();
    body["summary"] = summary_of_passed();
  } else {
    const auto verdict = job::verdict_from(first.verdict);
    conclusion.verdict = verdict.value_or(job::Verdict::timed_out);
    body["summary"] = verdict ? "No variant passed. The first: " + first.summary
                              : "No variant was run within the budget. Give it a larger budget_s.";
  }
  reporter_.tell({.record = {.name = "concluded", .status = job::StageStatus::passed}});
  return conclusion;
}

}  // namespace assay::node
