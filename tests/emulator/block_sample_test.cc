// Which blocks a sample holds, and what an inspection of a sample says and leaves out.
#include "engine/emulator/block_sample.h"

#include <map>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

std::uint64_t held(const BlockSample& s) {
  std::uint64_t n = 0;
  for (std::uint64_t i = 0; i < s.of(); ++i) n += s.holds(i) ? 1 : 0;
  return n;
}

Outcome looked_at(const std::string& kernel, Inspection inspection) {
  std::vector<float> a(4096, 1.5F);
  std::vector<float> b(4096);
  std::vector<int> c(64);
  return Call(kernel, {16}, {128})
      .buffer("a", a)
      .output("b", b)
      .buffer("c", c)
      .value(256)
      .inspect(inspection)
      .run(parsed(ptx_file("mistakes")));
}

}  // namespace

TEST_CASE("a sample holds as many blocks as were asked for, the first and the last among them") {
  for (std::uint64_t blocks = 1; blocks < 40; ++blocks) {
    for (std::uint32_t wanted = 0; wanted < 45; ++wanted) {
      const BlockSample s(blocks, wanted, wanted * 7 + blocks);
      const std::uint64_t expected = wanted == 0 || wanted > blocks ? blocks : wanted;
      INFO(wanted << " of " << blocks);
      REQUIRE(s.size() == expected);
      REQUIRE(held(s) == expected);
      REQUIRE(s.holds(0));
      if (wanted != 1) REQUIRE(s.holds(blocks - 1));
    }
  }
}

TEST_CASE("a seed always gives the same sample, and over many seeds every block has its turn") {
  std::map<std::uint64_t, int> times;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const BlockSample s(50, 10, seed);
    const BlockSample again(50, 10, seed);
    for (std::uint64_t i = 0; i < 50; ++i) {
      REQUIRE(s.holds(i) == again.holds(i));
      if (s.holds(i)) ++times[i];
    }
  }
  // 8 of 48 between the ends: 66.7 of 400 on average, with a deviation of 7.5.
  for (std::uint64_t i = 1; i < 49; ++i) {
    INFO("block " << i);
    REQUIRE(times[i] > 30);
    REQUIRE(times[i] < 105);
  }
}

TEST_CASE("a sample of a grid of 2^47 blocks is chosen at once") {
  const BlockSample s(std::uint64_t{1} << 47, 1000, 1);
  REQUIRE(s.size() == 1000);
  REQUIRE(s.holds((std::uint64_t{1} << 47) - 1));
}

TEST_CASE("a sample finds in its blocks what all blocks show, and says what it did not look at") {
  const Outcome all = looked_at("shared_race__missing_barrier_after_fill", {.races = true});
  const Outcome some =
      looked_at("shared_race__missing_barrier_after_fill", {.races = true, .checked_blocks = 3});
  REQUIRE(all.ending == Ending::completed);
  REQUIRE(all.checked_blocks == 16);
  REQUIRE(all.inspection_notes.empty());
  REQUIRE(some.checked_blocks == 3);
  REQUIRE_FALSE(all.findings.empty());
  REQUIRE(some.findings.size() == all.findings.size());
  REQUIRE(some.findings.front().message == all.findings.front().message);
  REQUIRE(some.findings.front().count * 16 == all.findings.front().count * 3);
  REQUIRE(some.inspection_notes.size() == 1);
  REQUIRE(some.inspection_notes.front().find("3 of 16 blocks") != std::string::npos);
  REQUIRE(some.counters.thread_instructions == all.counters.thread_instructions);
}

TEST_CASE("counters count all blocks, whichever are checked") {
  const Inspection every{.races = true, .counters = true};
  Inspection few = every;
  few.checked_blocks = 2;
  for (const std::string kernel : {"shared_race__missing_barrier_after_fill", "clean__tree"}) {
    const Outcome all = looked_at(kernel, every);
    REQUIRE(all.ending == Ending::completed);
    const Outcome some = looked_at(kernel, few);
    const Outcome none = looked_at(kernel, {.counters = true});
    REQUIRE(all.profile.metrics.size() == some.profile.metrics.size());
    for (std::size_t i = 0; i < all.profile.metrics.size(); ++i) {
      INFO(kernel << " " << all.profile.metrics[i].name);
      REQUIRE(all.profile.metrics[i].value == some.profile.metrics[i].value);
      REQUIRE(all.profile.metrics[i].value == none.profile.metrics[i].value);
    }
    REQUIRE(all.profile.global_bytes_unique == some.profile.global_bytes_unique);
  }
}
