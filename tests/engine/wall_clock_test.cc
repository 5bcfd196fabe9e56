// Events held against a host's clock: honest ones agree whatever launching and waiting cost, times
// that hide work do not.
#include "engine/node/wall_clock.h"

#include "tests/catch.h"

using namespace assay::node;

namespace {

constexpr double kSlopeNs = 2'000;

WallClaim stretch(double per_launch_ns, std::optional<double> hidden_ns = std::nullopt) {
  return {.launches = 640,
          .wall_ns = 640 * per_launch_ns + 60'000,
          .events_ns = 640 * kSlopeNs,
          .hidden_ns = hidden_ns};
}

ClaimedTimes times() {
  return {.slope_ns = kSlopeNs, .cold_ns = 5'000, .summed_ns = 1e6, .asked_ns = 2e6};
}

}  // namespace

TEST_CASE("events that agree with the host's clock are told so, with the figures") {
  const auto judged = judge_wall(stretch(kSlopeNs), times());
  CHECK(judged.why.empty());
  CHECK(judged.told.at("result") == "agrees");
  CHECK(judged.told.at("launches") == 640);
  CHECK_FALSE(judged.told.contains("hidden_ns"));
}

TEST_CASE("a host that was away, or launches slowly, is no evidence against a kernel") {
  auto away = stretch(kSlopeNs, 40.0);  // its own looks found nothing that grows with the launches
  away.wall_ns += 5e8;
  CHECK(judge_wall(away, times()).told.at("result") == "agrees");
  CHECK(judge_wall(stretch(kSlopeNs, -300.0), times()).why.empty());
  CHECK(judge_wall(stretch(kSlopeNs, -300.0), times()).told.at("hidden_ns") == 0);
  CHECK(judge_wall(stretch(kSlopeNs, kMostHiddenNs), times()).why.empty());
}

TEST_CASE("a kernel whose events hide half of its work is told") {
  const auto judged = judge_wall(stretch(3 * kSlopeNs, 2 * kSlopeNs + 10), times());
  CHECK(judged.told.at("result") == "disagrees");
  CHECK(judged.why.find("6.0 us") != std::string::npos);
  CHECK(judged.told.at("hidden_ns") == 2 * kSlopeNs + 10);
  // Events that say nothing at all, too.
  auto none = times();
  none.slope_ns = -3;
  CHECK_FALSE(judge_wall(stretch(kSlopeNs, 1'900.0), none).why.empty());
}

TEST_CASE("times that add up to more than they were taken in are told") {
  auto summed = times();
  summed.summed_ns = 1.01 * summed.asked_ns + kQuestionDoubtNs;
  CHECK(judge_wall(std::nullopt, summed).told.at("result") == "unknown");
  summed.summed_ns += 1'000;
  CHECK(judge_wall(std::nullopt, summed).told.at("result") == "disagrees");
  auto claim = stretch(kSlopeNs);
  claim.events_ns = 1e9;
  CHECK_FALSE(judge_wall(claim, times()).why.empty());
}

TEST_CASE("what no host's clock stands behind is doubtful, unless its runs are long") {
  CHECK(judge_wall(stretch(kSlopeNs), times()).doubt.empty());
  auto alone = times();
  alone.told_cold_ns = 4'000;
  const auto unknown = judge_wall(std::nullopt, alone);
  CHECK_FALSE(unknown.doubt.empty());
  CHECK(unknown.told.at("result") == "unknown");
  // Not by the contents that take longest.
  alone.cold_beside_ns = 0.5 * alone.told_cold_ns + kMostHiddenNs;
  const auto held = judge_wall(std::nullopt, alone);
  CHECK(held.doubt.empty());
  CHECK(held.told.at("result") == "agrees");
  CHECK(held.told.at("cold_beside_ns") == *alone.cold_beside_ns);
  *alone.cold_beside_ns += 1;
  CHECK_FALSE(judge_wall(std::nullopt, alone).doubt.empty());
  alone.told_cold_ns = 0;  // there is nothing to hold
  CHECK(judge_wall(std::nullopt, alone).doubt.empty());
}

TEST_CASE("cold runs of a kernel with variables are doubtful far below its launches in a graph") {
  auto cold = times();
  cold.repeats = false;
  cold.slope_ns = 3 * cold.cold_ns + kColdDoubtNs;
  CHECK(judge_wall(stretch(kSlopeNs), cold).doubt.empty());
  cold.slope_ns += 1;
  const auto judged = judge_wall(stretch(kSlopeNs), cold);
  CHECK(judged.why.empty());  // it may have less to do there
  CHECK_FALSE(judged.doubt.empty());
  CHECK(judged.told.at("result") == "unknown");
}

TEST_CASE("a cold run is not a third of a warm launch, unless launches differ by what they find") {
  auto cold = times();
  cold.slope_ns = 3 * cold.cold_ns + kColdDoubtNs;
  CHECK(judge_wall(stretch(kSlopeNs), cold).why.empty());
  cold.slope_ns += 1;
  CHECK_FALSE(judge_wall(stretch(kSlopeNs), cold).why.empty());
  // Nobody's clock stands behind a slope that was not taken.
  CHECK(judge_wall(std::nullopt, cold).why.empty());
  cold.repeats = false;
  CHECK(judge_wall(stretch(kSlopeNs), cold).why.empty());
  cold.repeats = true;
  cold.kernels = 2;
  CHECK(judge_wall(stretch(kSlopeNs), cold).why.empty());
}
