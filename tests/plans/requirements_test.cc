#include "plans/requirements.h"

#include "tests/catch.h"
#include "tests/plans/scratch.h"

using assay::plans::check_requirements;
using assay::plans::has_fp8_cutlass;
using assay::plans::version_meets;
using nlohmann::json;

namespace {

// What an engine on a machine with one H200 and CUDA 13 says of itself.
json h200() {
  return {{"devices",
           {{{"name", "gpu:0"},
             {"kind", "gpu"},
             {"arch", "sm_90a"},
             {"driver", "13.0"},
             {"memory_bytes", 150'000'000'000}},
            {{"name", "emulator"}, {"kind", "emulator"}, {"arch", "sm_90"}}}},
          {"toolkit", {{"compiler", "NVRTC 13.0"}}},
          {"no_gpu", nullptr}};
}

json laptop() {
  return {{"devices", {{{"name", "emulator"}, {"kind", "emulator"}, {"arch", "sm_90"}}}},
          {"toolkit", {{"compiler", nullptr}}},
          {"no_gpu", "there is no libcuda"}};
}

bool meets(const json& needs, const json& machine) {
  return check_requirements(needs, machine, plans_test::host_runner(), "", {}).supported;
}

}  // namespace

TEST_CASE("versions are compared number by number") {
  CHECK(version_meets("12.10", ">=12.9"));
  CHECK(version_meets("13.0", ">=12.4"));
  CHECK(version_meets("12.4", "12.4"));
  CHECK(version_meets("12", "==12.0"));
  CHECK_FALSE(version_meets("12.3", ">=12.4"));
  CHECK(version_meets("9.9", "<10"));
  CHECK_FALSE(version_meets("9.9", ">9.9"));
  CHECK(version_meets("9.9", "<= 9.9"));
  CHECK_FALSE(version_meets("", ">=1"));
  CHECK_FALSE(version_meets("1.0", ">="));
  CHECK_FALSE(version_meets("1.x", ">=1"));
}

TEST_CASE("FP8 needs SM 90 from CUDA 12.0, SM 89 from CUDA 12.4") {
  CHECK(has_fp8_cutlass(90, {12, 0}));
  CHECK(has_fp8_cutlass(90, {13, 0}));
  CHECK(has_fp8_cutlass(100, {13, 0}));
  CHECK(has_fp8_cutlass(89, {12, 4}));
  CHECK(has_fp8_cutlass(89, {13}));
  CHECK_FALSE(has_fp8_cutlass(89, {12, 3}));
  CHECK_FALSE(has_fp8_cutlass(90, {11, 8}));
  CHECK_FALSE(has_fp8_cutlass(80, {13, 0}));
  CHECK_FALSE(has_fp8_cutlass(90, {}));
}

TEST_CASE("an H200 with CUDA 13 has what it has, and a laptop has not") {
  const json needs = {{"cuda", true},         {"sm", ">=89"}, {"cuda_version", ">=12.4"},
                      {"memory_gb", ">=100"}, {"gpus", 1},    {"feature", "fp8_cutlass"}};
  CHECK(meets(needs, h200()));
  CHECK_FALSE(meets(needs, laptop()));
  CHECK_FALSE(meets({{"sm", ">=100"}}, h200()));
  CHECK_FALSE(meets({{"gpus", 2}}, h200()));
  CHECK(meets({{"cuda", false}}, laptop()));
  CHECK(meets(json::object(), laptop()));
}

TEST_CASE("every item says need, have and whether that is enough, and an unknown one is not met") {
  const auto answer =
      check_requirements({{"sm", ">=89"}, {"warp_drive", 9}, {"tools", {"sh", "no-such-tool"}}},
                         laptop(), plans_test::host_runner(), "", {});
  CHECK_FALSE(answer.supported);
  for (const auto& item : answer.items) {
    CHECK(item.contains("need"));
    CHECK(item.contains("have"));
    CHECK(item.at("ok") == (item.at("need") == "sh"));
  }
  CHECK(answer.items.size() == 4);
  CHECK(answer.summary.find("there is no libcuda") != std::string::npos);
}
