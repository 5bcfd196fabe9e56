// One variant of a sweep that hangs: what it may take of the budget, and what is said of it.
#include "tests/engine/sweep_bench.h"

using namespace assay;
using namespace assay::sweep_bench;

namespace {

double seconds_of(FakeJudge& judge, const json& request, json& body, job::Verdict& verdict) {
  Told told;
  const auto begin = std::chrono::steady_clock::now();
  body = swept(judge, request, told, &verdict);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TEST_CASE("who hangs leaves the others their time, and the budget is kept") {
  FakeJudge judge{.times_ns = {{"good", 50'000}}, .takes_s = {{"hangs", 1'000}}};
  json body;
  job::Verdict verdict{};
  const double seconds = seconds_of(judge, request_of({"hangs", "good"}, 10, 4), body, verdict);
  CHECK(seconds < 5.5);
  CHECK(verdict == job::Verdict::passed);
  CHECK(body.at("best").at("name") == "good");
  CHECK(body.at("summary") == "Best of 2: good; 1 passed, 0 did not, 1 was cut by the budget.");
  const json& hung = body.at("table")[1];
  CHECK(hung.at("verdict").is_null());
  CHECK(hung.at("note").get<std::string>().starts_with("cut by the budget, which gave it"));
}

TEST_CASE("what the budget cut is tried again last, with more") {
  FakeJudge judge{.times_ns = {{"slow", 90'000}},
                  .failures = {{"a", "crashed"}, {"b", "crashed"}, {"c", "crashed"}},
                  .takes_s = {{"slow", 1.9}}};
  json body;
  job::Verdict verdict{};
  // A third of 4 s is not enough for it; the rest is.
  (void)seconds_of(judge, request_of({"slow", "a", "b", "c"}, 10, 4), body, verdict);
  CHECK(verdict == job::Verdict::passed);
  CHECK(body.at("best").at("name") == "slow");
}

TEST_CASE("its own limit is its own: it timed out, whatever the budget") {
  FakeJudge judge{.times_ns = {{"good", 50'000}}, .takes_s = {{"hangs", 1'000}}};
  json request = request_of({"hangs", "good"}, 10);
  request["options"]["timeout"] = 0.1;
  json body;
  job::Verdict verdict{};
  (void)seconds_of(judge, request, body, verdict);
  CHECK(body.at("table")[1].at("verdict") == "timed_out");
  CHECK(body.at("summary") == "Best of 2: good; 1 passed, 1 did not.");
}

TEST_CASE("that none passed is not said of those without a verdict") {
  FakeJudge judge{.failures = {{"wrong", "wrong_output"}}, .takes_s = {{"hangs", 1'000}}};
  json body;
  job::Verdict verdict{};
  (void)seconds_of(judge, request_of({"hangs", "wrong"}, 10, 2), body, verdict);
  CHECK(verdict == job::Verdict::wrong_output);
  CHECK(body.at("summary") ==
        "None of the 1 that have a verdict passed; 1 was cut by the budget. The first: it failed: "
        "wrong");
  (void)seconds_of(judge, request_of({"hangs"}, 10, 1), body, verdict);
  CHECK(verdict == job::Verdict::timed_out);
  CHECK(body.at("summary") ==
        "No variant has a verdict: 1 was cut by the budget. Give it a larger budget_s.");
}
