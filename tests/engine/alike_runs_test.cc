// Which timed runs are known to be right because of another.
#include "engine/node/alike_runs.h"

#include "tests/catch.h"

using namespace assay::node;

namespace {

// Runs of contents 0 and 1 in turn, each with what it left; those at `kept` are looked at. Contents
// begin with 1'000 and 1'001.
void note(AlikeRuns& runs, const std::vector<std::uint64_t>& left, std::size_t kept,
          bool examined = true, bool counts = true) {
  TurnOrder order;
  Turn turn{.begun_with = {1'000, 1'001}};
  for (std::size_t i = 0; i < left.size(); ++i) {
    order.runs.push_back({.content = static_cast<std::uint32_t>(i % 2), .keep = i / 2 == kept});
    turn.digests.push_back(left[i]);
  }
  runs.note(order, turn, 0, examined, counts);
}

}  // namespace

TEST_CASE("runs that left what one left that was found right are right") {
  AlikeRuns runs;
  note(runs, {1, 2, 1, 2, 1, 2}, 1);
  CHECK(runs.count().runs == 6);
  CHECK(runs.count().alike == 6);
  CHECK(runs.count().is_whole());
  note(runs, {1, 2}, 9);  // a later turn, in which none was looked at
  CHECK(runs.count().alike == 8);
}

TEST_CASE("runs on contents of which none was looked at are not known") {
  AlikeRuns runs;
  note(runs, {1, 2, 1, 2}, 0, false);
  CHECK(runs.count().alike == 0);
  CHECK(runs.count().otherwise == 0);
  CHECK_FALSE(runs.count().is_whole());
  CHECK_FALSE(AlikeRuns().count().is_whole());
}

TEST_CASE("the same bits on other contents are not the same") {
  AlikeRuns runs;
  note(runs, {1, 2, 2, 1, 1, 2}, 0);
  CHECK(runs.count().alike == 4);
  CHECK(runs.count().otherwise == 2);
}

TEST_CASE("a run that left what it began with was idle, unless that is right") {
  AlikeRuns runs;
  note(runs, {1, 2, 1'000, 2, 1, 1'001}, 0);
  CHECK(runs.count().idle == 2);
  AlikeRuns clamped;  // its tensors are as they should be
  note(clamped, {1'000, 2, 1'000, 2}, 0);
  CHECK(clamped.count().idle == 0);
  CHECK(clamped.count().is_whole());
}

TEST_CASE("who was right with one result and with another may have a third") {
  AlikeRuns runs;
  note(runs, {1, 2, 1, 2, 7, 2}, 0);
  CHECK(runs.count().otherwise == 1);
  note(runs, {8, 2}, 0, true, false);  // looked at beside the timed ones
  CHECK(runs.count().runs == 6);
  CHECK(runs.count().otherwise == 0);
  CHECK(runs.count().alike == 5);
  note(runs, {7, 2}, 0, true, false);
  CHECK(runs.count().is_whole());
}

TEST_CASE("who gives other bits each time does not stand out") {
  AlikeRuns runs;
  note(runs, {1, 2, 3, 4, 5, 6}, 1);
  CHECK(runs.count().alike == 2);
  CHECK(runs.count().otherwise == 0);
  CHECK(runs.count().idle == 0);
}
