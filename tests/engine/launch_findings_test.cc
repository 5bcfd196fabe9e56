// What inspections of many launches found is told as one.
#include "engine/inspection/launch_findings.h"

#include "tests/catch.h"

using namespace assay;
using inspection::LaunchFindings;
using nlohmann::json;

namespace {

emulator::Finding race(int line, std::uint64_t count = 1) {
  emulator::Finding f{.kind = emulator::FindingKind::shared_race};
  f.message = "Race";
  f.where = {.file = "/tmp/kernel.py", .line = line, .column = 3};
  f.other_where = {.file = "/tmp/kernel.py", .line = line + 1, .column = 3};
  f.count = count;
  return f;
}

emulator::Outcome outcome(std::vector<emulator::Finding> findings, std::uint64_t blocks = 4) {
  emulator::Outcome o;
  o.grid_blocks = blocks;
  o.checked_blocks = blocks;
  o.findings = std::move(findings);
  return o;
}

}  // namespace

TEST_CASE(
    "the same mistake of several launches stands once, with the kernel and the count of all") {
  LaunchFindings findings;
  findings.add("a", outcome({race(5, 2), race(6)}));
  findings.add("a", outcome({race(5, 3)}));
  findings.add("b", outcome({race(5)}, 1));
  const json told = findings.told();
  REQUIRE(told.at("findings").size() == 3);
  CHECK(told["findings"][0].at("count") == 5);
  CHECK(told["findings"][0].at("kernel") == "a");
  CHECK(told["findings"][0].at("where").at("file") == "kernel.py");
  CHECK(told["findings"][2].at("kernel") == "b");
  CHECK(told.at("launches") == 3);
  CHECK(told.at("blocks") == json({{"checked", 9}, {"of", 9}}));
}

TEST_CASE("a fault is a finding, told first, and another early end is a note") {
  LaunchFindings findings;
  emulator::Finding warning = race(5);
  warning.is_warning = true;
  findings.add("a", outcome({warning}));
  emulator::Outcome faulted = outcome({});
  faulted.ending = emulator::Ending::faulted;
  faulted.fault = {.kind = emulator::FaultKind::out_of_bounds,
                   .message = "Invalid write",
                   .block = {3, 0, 0},
                   .thread = {232, 0, 0},
                   .access_bytes = 4,
                   .buffer = "y",
                   .buffer_offset_bytes = 4000};
  findings.add("a", faulted);
  emulator::Outcome slow = outcome({});
  slow.ending = emulator::Ending::budget_wall;
  slow.message = "Longer than 1 s";
  findings.add("b", slow);
  const json told = findings.told();
  REQUIRE(told.at("findings").size() == 2);
  const json& fault = told["findings"][0];
  CHECK(fault.at("kind") == "out_of_bounds");
  CHECK(fault.at("thread") == json({232, 0, 0}));
  CHECK((fault.at("memory") == "y" && fault.at("element") == 1000));
  REQUIRE(told.at("notes").size() == 2);
  CHECK(told["notes"][1] ==
        "A launch of b ended early (budget_wall): Longer than 1 s. Findings are "
        "those until then.");
}

TEST_CASE("findings, notes and texts are bounded, and no character is cut in two") {
  LaunchFindings findings;
  const std::string long_name = std::string(999, 'x') + "\u00e4";
  for (int line = 1; line < 1000; ++line) findings.add(long_name, outcome({race(2 * line)}));
  for (int i = 0; i < 1000; ++i) findings.note("note " + std::to_string(i));
  const json told = findings.told();
  CHECK(told.at("findings").size() == LaunchFindings::kMostFindings);
  CHECK(told.at("notes").size() <= LaunchFindings::kMostNotes + 1);
  CHECK(told["notes"].back() == "More than 100 different findings: the rest is left out.");
  CHECK(told["findings"][0].at("kernel") == std::string(999, 'x'));
  CHECK_NOTHROW(told.dump());
}
