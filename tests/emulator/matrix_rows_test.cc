// How matrices come from memory into fragments and go back: ldmatrix, stmatrix, movmatrix, wmma.
#include <random>

#include "engine/emulator/float_formats.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr std::string_view kRows = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{ .reg .b32 %t, %s, %r<8>; .reg .b64 %in, %out, %at;
  .shared .align 16 .b8 tile[512];
  mov.u32 %t, %tid.x;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mad.wide.u32 %at, %t, 16, %in;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%at];
  mov.u32 %s, tile;
  mad.lo.u32 %s, %t, 16, %s;
  st.shared.v4.b32 [%s], {%r0, %r1, %r2, %r3};
  bar.sync 0;
  INSTRUCTION
  mad.wide.u32 %at, %t, 16, %out;
  st.global.v4.b32 [%at], {%r4, %r5, %r6, %r7};
  ret;
})";

std::mt19937 random_source(5);  // NOLINT: the same numbers in every run
std::uint64_t below(unsigned n) { return random_source() % n; }

// Four 8x8 matrices of halves in rows of 16 bytes, as numbered cells.
std::vector<std::uint16_t> numbered() {
  std::vector<std::uint16_t> v(256);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::uint16_t>(i * 7 + 3);
  return v;
}

std::vector<std::uint16_t> run_rows(const std::string& instruction) {
  std::string text(kRows);
  text.replace(text.find("INSTRUCTION"), 11, instruction);
  std::vector<std::uint16_t> in = numbered(), out(256);
  const Outcome o = Call("k", {1}, {32}).buffer("in", in).buffer("out", out).run(parsed(text));
  INFO(instruction << " " << o.message << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
  return out;
}

}  // namespace

TEST_CASE("ldmatrix gives each lane a pair of its row, or of its column when transposed") {
  const auto in = numbered();
  for (const bool trans : {false, true}) {
    const auto out = run_rows("ldmatrix.sync.aligned.m8n8.x4" + std::string(trans ? ".trans" : "") +
                              ".shared.b16 {%r4, %r5, %r6, %r7}, [%s];");
    for (std::size_t lane = 0; lane < 32; ++lane) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t matrix = i / 2, major = lane / 4, minor = lane % 4 * 2 + i % 2;
        const std::size_t cell = trans ? minor * 8 + major : major * 8 + minor;
        REQUIRE(out[lane * 8 + i] == in[matrix * 64 + cell]);
      }
    }
  }
}

TEST_CASE("stmatrix puts back what ldmatrix took") {
  for (const std::string trans : {"", ".trans"}) {
    const auto out = run_rows("ldmatrix.sync.aligned.m8n8.x4" + trans +
                              ".shared.b16 {%r4, %r5, %r6, %r7}, [%s];\n"
                              "st.shared.v4.b32 [%s], {%t, %t, %t, %t};\n"
                              "stmatrix.sync.aligned.m8n8.x4" +
                              trans +
                              ".shared.b16 [%s], {%r4, %r5, %r6, %r7};\n"
                              "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%s];");
    REQUIRE(out == numbered());
  }
}

TEST_CASE("movmatrix transposes") {
  const auto straight = run_rows(
      "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%s];"
      "mov.b32 %r5, %r4; mov.b32 %r6, %r4; mov.b32 %r7, %r4;");
  const auto moved = run_rows(
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%s];"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r4;"
      "mov.b32 %r5, %r4; mov.b32 %r6, %r4; mov.b32 %r7, %r4;");
  REQUIRE(moved == straight);
}

TEST_CASE("a matrix instruction with lanes missing is a fault, a bad row address too") {
  const auto run = [](const std::string& instruction, unsigned threads) {
    std::string text(kRows);
    text.replace(text.find("INSTRUCTION"), 11, instruction);
    std::vector<std::uint16_t> in = numbered(), out(256);
    return Call("k", {1}, {threads}).buffer("in", in).buffer("out", out).run(parsed(text));
  };
  const std::string load = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%s];";
  REQUIRE(run(load, 16).fault.kind == FaultKind::invalid_shuffle);
  REQUIRE(run("add.u32 %s, %s, 512; " + load, 32).fault.kind == FaultKind::out_of_bounds);
  REQUIRE(run("add.u32 %s, %s, 8; " + load, 32).fault.kind == FaultKind::misaligned);
}

TEST_CASE("a wmma product equals the same sums, whichever way its matrices lie in memory") {
  for (const std::string layout : {"row", "col"}) {
    std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)
{ .reg .b32 %a<8>, %b<8>; .reg .f32 %c<8>; .reg .b64 %pa, %pb, %pc;
  ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c];
  wmma.load.a.sync.aligned.LAYOUT.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%pa], 24;
  wmma.load.b.sync.aligned.LAYOUT.m16n16k16.global.f16 {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, [%pb];
  wmma.load.c.sync.aligned.LAYOUT.m16n16k16.global.f32 {%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7}, [%pc], 16;
  wmma.mma.sync.aligned.LAYOUT.LAYOUT.m16n16k16.f32.f32 {%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7},
    {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7},
    {%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7};
  wmma.store.d.sync.aligned.LAYOUT.m16n16k16.global.f32 [%pc], {%c0,%c1,%c2,%c3,%c4,%c5,%c6,%c7}, 16;
  ret; })";
    for (std::size_t at = 0; (at = text.find("LAYOUT")) != std::string::npos;) {
      text.replace(at, 6, layout);
    }
    std::vector<std::uint16_t> a(24 * 16), b(16 * 16);
    std::vector<float> c(16 * 16), want(16 * 16);
    for (auto& v : a)
      v = static_cast<std::uint16_t>(encode_float(kHalf, static_cast<double>(below(9)) - 4, false));
    for (auto& v : b)
      v = static_cast<std::uint16_t>(encode_float(kHalf, static_cast<double>(below(9)) - 4, false));
    for (auto& v : c) v = static_cast<float>(below(9));
    const bool rows = layout == "row";
    const auto at = [&](std::size_t i, std::size_t j, std::size_t stride) {
      return rows ? i * stride + j : j * stride + i;
    };
    for (std::size_t i = 0; i < 16; ++i) {
      for (std::size_t j = 0; j < 16; ++j) {
        double sum = static_cast<double>(c[at(i, j, 16)]);
        for (std::size_t k = 0; k < 16; ++k) {
          sum += decode_float(kHalf, a[at(i, k, 24)]) * decode_float(kHalf, b[at(k, j, 16)]);
        }
        want[at(i, j, 16)] = static_cast<float>(sum);
      }
    }
    const Outcome o =
        Call("k", {1}, {32}).buffer("a", a).buffer("b", b).buffer("c", c).run(parsed(text));
    INFO(layout << " " << o.message);
    REQUIRE(o.ending == Ending::completed);
    REQUIRE(c == want);
  }
}
