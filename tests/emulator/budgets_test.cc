#include <chrono>
#include <thread>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT
using namespace std::chrono_literals;

namespace {

Outcome endless(const Budget& budget, const std::stop_token& stop = {}) {
  std::vector<int> out(1);
  return Call("endless", {8}, {64})
      .buffer("out", out)
      .budget(budget)
      .run(parsed(ptx_file("faults")), stop);
}

}  // namespace

TEST_CASE("an endless loop ends with the wall budget and names its line") {
  const auto begin = std::chrono::steady_clock::now();
  const Outcome o = endless({.wall = 50ms, .threads = 2});
  REQUIRE(o.ending == Ending::budget_wall);
  REQUIRE(o.fault.where.file == "faults.cu");
  REQUIRE((o.fault.where.line == 25 || o.fault.where.line == 24));
  REQUIRE(std::chrono::steady_clock::now() - begin < 2s);
}

TEST_CASE("an endless loop ends with the instruction budget") {
  const Outcome o = endless({.thread_instructions = 1'000'000, .threads = 1});
  REQUIRE(o.ending == Ending::budget_instructions);
  REQUIRE(o.counters.thread_instructions >= 1'000'000);
  REQUIRE(o.counters.thread_instructions < 3'000'000);
  REQUIRE(o.fault.where.line > 0);
}

TEST_CASE("a stop request is heeded within milliseconds") {
  std::stop_source source;
  std::chrono::steady_clock::time_point asked;
  std::jthread other([&] {
    std::this_thread::sleep_for(30ms);
    asked = std::chrono::steady_clock::now();
    source.request_stop();
  });
  const Outcome o = endless({.threads = 1}, source.get_token());
  const auto reaction = std::chrono::steady_clock::now() - asked;
  REQUIRE(o.ending == Ending::stopped);
  REQUIRE(reaction < 500ms);  // milliseconds on an idle machine
}

TEST_CASE("a grid of two thousand million blocks allocates for those that run only") {
  std::vector<float> a(32), b(32), out(32);
  const Outcome o = Call("vadd", {2147483647}, {32})
                        .buffer("a", a)
                        .buffer("b", b)
                        .buffer("out", out)
                        .value(32)
                        .budget({.wall = 50ms, .threads = 2})
                        .run(parsed(ptx_file("elementwise")));
  REQUIRE(o.ending == Ending::budget_wall);
  REQUIRE(o.counters.blocks > 100);
  REQUIRE(o.was_progressing);
  REQUIRE(o.grid_blocks == 2147483647);
  REQUIRE(o.message.find(" of 2147483647 blocks had ended") != std::string::npos);
  REQUIRE(o.fault.where.line == 0);  // no line is to blame
}

TEST_CASE("one block that goes round is to blame, however many have ended") {
  const auto module = parsed(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
      ".reg .b32 %r<2>;\n.reg .pred %p<2>;\nmov.u32 %r1, %ctaid.x;\n"
      "setp.ne.u32 %p1, %r1, 7;\n@%p1 bra OUT;\nL:\nbra L;\nOUT:\nret;\n}\n");
  for (const unsigned threads : {1U, 2U}) {
    const Outcome o =
        Call("k", {1000}, {32}).budget({.wall = 100ms, .threads = threads}).run(module);
    REQUIRE(o.ending == Ending::budget_wall);
    REQUIRE(o.counters.blocks == 999);
    REQUIRE_FALSE(o.was_progressing);
    REQUIRE(o.fault.block.x == 7);
  }
}

TEST_CASE("what no device would launch is refused before anything runs") {
  const auto module = parsed(ptx_file("elementwise"));
  std::vector<float> a(32), b(32), out(32);
  const auto vadd = [&](Dim3 grid, Dim3 block) {
    return Call("vadd", grid, block).buffer("a", a).buffer("b", b).buffer("out", out).value(32);
  };
  REQUIRE(vadd({0}, {32}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1, 65536}, {32}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {1025}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {1, 1, 65}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {32, 32, 2}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {32}).value(1).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {32}).shared(300000).run(module).ending == Ending::invalid_launch);
  REQUIRE(Call("nothing", {1}, {1}).run(module).ending == Ending::invalid_launch);
  REQUIRE(vadd({1}, {32}).run(module).ending == Ending::completed);
}

TEST_CASE("memory beyond the budget is refused, not taken") {
  std::vector<float> a(32), b(32), out(32);
  const Outcome o = Call("vadd", {1}, {1024})
                        .buffer("a", a)
                        .buffer("b", b)
                        .buffer("out", out)
                        .value(32)
                        .budget({.memory_bytes = 10000, .threads = 1})
                        .run(parsed(ptx_file("elementwise")));
  REQUIRE(o.ending == Ending::out_of_memory);
}

TEST_CASE("printf beyond its budget is cut and said so") {
  const Outcome o = Call("hello", {10}, {32})
                        .value(1)
                        .budget({.printf_bytes = 100, .threads = 1})
                        .run(parsed(ptx_file("control")));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.printf_truncated);
  REQUIRE(o.printf_output.size() == 100);
}

TEST_CASE("instructions are counted by warp and by thread") {
  const Outcome o = Call("k", {3}, {48}).run(parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<3>;
  mov.u32 %r1, 1;
  add.u32 %r2, %r1, %r1;
  ret;
})"));
  REQUIRE(o.counters.blocks == 3);
  REQUIRE(o.counters.warp_instructions == 3 * 2 * 3);
  REQUIRE(o.counters.thread_instructions == 3 * 48 * 3);
}
