// How long a Python source's own code may take where nothing is timed.
#include "engine/node/source_time.h"

#include "tests/catch.h"

using namespace assay::node;
using namespace std::chrono_literals;
using assay::job::Verdict;

TEST_CASE("loading gets the task's timeout, within ten seconds and two minutes") {
  CHECK(loading_time(1ms) == 10s);
  CHECK(loading_time(5s) == 10s);
  CHECK(loading_time(60s) == 60s);
  CHECK(loading_time(600s) == 120s);
  CHECK(InputTime::of(30s).left == 30s);
}

TEST_CASE("calls of get_inputs() share their time, and the last one is told whose fault it was") {
  InputTime time = InputTime::of(20s);
  time.take(8s, nullptr);
  time.take(9s, nullptr);
  CHECK(time.left == 3s);
  CHECK(time.fastest == 8s);
  Ended crashed{.verdict = Verdict::crashed, .summary = "it divided by zero"};
  time.take(1s, &crashed);
  CHECK(crashed.summary == "it divided by zero");
  CHECK(time.fastest == 8s);
  Ended early{.verdict = Verdict::timed_out, .summary = "its own limit"};
  time.take(1s, &early);
  CHECK(early.summary == "its own limit");
  CHECK_FALSE(time.is_used_up());
  // It is ended a little before its time is over, so that it can say where it was.
  Ended late{.verdict = Verdict::timed_out, .summary = "ended"};
  time.take(900ms, &late);
  CHECK(late.summary == InputTime::used_up().summary);
  time.take(1s, nullptr);
  CHECK(time.is_used_up());
  CHECK(InputTime::used_up().verdict == Verdict::timed_out);
}
