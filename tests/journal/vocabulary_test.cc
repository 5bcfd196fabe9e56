#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/job/kind.h"
#include "engine/job/record.h"
#include "tests/catch.h"

namespace assay::job {
namespace {

// Every value from the first on, as long as the table names it.
template <typename Enum, typename From>
std::set<std::string> names(std::size_t count, From&& from) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = static_cast<Enum>(i);
    const std::string text(name(value));
    CHECK(from(text) == value);
    seen.insert(text);
  }
  CHECK(seen.size() == count);
  for (const char* unknown : {"", "Passed", "passed ", "not_found", "0"})
    CHECK_FALSE(from(unknown));
  CHECK_THROWS(name(static_cast<Enum>(count)));
  return seen;
}

TEST_CASE("every word of the vocabulary reads back as itself, and no other word is one") {
  CHECK(names<Verdict>(12, verdict_from).contains("launch_failed"));
  CHECK(names<State>(8, state_from).contains("interrupted"));
  CHECK(names<StageStatus>(3, stage_status_from).contains("skipped"));
}

TEST_CASE("every degree of trust has a word") {
  CHECK(name(Trust::verified) == "verified");
  CHECK(name(Trust::rejected) == "rejected");
  CHECK_THROWS(name(static_cast<Trust>(4)));
}

TEST_CASE("a kernel job's state is that of the stage it works on") {
  const Kind kind = kernel_kind();
  const auto after = [&](const char* stage) {
    return state_after(kind, stage, StageStatus::passed);
  };
  CHECK(after("received") == State::compiling);
  CHECK(after("compiled") == State::validating);
  CHECK(after("prepared") == State::validating);
  CHECK(after("validated") == State::profiling);
  CHECK(after("timed") == State::profiling);
  CHECK(after("profiled") == State::profiling);
  CHECK_FALSE(after("concluded"));
  CHECK_THROWS_AS(after("linked"), std::invalid_argument);
}

TEST_CASE("a stage that failed or was skipped leaves the job in that stage's state") {
  const Kind kind = kernel_kind();
  for (const auto& stage : kind.stages) {
    if (stage.name == "concluded") continue;
    for (const auto status : {StageStatus::failed, StageStatus::skipped}) {
      CHECK(state_after(kind, stage.name, status) == stage.during);
    }
  }
}

TEST_CASE("no state is told beyond the last stage that was asked for") {
  const Kind kind = kernel_kind();
  for (std::size_t last = 0; last + 1 < kind.stages.size(); ++last) {
    for (std::size_t at = 0; at + 1 < kind.stages.size(); ++at) {
      const auto told =
          state_after(kind, kind.stages[at].name, StageStatus::passed, kind.stages[last].name);
      CHECK(told == kind.stages[std::min(at + 1, last)].during);
    }
  }
  CHECK_THROWS_AS(state_after(kind, "compiled", StageStatus::passed, "linked"),
                  std::invalid_argument);
}

TEST_CASE("only our own fault fails a job; a negative verdict completes it") {
  for (const Verdict verdict : kernel_kind().verdicts) {
    const State state = final_state(verdict);
    CHECK(is_final(state));
    if (verdict == Verdict::engine_fault) {
      CHECK(state == State::failed);
    } else if (verdict == Verdict::cancelled) {
      CHECK(state == State::cancelled);
    } else {
      CHECK(state == State::completed);
    }
  }
}

TEST_CASE("a stage survives its trip between processes") {
  const StageRecord stage{.name = "timed",
                          .status = StageStatus::failed,
                          .started_ns = 1'700'000'000'000'000'001,
                          .elapsed_ms = 0.125,
                          .body = {{"samples_ns", {1, 2, 3}}}};
  const StageRecord back = stage_from_json(nlohmann::json::parse(to_json(stage).dump()));
  CHECK(back.name == stage.name);
  CHECK(back.status == stage.status);
  CHECK(back.started_ns == stage.started_ns);
  CHECK(back.elapsed_ms == stage.elapsed_ms);
  CHECK(back.body == stage.body);
  auto unknown = to_json(stage);
  unknown["status"] = "fine";
  CHECK_THROWS(stage_from_json(unknown));
}

TEST_CASE("job ids are version 4 UUIDs, all different") {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = new_job_id();
    CHECK(id.size() == 36);
    CHECK(id[14] == '4');
    CHECK(std::string("89ab").find(id[19]) != std::string::npos);
    CHECK(id.find_first_not_of("0123456789abcdef-") == std::string::npos);
    ids.insert(id);
  }
  CHECK(ids.size() == 1000);
}

}  // namespace
}  // namespace assay::job
