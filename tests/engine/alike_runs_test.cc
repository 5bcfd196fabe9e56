// Which timed runs are known to be right because of another.
#include "engine/node/alike_runs.h"

#include "tests/catch.h"

using namespace assay::node;

namespace {

// Runs of contents 0 and 1 in turn, each with what it left; those at `kept` are looked at. Contents
// begin with 1'000 and 1'001. Who left 7 or 8 took `other_ns`, all others 100.
void note(AlikeRuns& runs, const std::vector<std::uint64_t>& left, std::size_t kept,
          bool examined = true, bool counts = true, double other_ns = 100) {
  TurnOrder order;
  Turn turn{.begun_with = {1'000, 1'001}};
  for (std::size_t i = 0; i < left.size(); ++i) {
    order.runs.push_back({.content = static_cast<std::uint32_t>(i % 2), .keep = i / 2 == kept});
    turn.digests.push_back(left[i]);
    turn.samples_ns.push_back(left[i] == 7 || left[i] == 8 ? other_ns : 100);
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

TEST_CASE("other bits are doubtful where they come with quicker runs, whatever each of them took") {
  const auto doubtful = [](double other_ns) {
    AlikeRuns runs;
    note(runs, {1, 2, 1, 2, 7, 2, 7, 2}, 0, true, true, other_ns);
    CHECK(runs.count().otherwise == 2);
    return runs.count().is_doubtful();
  };
  CHECK(doubtful(60));
  CHECK(doubtful(97));
  CHECK_FALSE(doubtful(99));  // a four-hundredth of all
  CHECK_FALSE(doubtful(100));
  CHECK_FALSE(doubtful(140));
}

TEST_CASE("contents that were left as they are, and were not looked at, are doubtful") {
  AlikeRuns runs;
  TurnOrder order{.runs = {{.content = 0, .keep = true}, {.content = 1}, {.content = 1}}};
  Turn turn{
      .samples_ns = {100, 100, 100}, .digests = {1, 1'001, 1'001}, .begun_with = {1'000, 1'001}};
  runs.note(order, turn, 0, true);
  CHECK(runs.count().unseen == 2);
  CHECK(runs.count().is_doubtful());
  turn.digests = {1'000, 1'001, 1'001};  // it was right not to touch the first
  AlikeRuns careful;
  careful.note(order, turn, 0, true);
  CHECK_FALSE(careful.count().is_doubtful());
}

TEST_CASE("what another process leaves is counted by itself") {
  AlikeRuns runs;
  note(runs, {1, 2, 1, 2}, 0);
  runs.begin_anew();
  note(runs, {21, 22, 21, 22}, 9);  // the same bits, by other digests
  CHECK(runs.count().runs == 8);
  CHECK(runs.count().alike == 4);
  CHECK(runs.count().otherwise == 0);
  note(runs, {21, 22}, 0);
  CHECK(runs.count().is_whole());
}

TEST_CASE("who gives other bits each time does not stand out") {
  AlikeRuns runs;
  note(runs, {1, 2, 3, 4, 5, 6}, 1);
  CHECK(runs.count().alike == 2);
  CHECK(runs.count().otherwise == 0);
  CHECK(runs.count().idle == 0);
}
