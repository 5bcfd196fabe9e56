// What leaves one variable and is in the next: found by name and line, as no device and no run
// without an inspection shows it. neighbours.cu is among the planted mistakes (inspection_test.cc).
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

Outcome run(const std::string& kernel, const Inspection& inspection, bool mapped = false) {
  static const auto module = parsed(ptx_file("neighbours"));
  std::vector<float> a(256, 7.0F), b(256);
  std::vector<int> c(64);
  Call call(kernel, {2}, {128});
  call.buffer("a", a).output("b", b).buffer("c", c).value(256).inspect(inspection);
  if (mapped) call.surroundings({.address = 0x1000, .bytes = {}, .mapped_bytes = 4096});
  return call.run(module);
}

const Finding& only(const Outcome& o) {
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.size() == 1);
  return o.findings.front();
}

}  // namespace

TEST_CASE("who leaves an array of shared memory is told which one, whatever is looked at there") {
  for (const Inspection& inspection :
       {Inspection{.heap = true}, Inspection{.races = true}, Inspection{.initialised = true}}) {
    const Outcome o = run("out_of_bounds__reads_the_next_array", inspection);
    const Finding& f = only(o);
    REQUIRE(f.kind == FindingKind::out_of_bounds);
    REQUIRE_FALSE(f.is_warning);
    REQUIRE(f.where.line == 14);
    REQUIRE(f.thread.x == 127);
    REQUIRE(f.buffer == "s");
    REQUIRE(f.buffer_offset_bytes == 512);
    REQUIRE(f.count == 2);
    REQUIRE(f.message.find("element 128 of 's'") != std::string::npos);
  }
}

TEST_CASE("it may leave before its start, by a row of stores and by atomics") {
  const Outcome before = run("out_of_bounds__reads_before_the_second_array", {.heap = true});
  REQUIRE(only(before).where.line == 19);
  REQUIRE(only(before).buffer == "r");
  REQUIRE(only(before).buffer_offset_bytes == -8);
  const Outcome row = run("out_of_bounds__fills_a_row_too_many", {.heap = true});
  REQUIRE(only(row).where.line == 25);
  REQUIRE(only(row).buffer == "tile");
  REQUIRE(only(row).count == 32);
  const Outcome bins = run("out_of_bounds__counts_beyond_its_bins", {.heap = true});
  REQUIRE(only(bins).where.line == 34);
  REQUIRE(only(bins).buffer == "bins");
  REQUIRE(only(bins).buffer_offset_bytes == 28);
}

TEST_CASE("without an inspection of memory variables lie side by side") {
  REQUIRE(run("out_of_bounds__reads_the_next_array", {.numbers = true}).findings.empty());
  REQUIRE(run("out_of_bounds__fills_a_row_too_many", {}).findings.empty());
}

TEST_CASE("a load beyond a variable of the module is a finding where a device lets it pass") {
  for (const auto& [kernel, variable, line] :
       {std::tuple{"out_of_bounds__reads_a_table_of_the_module", "table", 40},
        std::tuple{"out_of_bounds__reads_constants_beyond_theirs", "weights", 41}}) {
    const Outcome o = run(kernel, {}, true);
    const Finding& f = only(o);
    REQUIRE(f.kind == FindingKind::out_of_bounds);
    REQUIRE(f.where.line == line);
    REQUIRE(f.buffer == variable);
    REQUIRE(f.buffer_offset_bytes == 40);
    const Outcome unmapped = run(kernel, {}, false);
    REQUIRE(unmapped.ending == Ending::faulted);
    REQUIRE(unmapped.fault.buffer == variable);
  }
}

TEST_CASE("more constants than a module may have are refused as the assembler does") {
  const std::string head = ".version 9.0\n.target sm_90\n.address_size 64\n";
  const auto text = [&](int bytes) {
    return head + ".const .align 4 .b8 w[" + std::to_string(bytes) + "];\n";
  };
  REQUIRE(std::holds_alternative<ParseError>(Module::parse(text(65537))));
  REQUIRE_FALSE(std::holds_alternative<ParseError>(Module::parse(text(65536))));
}

TEST_CASE("a grid that clusters do not divide is no launch") {
  const auto module = parsed(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k()\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\nret;\n}\n");
  const Outcome o = Call("k", {3}, {32}).run(module);
  REQUIRE(o.ending == Ending::invalid_launch);
  REQUIRE(o.message.find("(2,1,1)") != std::string::npos);
  REQUIRE(Call("k", {4, 3}, {32}).run(module).ending != Ending::invalid_launch);
}

TEST_CASE("a division of 64 bits that the compiler gave no line is of the line that takes it") {
  const Outcome o = run("division_by_zero__of_64_bits", {.numbers = true});
  REQUIRE(only(o).where.line == 113);
  const Outcome u = run("division_by_zero__remainder_of_unsigned_64_bits", {.numbers = true});
  REQUIRE(only(u).where.line == 119);
}

TEST_CASE("who wrote before is told of one write that another displaced") {
  for (const std::string kernel :
       {"warp_race__cleared_and_set_by_the_first_as_by_others",
        "shared_race__cleared_and_set_by_the_first_then_by_another_warp"}) {
    const Outcome o = run(kernel, {.races = true});
    INFO(kernel);
    REQUIRE(o.findings.size() == 1);
    REQUIRE(o.findings[0].other_thread.x == 0);
    REQUIRE(o.findings[0].other_where.line + 1 == o.findings[0].where.line);
  }
}
