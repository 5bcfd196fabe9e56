// A sweep without a reference: what the variants say of each other.
#include "tests/engine/sweep_bench.h"

using namespace assay;
using namespace assay::sweep_bench;

namespace {

bool says(const json& body, const char* words) {
  return body.at("summary").get<std::string>().find(words) != std::string::npos;
}

std::map<std::string, json> lines_of(const json& body) {
  std::map<std::string, json> lines;
  for (const json& line : body.at("table")) lines[line.at("name")] = line;
  return lines;
}

}  // namespace

TEST_CASE("of two that disagree neither is the best, nor verified, nor wrong") {
  for (const char* clock : {"gpu", "emulated"}) {
    CAPTURE(clock);
    FakeJudge judge{
        .times_ns = {{"a", 90'000}, {"b", 30'000}}, .outputs = {{"b", "ones"}}, .clock = clock};
    Told told;
    job::Verdict verdict{};
    const json body = swept(judge, request_of({"a", "b"}), told, &verdict);
    CHECK(verdict == job::Verdict::passed);
    CHECK(body.at("best").is_null());
    CHECK(says(body, "No best of 2, for their outputs disagree; 2 passed, 0 did not."));
    REQUIRE(body.at("warnings").size() == 1);
    CHECK(body.at("warnings")[0].at("code") == "variants_disagree");
    CHECK(body.at("warnings")[0].at("message").get<std::string>().starts_with(
        "The outputs of (a) are not those of (b)"));
    for (const json& line : body.at("table")) {
      CHECK(line.at("verdict") == "passed");
      CHECK(line.at("trust") == "audited");
      CHECK(!line.contains("rank"));
    }
  }
}

TEST_CASE("two that agree are ranked, and it is said that nothing else spoke for them") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}}};
  Told told;
  const json body = swept(judge, request_of({"a", "b"}), told);
  CHECK(body.at("best").at("name") == "b");
  CHECK(body.at("best").at("trust") == "verified");
  CHECK(says(body, "outputs were checked against each other only"));
  CHECK(!body.contains("warnings"));
  std::size_t held = 0;
  for (const json& one : judge.asked) {
    if (one.at("options").at("until") != "validated") continue;
    ++held;
    CHECK(one.at("ref_kernel").at("name") == "a");  // the first given, not the quickest
  }
  CHECK(held == 1);
}

TEST_CASE("a third that agrees with the second only is of its group, a fourth of neither") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}, {"c", 40'000}, {"d", 50'000}},
                  .outputs = {{"b", "ones"}, {"c", "ones"}, {"d", "twos"}}};
  Told told;
  const json three = swept(judge, request_of({"a", "b", "c"}), told);
  CHECK(three.at("best").is_null());
  CHECK(lines_of(three)["a"].at("outputs_group") == 1);
  CHECK(lines_of(three)["b"].at("outputs_group") == 2);
  CHECK(lines_of(three)["c"].at("outputs_group") == 2);
  CHECK(three.at("warnings")[0].at("message") ==
        "The outputs of (a) are not those of (b, c): nobody knows which are right. "
        "Give a ref_kernel.");
  const json four = swept(judge, request_of({"a", "b", "c", "d"}), told);
  CHECK(lines_of(four)["d"].at("outputs_group") == 3);
  CHECK(four.at("warnings")[0].at("message").get<std::string>().find("and (d) are like neither") !=
        std::string::npos);
}

TEST_CASE("with a reference nobody is held against another variant's outputs") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}}, .outputs = {{"b", "ones"}}};
  json request = request_of({"a", "b"});
  request["ref_kernel"] = {{"name", "reference"}};
  Told told;
  const json body = swept(judge, request, told);
  CHECK(body.at("best").at("name") == "b");
  CHECK(!says(body, "each other"));
}

TEST_CASE("what is suspect already takes the best from nobody") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}, {"c", 95'000}},
                  .trusts = {{"b", "suspect"}},
                  .outputs = {{"b", "ones"}}};
  Told told;
  const json body = swept(judge, request_of({"a", "b", "c"}), told);
  CHECK(body.at("best").at("name") == "a");
  CHECK(body.at("best").at("trust") == "verified");
}

TEST_CASE("what the budget left unheld is no more than audited") {
  FakeJudge judge{.times_ns = {{"a", 90'000}, {"b", 30'000}}, .takes_s = {{"a", 0.6}, {"b", 0.6}}};
  Told told;
  const json body = swept(judge, request_of({"a", "b"}, 10, 1), told);
  for (const json& line : body.at("table")) CHECK(line.at("trust") == "audited");
  CHECK(lines_of(body)["b"].at("note") ==
        "its outputs were not held against the others': the budget was spent");
  CHECK(says(body, "The outputs of 1 could not be held against the others'"));
}
