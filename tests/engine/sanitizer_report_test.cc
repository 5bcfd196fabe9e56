#include "engine/runner/sanitizer_report.h"

#include <stdexcept>

#include "tests/catch.h"

namespace assay::runner {
namespace {

using nlohmann::json;

std::string document(const std::string& records) {
  return R"(<?xml version="1.0" encoding="utf-8"?><ComputeSanitizerOutput>)" + records +
         "</ComputeSanitizerOutput>";
}

std::string invalid_write(const std::string& address, int line) {
  return "<record><kind>Precise</kind><level>Error</level><who><threadIdx><x>63</x><y>0</y><z>2</z>"
         "</threadIdx><blockIdx><x>1</x><y>0</y><z>0</z></blockIdx></who><what><text>Invalid "
         "__global__ write of size 4 bytes: Access is out of bounds</text><space>__global__</space>"
         "<size>4</size><direction>write</direction><error>out of bounds</error><address>" +
         address + "</address></what><where><func>k</func><path>/a/b/kernel.cu</path><line>" +
         std::to_string(line) + "</line><pc>0x160</pc></where></record>";
}

const std::vector<SanitizedTensor> kTensors{{.name = "x", .address = 0x1000, .bytes = 256},
                                            {.name = "out", .address = 0x200000, .bytes = 64}};

TEST_CASE("an access beyond a tensor has its line, its thread and the tensor's element") {
  const json findings = findings_of(document(invalid_write("0x200048", 5)), kTensors);
  REQUIRE(findings.size() == 1);
  const json& finding = findings[0];
  CHECK(finding["kind"] == "out_of_bounds");
  CHECK(finding["severity"] == "error");
  CHECK(finding["where"] == json{{"file", "kernel.cu"}, {"line", 5}, {"column", 0}});
  CHECK(finding["thread"] == json::array({63, 0, 2}));
  CHECK(finding["block"] == json::array({1, 0, 0}));
  CHECK(finding["memory"] == "out");
  CHECK(finding["element"] == 18);
  CHECK(finding["kernel"] == "k");
}

TEST_CASE("an access before a tensor has a negative element") {
  const json findings = findings_of(document(invalid_write("0xffc", 5)), kTensors);
  CHECK(findings.at(0)["memory"] == "x");
  CHECK(findings.at(0)["element"] == -1);
}

TEST_CASE("the same of one line is one finding with a count") {
  const json findings =
      findings_of(document(invalid_write("0x200040", 5) + invalid_write("0x200044", 5) +
                           invalid_write("0x200044", 6)),
                  kTensors);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0]["count"] == 2);
  CHECK(findings[1]["count"] == 1);
}

TEST_CASE("a race has the lines of both accesses, a failing call of the driver is no finding") {
  const json findings = findings_of(
      document("<record><kind>Analysis</kind><level>Error</level><what><text>Race condition</text>"
               "<source><direction>Write</direction><where><func>k</func><path>k.cu</path>"
               "<line>4</line></where></source><destination><direction>Read</direction><where>"
               "<func>k</func><path>k.cu</path><line>5</line></where><count>384</count>"
               "</destination></what></record><record><kind>Api</kind><what><text>Program hit "
               "CUDA_ERROR_LAUNCH_FAILED</text></what></record>"),
      kTensors);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0]["kind"] == "shared_race");
  CHECK(findings[0]["where"]["line"] == 5);
  CHECK(findings[0]["other"]["where"]["line"] == 4);
  CHECK(findings[0]["count"] == 384);
}

TEST_CASE("what else the tool says is a finding of its kind") {
  const auto kind = [](const std::string& text) {
    return findings_of(document("<record><level>Error</level><what><text>" + text +
                                "</text></what></record>"),
                       {})
        .at(0)["kind"];
  };
  CHECK(kind("Uninitialized __global__ memory read of size 4 bytes") == "uninitialised_global");
  CHECK(kind("Barrier error detected. Divergent thread(s) in block") == "divergent_barrier");
  CHECK(kind("Invalid __shared__ read of size 8 bytes: Address is misaligned") == "misaligned");
  CHECK(kind("Something new") == "reported");
}

TEST_CASE("the same of two kernels without lines is two findings") {
  const auto of = [](const char* kernel) {
    return "<record><level>Error</level><what><text>Race</text><destination><where><func>" +
           std::string(kernel) + "</func></where></destination></what></record>";
  };
  const json findings = findings_of(document(of("one") + of("two") + of("one")), {});
  REQUIRE(findings.size() == 2);
  CHECK(findings[0]["kernel"] == "one");
  CHECK(findings[1]["kernel"] == "two");
}

TEST_CASE("a report without records has no finding, and what is no report is refused") {
  CHECK(findings_of(document(""), kTensors).empty());
  CHECK_THROWS_AS(findings_of("", kTensors), std::runtime_error);
  CHECK_THROWS_AS(findings_of("========= COMPUTE-SANITIZER", kTensors), std::runtime_error);
  // Broken off: what was there counts.
  const std::string whole = document(invalid_write("0x200040", 5));
  CHECK(findings_of(whole.substr(0, whole.size() - 10), kTensors).size() == 1);
}

TEST_CASE("a report that is deep, long or strange is bounded") {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK_THROWS_AS(findings_of(deep, {}), std::runtime_error);
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += invalid_write("0x10", i);
  CHECK(findings_of(document(many), kTensors).size() == kMaxFindings);
  CHECK_THROWS_AS(findings_of(std::string(kMaxReportBytes + 1, ' '), {}), std::runtime_error);
  const std::string strange =
      "<record><what><text>Invalid</text><address>0xzz</address>"
      "<size>-4</size></what><where><line>99999999999999999999</line>"
      "</where></record>";
  CHECK(findings_of(document(strange), kTensors).at(0)["where"]["line"] == 0);
}

}  // namespace
}  // namespace assay::runner
