#include "tools/job_counters.h"

#include <random>

#include "tests/catch.h"

using namespace assay;
using namespace assay::tools;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

struct Counting {
  JobCounters::Clock::time_point now{};
  JobCounters counters{[this] { return now; }};

  void pass(double seconds) {
    now += std::chrono::duration_cast<JobCounters::Clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  void tell(const std::string& job, const char* stage, double elapsed_ms, json body = {},
            job::StageStatus status = job::StageStatus::passed) {
    counters.told(job, {.name = stage,
                        .status = status,
                        .elapsed_ms = elapsed_ms,
                        .body = body.is_null() ? json::object() : std::move(body)});
  }
};

}  // namespace

TEST_CASE("a GPU counts as held from its lease to the end of the timed stage", "[counters]") {
  Counting one;
  one.counters.submitted("a");
  one.pass(1);
  one.tell("a", "prepared", 5, {{"device", "gpu:2"}, {"lease_wait_ms", 250.0}});
  one.pass(2);
  JobCounts counts = one.counters.counts();
  CHECK(counts.leases_returned == 0);
  CHECK(counts.gpus.at("gpu:2").held_s == Approx(2));
  one.tell("a", "timed", 100);
  one.pass(4);
  one.counters.ended("a", job::Verdict::passed, false);
  counts = one.counters.counts();
  CHECK(counts.lease_waits.count == 1);
  CHECK(counts.lease_waits.total_s == Approx(0.25));
  CHECK(counts.leases_returned == 1);
  CHECK(counts.gpus.at("gpu:2").held_s == Approx(2));
  CHECK(counts.end_to_end.total_s == Approx(7));
}

TEST_CASE("a job that dies with a GPU gives it back at its end", "[counters]") {
  Counting one;
  one.counters.submitted("a");
  one.tell("a", "prepared", 5, {{"device", "gpu:0"}, {"lease_wait_ms", 0.0}});
  one.pass(3);
  one.counters.ended("a", job::Verdict::crashed, false);
  const JobCounts counts = one.counters.counts();
  CHECK(counts.leases_returned == 1);
  CHECK(counts.gpus.at("gpu:0").held_s == Approx(3));
}

TEST_CASE("a capture into a graph counts as made only where the graph was timed", "[counters]") {
  Counting one;
  one.counters.submitted("a");
  one.tell("a", "timed", 1,
           {{"views", {{"graph", {{"unavailable", "no"}}}}},
            {"reference_views", {{"graph", {{"median_ns", 5.0}}}}}});
  const JobCounts counts = one.counters.counts();
  CHECK(counts.captures_tried == 2);
  CHECK(counts.captures_made == 1);
}

TEST_CASE("a stage that was skipped is no stage", "[counters]") {
  Counting one;
  one.counters.submitted("a");
  one.tell("a", "timed", 0, {}, job::StageStatus::skipped);
  CHECK(one.counters.counts().timings.count == 0);
}

TEST_CASE("only the ends of the last five minutes are recent", "[counters]") {
  Counting one;
  for (const char* job : {"a", "b", "c"}) one.counters.submitted(job);
  one.counters.ended("a", job::Verdict::passed, false);
  one.pass(200);
  one.counters.ended("b", job::Verdict::passed, false);
  one.pass(101);
  CHECK(one.counters.counts().ended_lately == 1);
  one.pass(200);
  CHECK(one.counters.counts().ended_lately == 0);
  CHECK(one.counters.counts().active == 1);
}

TEST_CASE("counts of any history agree with a tally of it", "[counters]") {
  std::mt19937 random(7);
  const auto chance = [&](unsigned in) { return random() % in == 0; };
  Counting one;
  std::uint64_t ended = 0, faults = 0, failed = 0, compiled = 0, hits = 0, right = 0, wrong = 0;
  double compile_ms = 0, longest_ms = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string job = std::to_string(i);
    one.counters.submitted(job);
    const double ms = 1.0 + static_cast<double>(random() % 1000);
    const bool breaks = chance(3);
    const bool hit = chance(2);
    compile_ms += ms;
    longest_ms = std::max(longest_ms, ms);
    ++compiled;
    failed += breaks ? 1 : 0;
    hits += hit ? 1 : 0;
    one.tell(job, "compiled", ms, {{"cached", hit}},
             breaks ? job::StageStatus::failed : job::StageStatus::passed);
    if (!breaks) {
      const bool is_right = chance(2);
      ++(is_right ? right : wrong);
      one.tell(job, "validated", 1, {},
               is_right ? job::StageStatus::passed : job::StageStatus::failed);
    }
    if (chance(10)) continue;  // never ends
    const bool fault = chance(5);
    ++(fault ? faults : ended);
    one.counters.ended(job, fault ? job::Verdict::engine_fault : job::Verdict::passed, fault);
    one.counters.ended(job, job::Verdict::passed, false);  // told twice, counted once
  }
  const JobCounts counts = one.counters.counts();
  CHECK(counts.submitted == 500);
  CHECK(counts.completed == ended);
  CHECK(counts.failed == faults);
  CHECK(counts.active == 500 - ended - faults);
  CHECK(counts.compilations.count == compiled);
  CHECK(counts.compilations_failed == failed);
  CHECK(counts.cache_hits == hits);
  CHECK(counts.compilations.total_s == Approx(compile_ms / 1e3));
  CHECK(counts.compilations.max_s == Approx(longest_ms / 1e3));
  CHECK(counts.validations_passed == right);
  CHECK(counts.validations_failed == wrong);
}
