// What is said of a finding: it has what the finding says, and no finding is beyond words.
#include "engine/node/kernel_wording.h"

#include "engine/node/trial_judgement.h"
#include "tests/catch.h"

using namespace assay::node;
using nlohmann::json;

TEST_CASE("times that disagree with a clock or a memory are told with both figures") {
  CHECK(finding_text({{"check", "wall_clock"}, {"detail", "a launch takes 6 us, and 2"}})
            .find("a launch takes 6 us, and 2.") != std::string::npos);
  const std::string floor = finding_text({{"check", "below_floor"},
                                          {"claimed_ns", 12'345.4},
                                          {"must_ns", 45'678.0},
                                          {"must_bytes", 900}});
  CHECK(floor.find("12345 ns") != std::string::npos);
  CHECK(floor.find("45678 ns") != std::string::npos);
  CHECK(floor.find("900 bytes") != std::string::npos);
}

TEST_CASE("outputs are written whole unless a finding or a warning says otherwise") {
  const json nothing = json::array();
  CHECK(writes_all(nothing, nothing));
  CHECK(
      writes_all(json::array({{{"check", "precision"}}}), json::array({{{"code", "throttled"}}})));
  CHECK_FALSE(writes_all(json::array({{{"check", "unwritten"}}}), nothing));
  CHECK_FALSE(writes_all(nothing, json::array({{{"code", "reference_unwritten"}}})));
}

TEST_CASE("a crash that names no line has a next step, and no other has") {
  const auto crash = [](int line, const char* printed) {
    return json{
        {"ending", "faulted"},
        {"printf", printed},
        {"fault", {{"message", "CUDA_ERROR_ILLEGAL_ADDRESS"}, {"where", {{"line", line}}}}}};
  };
  CHECK(step_after_crash(crash(0, "hello")).find("checks: [\"memory\"]") != std::string::npos);
  CHECK(step_after_crash(crash(7, "")).empty());
  CHECK(
      step_after_crash(crash(0, "k.cu:3: add: block: [0,0,0] Assertion `n < 0` failed.")).empty());
  // What a runner says is as it says it.
  for (const json& detail : {json::object(), json{{"fault", 7}}, json{{"fault", {{"where", "x"}}}},
                             json{{"fault", {{"where", {{"line", "x"}}}}}, {"printf", 7}}})
    CHECK_FALSE(step_after_crash(detail).empty());
}

TEST_CASE("numbers that are nearly right may be rounded otherwise, and the answer says so") {
  const auto summary = [](const char* more) {
    json output = {{"name", "y"},
                   {"mismatches", 840},
                   {"elements", 16384},
                   {"nan_mismatches", 0},
                   {"infinity_mismatches", 0},
                   {"worst",
                    {{"index", {3, 4}},
                     {"got", "1.6868877"},
                     {"want", "1.6868238"},
                     {"rel_error", 3.8e-5},
                     {"ulp_error", 536}}}};
    output.merge_patch(json::parse(more));
    return mismatch_summary(output);
  };
  CHECK_THAT(summary("{}"), Catch::Contains("That is 0.0038 % off") && Catch::Contains("`rtol`"));
  for (const char* otherwise :
       {R"({"worst": {"rel_error": 0.5}})", R"({"worst": {"rel_error": null}})",
        R"({"worst": {"ulp_error": null}})", R"({"nan_mismatches": 1})"}) {
    INFO(otherwise);
    CHECK_THAT(summary(otherwise), !Catch::Contains("rtol"));
  }
}
