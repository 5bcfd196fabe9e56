// Atomics on floats: sums of 16 bits in vectors are rounded, extremes prefer numbers and know zeros
// apart; sums of 32 bits have subnormal numbers in shared memory only.
#include <array>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

using Halves = std::vector<std::uint16_t>;

// One thread applies `operation` of `type` with `values` to `memory`, four elements at once.
Halves apply(const std::string& operation, const std::string& type, Halves memory, Halves values) {
  const std::string text = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 values)
{ .reg .b16 %h<8>; .reg .b64 %m, %v;
  ld.param.u64 %m, [memory]; ld.param.u64 %v, [values];
  ld.global.v4.b16 {%h0, %h1, %h2, %h3}, [%v];
  red.relaxed.gpu.global.)" +
                           operation + ".noftz.v4." + type + R"( [%m], {%h0, %h1, %h2, %h3};
  ret; })";
  const Outcome o =
      Call("k", {1}, {1}).buffer("memory", memory).buffer("values", values).run(parsed(text));
  INFO(operation << "." << type << " " << o.message << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
  return memory;
}

}  // namespace

TEST_CASE("extremes of halves in memory prefer numbers, and positive zero to negative") {
  const Halves memory{0x3C00, 0x8000, 0x7E00, 0xC000}, values{0x4000, 0x0000, 0x3C00, 0x7C00};
  REQUIRE(apply("max", "f16", memory, values) == Halves{0x4000, 0x0000, 0x3C00, 0x7C00});
  REQUIRE(apply("min", "f16", memory, values) == Halves{0x3C00, 0x8000, 0x3C00, 0xC000});
}

TEST_CASE("extremes of bfloats in memory prefer numbers, too") {
  const Halves memory{0x3F80, 0x8000, 0x7FC0, 0x0001}, values{0x4000, 0x0000, 0x7FC0, 0x8001};
  REQUIRE(apply("max", "bf16", memory, values) == Halves{0x4000, 0x0000, 0x7FFF, 0x0001});
  REQUIRE(apply("min", "bf16", memory, values) == Halves{0x3F80, 0x8000, 0x7FFF, 0x8001});
}

TEST_CASE("sums of halves and bfloats in memory are rounded to nearest, ties to even") {
  REQUIRE(apply("add", "f16", {0x3C00, 0x6800, 0x7BFF, 0x0001}, {0x1000, 0x3800, 0x5000, 0x0001}) ==
          Halves{0x3C00, 0x6800, 0x7C00, 0x0002});
  REQUIRE(apply("add", "bf16", {0x3F80, 0x3F81, 0x7F7F, 0x0001},
                {0x3B80, 0x3B80, 0x7F7F, 0x0001}) == Halves{0x3F80, 0x3F82, 0x7F80, 0x0002});
}

TEST_CASE("sums of floats flush subnormal numbers in global memory and keep them in shared") {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{ .reg .b32 %s, %r<4>; .reg .b64 %out, %g;
  .shared .align 4 .b32 word[2];
  ld.param.u64 %out, [out];
  mov.u32 %s, word;
  st.shared.u32 [%s], 1;
  st.shared.u32 [%s+4], 0x80000001;
  atom.shared.add.f32 %r0, [%s], 0f00000002;
  cvt.u64.u32 %g, %s; cvta.shared.u64 %g, %g;
  atom.add.f32 %r0, [%g+4], 0f80000002;
  ld.shared.u32 %r1, [%s]; ld.shared.u32 %r2, [%s+4];
  red.global.add.f32 [%out], 0f00000002;
  red.global.add.f32 [%out+4], 0f80000002;
  red.add.f32 [%out+8], 0f80000001;
  red.global.add.f32 [%out+12], 0f007FFFFF;
  st.global.u32 [%out+16], %r1; st.global.u32 [%out+20], %r2;
  ret; })";
  // The last: a normal number less a subnormal one is what it was.
  std::vector<std::uint32_t> out{1, 0x80000001, 0x00800000, 0x00800000, 0, 0};
  const Outcome o = Call("k", {1}, {1}).buffer("out", out).run(parsed(text));
  INFO(o.message << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out == std::vector<std::uint32_t>{0, 0x80000000, 0x00800000, 0x00800000, 3, 0x80000003});
}
