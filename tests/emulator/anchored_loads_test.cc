// Loads that rely on what an earlier one found out about its addresses: which may, and that they
// read, and fault, as if they had looked themselves. The portable set always looks, so it is the
// model.
#include "engine/emulator/anchored_loads.h"

#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

namespace assay::emulator {
namespace {

using Access = AnchoredLoads::Access;

Access access(std::string_view base, std::int64_t imm, std::size_t pc, unsigned elements = 1) {
  return {.base = base,
          .form = {.address = AddressClass::shared32, .elements = elements},
          .imm = imm,
          .pc = pc};
}

// The anchor that a load may rely on, or -1.
std::int32_t followed(AnchoredLoads& loads, const Access& a, bool always_runs = true) {
  const auto leader = loads.leader_of(a, always_runs);
  return leader ? leader->anchor : -1;
}

struct Run {
  Outcome outcome{};
  std::vector<std::uint32_t> y{};
};

constexpr std::uint32_t kThreads = 96;

// `body` finds its thread in %r1, shared memory of 1024 words (each 3 times its number) at %r2 and
// %rd2, the same words in global memory at %rd1, and leaves its result in %r9.
std::string text_of(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 x, .param .u64 y)\n{\n.shared .align 16 .b8 s[4096];\n"
         ".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %rd<99>;\n"
         "ld.param.u64 %rd1, [x];\nld.param.u64 %rd90, [y];\nmov.u32 %r1, %tid.x;\n"
         "mul.wide.u32 %rd91, %r1, 4;\nadd.s64 %rd90, %rd90, %rd91;\nmov.u32 %r2, s;\n"
         "cvt.u64.u32 %rd2, %r2;\nmov.u32 %r9, 0;\nmov.u32 %r90, %r1;\n"
         "FILL: mul.lo.u32 %r91, %r90, 3;\nshl.b32 %r92, %r90, 2;\nadd.u32 %r93, %r2, %r92;\n"
         "st.shared.u32 [%r93], %r91;\nadd.u32 %r90, %r90, 96;\nsetp.lt.u32 %p8, %r90, 1024;\n"
         "@%p8 bra FILL;\nbar.sync 0;\n" +
         body + "st.global.u32 [%rd90], %r9;\nret;\n}\n";
}

Run run(const std::string& body, const char* set, const Inspection& inspection = {}) {
  Run r;
  r.y.assign(kThreads, 7);
  if (!use_instruction_set(set)) use_instruction_set("");
  std::vector<std::uint32_t> x(1024);
  for (std::uint32_t i = 0; i < x.size(); ++i) x[i] = 3 * i;
  const auto module = test::parsed(text_of(body));
  use_instruction_set("");
  r.outcome = test::Call("k", {}, {kThreads})
                  .buffer("x", x)
                  .buffer("y", r.y)
                  .inspect(inspection)
                  .run(module);
  return r;
}

std::vector<double> counters_of(const Run& r) {
  std::vector<double> values;
  for (const Metric& m : r.outcome.profile.metrics) values.push_back(m.value);
  return values;
}

// Runs by the best set, and fails unless all is as the portable one has it.
Run checked(const std::string& body) {
  const Run model = run(body, "portable");
  Run r = run(body, "");
  INFO(body);
  CHECK(r.outcome.ending == model.outcome.ending);
  CHECK(r.outcome.message == model.outcome.message);
  CHECK(r.outcome.counters.thread_instructions == model.outcome.counters.thread_instructions);
  CHECK(r.y == model.y);
  const Run watched = run(body, "", {.races = true, .initialised = true, .counters = true});
  CHECK(watched.outcome.ending == model.outcome.ending);
  CHECK(watched.y == model.y);
  const Run counted = run(body, "", {.counters = true});
  CHECK(counted.y == model.y);
  CHECK(counters_of(counted) == counters_of(run(body, "portable", {.counters = true})));
  return r;
}

std::string sum_of(const std::string& load) { return load + ";\nmad.lo.u32 %r9, %r9, 5, %r10;\n"; }
std::string sum_of_four(const std::string& load) {
  return load + ";\n" + sum_of("xor.b32 %r10, %r11, %r12") + sum_of("add.u32 %r10, %r13, %r14");
}

}  // namespace

TEST_CASE("a load follows one by the same register, until that is written") {
  AnchoredLoads loads;
  CHECK(followed(loads, access("%r1", 0, 1)) == -1);
  CHECK(followed(loads, access("%r1", 8, 2)) == 0);
  CHECK(followed(loads, access("%r2", 8, 3)) == -1);
  CHECK(followed(loads, access("%r1", 0, 4, 4)) == -1);  // of another width
  loads.forget("%r1");
  CHECK(followed(loads, access("%r1", 0, 5)) == -1);
  CHECK(followed(loads, access("%r2", 0, 6)) >= 0);
  loads.forget_all();
  CHECK(followed(loads, access("%r2", 0, 7)) == -1);
}

TEST_CASE("what may be skipped leads nobody, and what is aligned otherwise follows nobody") {
  AnchoredLoads loads;
  CHECK(followed(loads, access("%r1", 0, 1), false) == -1);
  CHECK(followed(loads, access("%r1", 4, 2)) == -1);
  CHECK(followed(loads, access("%r1", 6, 3)) == -1);
  CHECK(followed(loads, access("%r1", 8, 4), false) >= 0);
}

TEST_CASE("an anchor that was used between a load and its follower is not theirs") {
  AnchoredLoads loads;
  CHECK(followed(loads, access("%r1", 0, 1)) == -1);
  CHECK(followed(loads, access("%r2", 0, 2)) == -1);
  const std::int32_t second = followed(loads, access("%r2", 4, 3));
  const std::int32_t first = followed(loads, access("%r1", 4, 4));
  CHECK(second >= 0);
  CHECK(first >= 0);
  CHECK(first != second);
  CHECK(followed(loads, access("%r2", 8, 5)) == second);
  // More registers than anchors: the rest look themselves.
  AnchoredLoads many;
  std::vector<std::string> names;
  for (unsigned i = 0; i < kAnchors + 3; ++i) names.push_back("%r" + std::to_string(i));
  std::size_t pc = 0;
  for (const std::string& n : names) CHECK(followed(many, access(n, 0, pc++)) == -1);
  std::vector<std::int32_t> anchors;
  for (const std::string& n : names) anchors.push_back(followed(many, access(n, 4, pc++)));
  CHECK(std::count(anchors.begin(), anchors.end(), -1) == 3);
}

TEST_CASE("a load that loses its anchor to another leads nobody") {
  AnchoredLoads loads;
  std::vector<std::string> names;
  for (unsigned i = 0; i < kAnchors + 1; ++i) names.push_back("%r" + std::to_string(i));
  std::size_t pc = 0;
  for (const std::string& n : names) {
    CHECK(followed(loads, access(n, 0, pc++)) == -1);
    CHECK(followed(loads, access(n, 4, pc++)) >= 0);
  }
  CHECK(followed(loads, access(names.front(), 8, pc++)) == -1);
  CHECK(followed(loads, access(names.back(), 8, pc++)) >= 0);
}

TEST_CASE("loads of every shape by one register read what they would by themselves") {
  const std::string shapes[] = {
      "mov.u32 %r3, 64;\n",                             // all the same
      "shl.b32 %r3, %r1, 2;\n",                         // a line
      "shr.u32 %r3, %r1, 3;\nshl.b32 %r3, %r3, 4;\n",   // eights the same
      "and.b32 %r3, %r1, 15;\nshl.b32 %r3, %r3, 4;\n",  // spaced, and again
      "sub.u32 %r3, 95, %r1;\nshl.b32 %r3, %r3, 4;\n",  // downwards
      "mul.lo.u32 %r3, %r1, %r1;\nand.b32 %r3, %r3, 127;\nshl.b32 %r3, %r3, 4;\n",  // anywhere
      "and.b32 %r3, %r1, 8;\nselp.b32 %r3, %r1, %r3, %p0;\nshl.b32 %r3, %r3, 4;\n"};
  for (const std::string& shape : shapes) {
    const std::string head = "setp.lt.u32 %p0, %r1, 40;\n" + shape +
                             "cvt.u64.u32 %rd3, %r3;\nadd.s64 %rd4, %rd1, %rd3;\n"
                             "add.s64 %rd5, %rd2, %rd3;\nadd.u32 %r4, %r2, %r3;\n";
    for (const std::string& base :
         {std::string(".shared.u32 %r10, [%r4"), std::string(".shared.u32 %r10, [%rd5"),
          std::string(".global.u32 %r10, [%rd4")}) {
      std::string body = head;
      for (const int imm : {64, 0, 4, 16, 128, 12, 64}) {
        body += sum_of("ld" + base + "+" + std::to_string(imm) + "]");
      }
      CHECK(checked(body).outcome.ending == Ending::completed);
    }
    if (shape.find("shl.b32 %r3, %r1, 2") != std::string::npos) continue;  // not aligned to 16
    std::string fours = head;
    for (const int imm : {16, 0, 32, 64}) {
      fours += sum_of_four("ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [%r4+" +
                           std::to_string(imm) + "]");
      fours += sum_of_four("ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd4+" +
                           std::to_string(imm) + "]");
      fours += "mov.u32 %r13, 1;\nmov.u32 %r14, 2;\n" +
               sum_of_four("ld.shared.v2.u32 {%r11, %r12}, [%rd5+" + std::to_string(imm) + "]");
    }
    CHECK(checked(fours).outcome.ending == Ending::completed);
  }
}

TEST_CASE("a register that changes between loads is looked at again") {
  const std::string head = "shl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n";
  const std::string first = sum_of("ld.shared.u32 %r10, [%r4]");
  const std::string again = sum_of("ld.shared.u32 %r10, [%r4+4]");
  checked(head + first + again + "add.u32 %r4, %r4, 8;\n" + again + again);
  checked(head + first + "ld.shared.u32 %r4, [%r4+4];\nand.b32 %r4, %r4, 252;\n" + again);
  checked(head + first + "@%p8 mov.u32 %r4, %r2;\n" + again);
  checked(head + "setp.lt.u32 %p0, %r1, 9;\n" + first + "@%p0 mov.u32 %r4, %r2;\n" + again);
  checked(head + first +
          "ld.shared.v2.u32 {%r10, %r4}, [%r2];\nadd.u32 %r4, %r4, %r2;\n"
          "and.b32 %r4, %r4, -4;\n" +
          again);
  checked(head + first + "mov.b64 %rd9, 17179869184;\nmov.b64 {%r5, %r4}, %rd9;\n" + again);
  checked(head + first + "{ .reg .b32 %r4; mov.u32 %r4, %r2;\n" + again + "}\n" + again);
}

TEST_CASE("lanes that are off, leave or arrive between loads") {
  const std::string head =
      "shl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\n"
      "setp.lt.u32 %p0, %r1, 9;\nsetp.lt.u32 %p1, %r1, 64;\n";
  const std::string first = sum_of("ld.shared.u32 %r10, [%r4]");
  const std::string again = sum_of("ld.shared.u32 %r10, [%r4+4]");
  checked(head + "mov.u32 %r10, 1;\n" + first + "@%p0 " + again + "@!%p1 " + again + again);
  checked(head + "mov.u32 %r10, 1;\n@%p0 " + first + again + again);
  checked(head + first + "@%p0 bra A;\nadd.u32 %r4, %r4, 16;\nA: " + again + again);
  checked(head + first + "@%p0 bra A;\n" + again + "A: " + again);
  checked(head + first + "@%p0 exit;\n" + again + again);
  checked(head + first + "bar.sync 0;\nst.shared.u32 [%r4], %r1;\nbar.sync 0;\n" + again + again);
  checked(head + first + "L: " + again + first +
          "add.u32 %r4, %r4, 4;\nadd.u32 %r5, %r5, 1;\n"
          "setp.lt.u32 %p2, %r5, 20;\n@%p2 bra L;\n" +
          again);
}

TEST_CASE("a follower outside its memory faults as if it had looked itself") {
  const std::string head =
      "shl.b32 %r3, %r1, 2;\nadd.u32 %r4, %r2, %r3;\ncvt.u64.u32 %rd3, %r3;\n"
      "add.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\n";
  for (const std::string& base :
       {std::string("shared.u32 %r10, [%r4"), std::string("shared.u32 %r10, [%rd5"),
        std::string("global.u32 %r10, [%rd4")}) {
    const std::string first = sum_of("ld." + base + "]");
    for (const char* imm : {"+4096", "+4000", "+-4", "+-300", "+2", "+2147483644", "+4294967292"}) {
      INFO(base << imm);
      const Run r = checked(head + first + first + sum_of("ld." + base + imm + "]") + first);
      CHECK(r.outcome.ending == Ending::faulted);
    }
  }
}

TEST_CASE("random straight lines of loads do what they do without anchors") {
  std::mt19937 random(2611);
  const auto pick = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto number = [](unsigned v) { return std::to_string(v); };
  for (int program = 0; program < 60; ++program) {
    std::string body =
        "shl.b32 %r20, %r1, 2;\nadd.u32 %r21, %r2, %r20;\nadd.u32 %r22, %r2, 256;\n"
        "and.b32 %r20, %r1, 7;\nmad.lo.u32 %r23, %r20, 64, %r2;\nmov.u32 %r10, 1;\n"
        "cvt.u64.u32 %rd20, %r20;\nshl.b64 %rd20, %rd20, 4;\nadd.s64 %rd21, %rd1, %rd20;\n"
        "add.s64 %rd22, %rd2, %rd20;\nsetp.lt.u32 %p0, %r1, " +
        number(pick(96)) + ";\n";
    for (int i = 0; i < 40; ++i) {
      const std::string narrow = "%r" + number(21 + pick(3));
      const std::string imm = "+" + number(16 * pick(8)) + "]";
      switch (pick(10)) {
        case 0:
          body += "add.u32 " + narrow + ", " + narrow + ", 16;\n";
          break;
        case 1:
          body += "@%p0 add.u32 " + narrow + ", " + narrow + ", 4;\n";
          break;
        case 2:
          body += "@%p0 " + sum_of("ld.shared.u32 %r10, [" + narrow + imm);
          break;
        case 3:
          body += sum_of("ld.global.u32 %r10, [%rd21" + imm);
          break;
        case 4:
          body += sum_of("ld.shared.u32 %r10, [%rd22" + imm);
          break;
        case 5:
          body += "st.shared.u32 [" + narrow + "], %r9;\n";
          break;
        case 6:
          body += sum_of_four("ld.global.v4.u32 {%r11, %r12, %r13, %r14}, [%rd21" + imm);
          break;
        default:
          body += sum_of("ld.shared.u32 %r10, [" + narrow + imm);
          break;
      }
    }
    // Warps take turns only at barriers, so that racing stores come in one order.
    const Run model = run(body, "portable");
    const Run r = run(body, "");
    INFO(body);
    REQUIRE(r.outcome.message == model.outcome.message);
    REQUIRE(r.y == model.y);
  }
}

}  // namespace assay::emulator
