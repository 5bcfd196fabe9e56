// Registers that share rows: what may, what must not, and that answers stay what they were.
#include "engine/emulator/register_lives.h"

#include <string>
#include <vector>

#include "engine/emulator/module.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

namespace assay::emulator {
namespace {

constexpr const char* kHead =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 y)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<4000>;\n"
    ".reg .b64 %rd<99>;\n"
    "ld.param.u64 %rd1, [y];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\n";

std::vector<std::uint32_t> run(const std::string& body) {
  std::vector<std::uint32_t> y(32, 7);
  test::Call("k", {}, {32}).buffer("y", y).run(test::parsed(kHead + body + "ret;\n}\n"));
  return y;
}

std::uint32_t frame_bytes(const std::string& body) {
  return test::parsed(kHead + body + "ret;\n}\n")->text().functions[0].frame_bytes;
}

// A chain in which each value is needed by the next only.
std::string chain(int links) {
  std::string body = "add.u32 %r10, %r1, 1;\n";
  for (int i = 11; i < 10 + links; ++i) {
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  }
  return body + "st.global.u32 [%rd3], %r" + std::to_string(9 + links) + ";\n";
}

bool is_local(const std::string& body, const char* name) {
  return RegisterLives("{" + body + "}", 0).last_use(name).has_value();
}

}  // namespace

TEST_CASE("a chain of a thousand values needs the rows of a few") {
  CHECK(frame_bytes(chain(1000)) < frame_bytes(chain(10)) + 1);
  const auto y = run(chain(1000));
  for (unsigned k = 0; k < 32; ++k) CHECK(y[k] == k + 1000);
}

TEST_CASE("a value that lives on over a branch, a loop or a guard keeps its row") {
  CHECK(is_local("mov.u32 %r1, 3; add.u32 %r2, %r1, 1;", "%r1"));
  CHECK_FALSE(is_local("mov.u32 %r1, 3; bra L; L: add.u32 %r2, %r1, 1;", "%r1"));
  CHECK_FALSE(is_local("L: add.u32 %r2, %r1, 1; mov.u32 %r1, %r2; bra L;", "%r1"));
  CHECK_FALSE(is_local("@%p1 mov.u32 %r1, 3; add.u32 %r2, %r1, 1;", "%r1"));
  CHECK_FALSE(is_local("st.global.u32 [%r1], 3; mov.u32 %r1, 3;", "%r1"));
  CHECK_FALSE(is_local("add.u32 %r1, %r1, 1;", "%r2"));
  CHECK(is_local("ld.global.v2.u32 {%r1, %r2}, [%rd1]; add.u32 %r3, %r1, %r2;", "%r2"));
}

TEST_CASE("text that is not understood leaves every register to itself") {
  CHECK_FALSE(is_local("mov.u32 %r1, 3; { .reg .b32 %r1; mov.u32 %r1, 4; }", "%r1"));
  CHECK_FALSE(is_local(".loc nonsense; mov.u32 %r1, 3;", "%r1"));
  CHECK_FALSE(RegisterLives("{ mov.u32 %r1, 3", 0).last_use("%r1").has_value());
  CHECK_FALSE(RegisterLives("", 0).last_use("%r1").has_value());
  CHECK(is_local(".loc 1 2 3, function_name F, inlined_at 1 2 3 mov.u32 %r1, 3;", "%r1"));
}

TEST_CASE("a register that is added to itself reads what came before") {
  CHECK_FALSE(is_local("add.u32 %r1, %r1, 1; mov.u32 %r2, %r1;", "%r1"));
  const auto y =
      run("mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n"
          "L: add.u32 %r5, %r5, 2;\nadd.u32 %r20, %r5, %r1;\nadd.u32 %r6, %r6, %r20;\n"
          "mov.u32 %r21, 77;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra L;\n"
          "st.global.u32 [%rd3], %r6;\n");
  for (unsigned k = 0; k < 32; ++k) {
    unsigned five = 0;
    unsigned six = 0;
    do {
      five += 2;
      six += five + k;
    } while (five < k);
    CHECK(y[k] == six);
  }
}

TEST_CASE("lanes at different places of one straight line keep their own values") {
  // The odd lanes wait at the barrier of the warp while the others are further on.
  const auto y =
      run("and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\nmov.u32 %r9, 5;\n@%p1 bra E;\n"
          "mov.u32 %r9, 6;\n"
          "E: add.u32 %r30, %r9, %r1;\nmul.lo.u32 %r31, %r30, 3;\nadd.u32 %r32, %r31, 1;\n"
          "mul.lo.u32 %r33, %r32, %r32;\nst.global.u32 [%rd3], %r33;\n");
  for (unsigned k = 0; k < 32; ++k) {
    const unsigned v = (5 + (k & 1U) + k) * 3 + 1;
    CHECK(y[k] == v * v);
  }
}

}  // namespace assay::emulator
