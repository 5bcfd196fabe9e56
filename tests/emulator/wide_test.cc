// Registers of 128 bits: they are packed and unpacked, moved, loaded, stored and exchanged as a
// whole.
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

using Words = std::vector<std::uint64_t>;

// Each thread has two words in `in` and two in `out`; %x and %y are the first two.
Words run(const std::string& body, Words in, unsigned threads) {
  const std::string text = R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{ .reg .pred %odd; .reg .b32 %t, %o; .reg .b64 %in, %out, %at, %to, %x, %y, %z; .reg .b128 %q<4>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  and.b32 %o, %t, 1; setp.ne.u32 %odd, %o, 0;
  mad.wide.u32 %at, %t, 16, %in; mad.wide.u32 %to, %t, 16, %out;
  ld.global.v2.b64 {%x, %y}, [%at];
  )" + body + "\n  ret; }";
  Words out(in.size(), 7);
  const Outcome o = Call("k", {1}, {threads}).buffer("in", in).buffer("out", out).run(parsed(text));
  INFO(body << "\n" << o.message << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
  return out;
}

Words numbered(std::size_t n) {
  Words v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = (i + 1) * 0x0102030405060708ULL;
  return v;
}

}  // namespace

TEST_CASE("128 bits are packed, copied and unpacked") {
  const Words in = numbered(64);
  const Words out =
      run("mov.b128 %q0, {%y, %x}; mov.b128 %q1, %q0; mov.b128 {%x, %z}, %q1;"
          "st.global.v2.b64 [%to], {%x, %z};",
          in, 32);
  for (std::size_t i = 0; i < 32; ++i) {
    REQUIRE(out[2 * i] == in[2 * i + 1]);
    REQUIRE(out[2 * i + 1] == in[2 * i]);
  }
}

TEST_CASE("128 bits are loaded and stored, by some lanes or by all, in every space") {
  const Words in = numbered(64);
  REQUIRE(run("ld.global.nc.b128 %q0, [%at]; st.global.b128 [%to], %q0;", in, 32) == in);
  REQUIRE(run("mov.u32 %o, tile; mad.lo.u32 %o, %t, 16, %o; ld.relaxed.gpu.global.b128 %q2, [%at];"
              "st.shared.b128 [%o], %q2; ld.volatile.shared.b128 %q3, [%o]; st.b128 [%to], %q3;",
              in, 32) == in);
  const Words odd =
      run("@%odd ld.global.b128 %q0, [%at]; @%odd st.global.b128 [%to], %q0;", in, 32);
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(odd[i] == (i / 2 % 2 == 1 ? in[i] : 7));
}

TEST_CASE("128 bits are exchanged at once, and compared before") {
  const Words swapped =
      run("mov.b128 %q0, {%x, %y}; atom.global.exch.b128 %q1, [%to], %q0; mov.b128 {%x, %y}, %q1;"
          "st.global.v2.b64 [%at], {%x, %y}; ld.global.v2.b64 {%x, %y}, [%to];",
          {5, 6}, 1);
  REQUIRE(swapped == Words{5, 6});
  // The first comparison holds in both halves, the second in one only.
  const Words compared =
      run("mov.b64 %z, 7; mov.b128 %q0, {%z, %z}; mov.b128 %q1, {%x, %y};"
          "atom.cas.b128 %q2, [%to], %q0, %q1;"
          "mov.b64 %z, 5; mov.b128 %q0, {%z, %z}; mov.b128 %q1, %q2;"
          "atom.global.cas.b128 %q3, [%to], %q0, %q1;",
          {5, 6}, 1);
  REQUIRE(compared == Words{5, 6});
}

TEST_CASE("a loop of comparisons of 128 bits adds up over all threads") {
  const Words out = run(
      "ld.global.b128 %q0, [%out];\nAGAIN:\n"
      "mov.b128 {%x, %y}, %q0; add.cc.u64 %x, %x, 1; addc.u64 %y, %y, 0; mov.b128 %q1, {%x, %y};"
      "mov.b128 %q2, %q0; atom.global.cas.b128 %q0, [%out], %q2, %q1;"
      "mov.b128 {%x, %y}, %q0; mov.b128 {%z, %at}, %q2; setp.ne.u64 %odd, %x, %z;"
      "@%odd bra AGAIN;",
      numbered(128), 64);
  REQUIRE(out[0] == 7 + 64);
  REQUIRE(out[1] == 7);
}
