#include <numeric>
#include <string>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

// A kernel of one warp over `in` and `out`; %x is in, %y out, %l the lane.
std::string around(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".const .align 16 .b32 fixed[4] = {10, 20, 30, 40};\n"
         ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
         ".reg .b64 %x, %y, %a<9>; .reg .b32 %l, %r<12>; .reg .b16 %h<5>; .reg .pred %p<4>;\n"
         ".shared .align 16 .b8 s[2048]; .local .align 16 .b8 loc[64];\n"
         "ld.param.u64 %x, [in]; ld.param.u64 %y, [out]; mov.u32 %l, %laneid;\n" +
         body + "\nret;\n}\n";
}

std::vector<unsigned> run_warp(const std::string& body, std::vector<unsigned> in = {},
                               std::uint32_t lanes = 32) {
  if (in.empty()) {
    in.resize(256);
    std::iota(in.begin(), in.end(), 1000U);
  }
  std::vector<unsigned> out(256, 7);
  const auto m = parsed(around(body));
  INFO(body);
  REQUIRE(m->kernels().at(0).unsupported_instruction == "");
  const Outcome o = Call("k", {1}, {lanes}).buffer("in", in).buffer("out", out).run(m);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  return out;
}

const std::string kStore = "mad.wide.u32 %a1, %l, 4, %y; st.global.u32 [%a1], %r1;";

}  // namespace

TEST_CASE("loads sign- or zero-extend into wider registers") {
  std::vector<unsigned> in(256, 0x8081FF7FU);
  const auto at = [](const std::string& load) { return load + kStore; };
  REQUIRE(run_warp(at("ld.global.s8 %r1, [%x];"), in)[3] == 0x7F);
  REQUIRE(run_warp(at("ld.global.s8 %r1, [%x+1];"), in)[3] == 0xFFFFFFFF);
  REQUIRE(run_warp(at("ld.global.u8 %r1, [%x+3];"), in)[3] == 0x80);
  REQUIRE(run_warp(at("ld.global.s16 %r1, [%x+2];"), in)[3] == 0xFFFF8081);
  REQUIRE(run_warp(at("ld.global.u16 %h1, [%x+2]; cvt.u32.u16 %r1, %h1;"), in)[3] == 0x8081);
  REQUIRE(run_warp(at("ld.global.s8 %h1, [%x+1]; cvt.u32.u16 %r1, %h1;"), in)[3] == 0xFFFF);
}

TEST_CASE("vector loads and stores move elements in order") {
  const auto out = run_warp(
      "mad.wide.u32 %a1, %l, 16, %x; ld.global.nc.v4.u32 {%r1,%r2,%r3,%r4}, [%a1];"
      "mad.wide.u32 %a2, %l, 16, %y; st.global.v4.b32 [%a2], {%r4,%r3,%r2,%r1};");
  for (unsigned k = 0; k < 32; ++k) {
    for (unsigned j = 0; j < 4; ++j) REQUIRE(out[4 * k + j] == 1000 + 4 * k + 3 - j);
  }
}

TEST_CASE("a vector of one is the element itself") {
  const auto out = run_warp(
      "mad.wide.u32 %a2, %l, 4, %x; ld.global.b32 { %r1 }, [ %a2 + 4 ];"
      "mad.wide.u32 %a1, %l, 4, %y; st.global.b32 [ %a1 + 0 ], { %r1 };");
  for (unsigned lane = 0; lane < 32; ++lane) CHECK(out[lane] == 1001 + lane);
}

TEST_CASE("scattered, uniform and backward accesses give what each lane asked for") {
  const auto scattered = run_warp(
      "mul.lo.u32 %r2, %l, 77; and.b32 %r2, %r2, 255;"
      "mad.wide.u32 %a2, %r2, 4, %x; ld.global.u32 %r1, [%a2];" +
      kStore);
  const auto backward = run_warp(
      "sub.u32 %r2, 31, %l; mad.wide.u32 %a2, %r2, 4, %x;"
      "ld.global.u32 %r1, [%a2+4];" +
      kStore);
  const auto uniform = run_warp("ld.global.u32 %r1, [%x+40];" + kStore, {}, 20);
  for (unsigned k = 0; k < 32; ++k) {
    REQUIRE(scattered[k] == 1000 + (k * 77 & 255));
    REQUIRE(backward[k] == 1000 + 31 - k + 1);
    REQUIRE(uniform[k] == (k < 20 ? 1010U : 7U));
  }
}

TEST_CASE("words at any distance, forward and backward, are those that each lane asked for") {
  for (const int step : {1, 2, 3, 4, 5, 7, -1, -2, -3, -4, -7}) {
    const unsigned begin = step < 0 ? 220 : 3;
    const std::string index = "mul.lo.s32 %r2, %l, " + std::to_string(step) +
                              "; add.s32 %r2, %r2, " + std::to_string(begin) +
                              "; shl.b32 %r3, %r2, 2;";
    const auto global = run_warp(index + "cvt.u64.u32 %a2, %r3; add.s64 %a2, %a2, %x;" +
                                 "ld.global.u32 %r1, [%a2];" + kStore);
    // Each lane's word is where the others read: what is in shared memory is its own offset.
    const std::string fill =
        "mov.u32 %r4, s; shl.b32 %r5, %l, 2; add.u32 %r4, %r4, %r5; st.shared.u32 [%r4], %l;"
        "bar.warp.sync -1; and.b32 %r3, %r3, 124; mov.u32 %r4, s; add.u32 %r4, %r4, %r3;";
    const auto narrow = run_warp(index + fill + "ld.shared.u32 %r1, [%r4];" + kStore);
    const auto wide =
        run_warp(index + fill + "cvt.u64.u32 %a2, %r4; ld.shared.u32 %r1, [%a2];" + kStore);
    for (unsigned k = 0; k < 32; ++k) {
      const auto at = static_cast<unsigned>(static_cast<int>(begin) + step * static_cast<int>(k));
      REQUIRE(global[k] == 1000 + at);
      REQUIRE(narrow[k] == at % 32);
      REQUIRE(wide[k] == at % 32);
    }
  }
}

TEST_CASE("of lanes that store to one place the last wins") {
  REQUIRE(run_warp("st.global.u32 [%y], %l;")[0] == 31);
}

TEST_CASE("generic addresses reach shared, local, constant and global memory") {
  const auto shared = run_warp(
      "mov.u32 %r2, s; cvt.u64.u32 %a2, %r2; cvta.shared.u64 %a3, %a2; mad.wide.u32 %a3, %l, 4, "
      "%a3;"
      "st.u32 [%a3], %l; bar.warp.sync -1; xor.b32 %r3, %l, 5; shl.b32 %r3, %r3, 2;"
      "add.u32 %r3, %r3, %r2; ld.shared.u32 %r1, [%r3];" +
      kStore);
  const auto local = run_warp(
      "mov.u64 %a2, loc; cvta.local.u64 %a3, %a2; mul.lo.u32 %r2, %l, 3; st.u32 [%a3+8], %r2;"
      "ld.local.u32 %r1, [%a2+8];" +
      kStore);
  const auto constant = run_warp(
      "and.b32 %r2, %l, 3; mov.u64 %a2, fixed; mad.wide.u32 %a2, %r2, 4, %a2;"
      "ld.const.u32 %r1, [%a2];" +
      kStore);
  const auto spaces = run_warp(
      "mov.u64 %a2, loc; cvta.local.u64 %a3, %a2; isspacep.local %p0, %a3; isspacep.global %p1, "
      "%a3;"
      "isspacep.global %p2, %x; selp.u32 %r1, 1, 0, %p0; selp.u32 %r2, 2, 0, %p1;"
      "selp.u32 %r3, 4, 0, %p2; or.b32 %r1, %r1, %r2; or.b32 %r1, %r1, %r3;" +
      kStore);
  const auto in_constant = run_warp(
      "mov.u64 %a2, fixed; cvta.const.u64 %a3, %a2; isspacep.const %p0, %a3; isspacep.const %p1, "
      "%x;"
      "add.u64 %a3, %a3, 4096; isspacep.const %p2, %a3; selp.u32 %r1, 1, 0, %p0;"
      "selp.u32 %r2, 2, 0, %p1; selp.u32 %r3, 4, 0, %p2; or.b32 %r1, %r1, %r2;"
      "or.b32 %r1, %r1, %r3;" +
      kStore);
  for (unsigned k = 0; k < 32; ++k) {
    REQUIRE(shared[k] == (k ^ 5));
    REQUIRE(local[k] == 3 * k);
    REQUIRE(constant[k] == 10 * (k % 4 + 1));
    REQUIRE(spaces[k] == 5);
    REQUIRE(in_constant[k] == 1);
  }
}

TEST_CASE("atomics of every kind apply once per lane") {
  const auto apply = [](const std::string& op, const std::string& operands, unsigned start) {
    std::vector<unsigned> in(256, start);
    return run_warp("red.global." + op + " [%x], " + operands +
                        "; bar.warp.sync -1;"
                        "ld.global.u32 %r1, [%x];" +
                        kStore,
                    in)[0];
  };
  REQUIRE(apply("add.u32", "%l", 5) == 5 + 31 * 16);
  REQUIRE(apply("max.s32", "%l", 0xFFFFFFF0U) == 31);
  REQUIRE(apply("max.u32", "%l", 0xFFFFFFF0U) == 0xFFFFFFF0U);
  REQUIRE(apply("min.s32", "%l", 0xFFFFFFF0U) == 0xFFFFFFF0U);
  REQUIRE(apply("min.u32", "%l", 0xFFFFFFF0U) == 0);
  REQUIRE(apply("and.b32", "%l", 0xFF) == 0);
  REQUIRE(apply("or.b32", "%l", 0x100) == 0x11F);
  REQUIRE(apply("xor.b32", "%l", 0) == 0);
  REQUIRE(apply("inc.u32", "9", 0) == 32 % 10);
  REQUIRE(apply("dec.u32", "9", 0) == 8);
  REQUIRE(apply("add.f32", "0f3F800000", 0) == 0x42000000);
  const auto cas = run_warp("atom.global.cas.b32 %r1, [%x], 1000, %l;" + kStore);
  REQUIRE(cas[0] == 1000);
  REQUIRE(cas[1] == 0);
  REQUIRE(cas[31] == 0);
  const auto shared = run_warp(
      "mov.u32 %r3, s; st.shared.u32 [s], 0; bar.warp.sync -1;"
      "atom.shared.add.u32 %r1, [%r3], 1;" +
      kStore);
  for (unsigned k = 0; k < 32; ++k) REQUIRE(shared[k] == k);
}

TEST_CASE("cp.async copies and fills with zeros") {
  const auto out = run_warp(
      "mov.u32 %r2, s; mad.lo.u32 %r2, %l, 16, %r2; mad.wide.u32 %a2, %l, 16, %x;"
      "cp.async.ca.shared.global [%r2], [%a2], 16, 8; cp.async.commit_group; cp.async.wait_group 0;"
      "ld.shared.v4.u32 {%r4,%r5,%r6,%r7}, [%r2]; mad.wide.u32 %a3, %l, 16, %y;"
      "st.global.v4.u32 [%a3], {%r4,%r5,%r6,%r7};");
  REQUIRE(out[4 * 9 + 1] == 1000 + 4 * 9 + 1);
  REQUIRE(out[4 * 9 + 2] == 0);
}

TEST_CASE("shuffles follow mode, segment and clamp") {
  const auto modes = [](const std::string& text) { return run_warp(text + kStore); };
  const auto up = modes("shfl.sync.up.b32 %r1|%p0, %l, 3, 0, -1; @!%p0 add.u32 %r1, %r1, 100;");
  const auto down = modes("shfl.sync.down.b32 %r1, %l, 4, 0x181F, -1;");  // segments of 8
  const auto bfly = modes("shfl.sync.bfly.b32 %r1, %l, 16, 31, -1;");
  const auto idx = modes("shfl.sync.idx.b32 %r1, %l, 5, 0x101F, -1;");  // segments of 16
  for (unsigned k = 0; k < 32; ++k) {
    REQUIRE(up[k] == (k < 3 ? k + 100 : k - 3));
    REQUIRE(down[k] == (k % 8 + 4 < 8 ? k + 4 : k));
    REQUIRE(bfly[k] == (k ^ 16));
    REQUIRE(idx[k] == k / 16 * 16 + 5);
  }
}

TEST_CASE("votes, matches and reductions look at the members only") {
  const std::string odd = "and.b32 %r2, %l, 1; setp.ne.u32 %p0, %r2, 0;";
  REQUIRE(run_warp(odd + "vote.sync.ballot.b32 %r1, %p0, -1;" + kStore)[4] == 0xAAAAAAAA);
  REQUIRE(run_warp(odd + "vote.sync.any.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;" + kStore)[4] ==
          1);
  REQUIRE(run_warp(odd + "vote.sync.all.pred %p1, %p0, -1; selp.u32 %r1, 1, 0, %p1;" + kStore)[4] ==
          0);
  REQUIRE(run_warp(odd + "@%p0 activemask.b32 %r1; @!%p0 mov.u32 %r1, 3;" + kStore)[5] ==
          0xAAAAAAAA);
  REQUIRE(run_warp("and.b32 %r2, %l, 3; match.any.sync.b32 %r1, %r2, -1;" + kStore)[6] ==
          0x44444444);
  REQUIRE(run_warp("match.all.sync.b32 %r1|%p0, %l, -1;" + kStore)[6] == 0);
  REQUIRE(run_warp("redux.sync.add.u32 %r1, %l, -1;" + kStore)[6] == 496);
  REQUIRE(run_warp("redux.sync.min.s32 %r1, %l, -1;" + kStore)[6] == 0);
  // Lanes of a divergent branch meet at the vote.
  const auto late = run_warp(
      "setp.lt.u32 %p0, %l, 8; mov.u32 %r3, 0; @%p0 bra L; mov.u32 %r3, 1; L:\n"
      "setp.ne.u32 %p1, %r3, 0; vote.sync.ballot.b32 %r1, %p1, -1;" +
      kStore);
  REQUIRE(late[0] == 0xFFFFFF00);
}

TEST_CASE("special registers tell each thread its place") {
  REQUIRE(run_warp("mov.u32 %r1, %lanemask_lt;" + kStore)[5] == 31);
  REQUIRE(run_warp("mov.u32 %r1, %lanemask_ge;" + kStore)[5] == 0xFFFFFFE0);
  REQUIRE(run_warp("mov.u32 %r1, %ntid.x;" + kStore, {}, 20)[5] == 20);
  REQUIRE(run_warp("mov.u64 %a2, %clock64; mov.u64 %a3, %globaltimer; mov.u32 %r1, WARP_SZ;" +
                   kStore)[5] == 32);
}

TEST_CASE("a branch table sends each lane to its target") {
  const auto out = run_warp(
      "and.b32 %r2, %l, 3; T: .branchtargets A, B, C, D; brx.idx %r2, T;"
      "A: mov.u32 %r1, 10; bra E; B: mov.u32 %r1, 11; bra E; C: mov.u32 %r1, 12; bra E;"
      "D: mov.u32 %r1, 13; E:\n" +
      kStore);
  for (unsigned k = 0; k < 32; ++k) REQUIRE(out[k] == 10 + k % 4);
}

TEST_CASE("barriers with reductions give every thread the block's answer") {
  const std::string k = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %y, %a; .reg .b32 %t, %r<4>; .reg .pred %p<4>;
  ld.param.u64 %y, [out]; mov.u32 %t, %tid.x;
  setp.lt.u32 %p0, %t, 70;
  barrier.cta.red.popc.aligned.u32 %r1, 0, %p0;
  barrier.cta.red.and.aligned.pred %p1, 0, %p0;
  bar.red.or.pred %p2, 0, !%p0;
  selp.u32 %r2, 1000, 0, %p1; selp.u32 %r3, 2000, 0, %p2;
  add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
  mad.wide.u32 %a, %t, 4, %y; st.global.u32 [%a], %r1; ret;
})";
  std::vector<unsigned> out(96);
  REQUIRE(Call("k", {1}, {96}).buffer("out", out).run(parsed(k)).ending == Ending::completed);
  for (const unsigned v : out) REQUIRE(v == 2070);
}

TEST_CASE("named barriers let producers arrive without waiting") {
  const std::string k = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %y, %a; .reg .b32 %t, %r<4>; .reg .pred %p;
  .shared .b32 box;
  ld.param.u64 %y, [out]; mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 32;
  @%p bra PRODUCE;
  bar.sync 3, 64;
  ld.shared.u32 %r1, [box];
  mad.wide.u32 %a, %t, 4, %y; st.global.u32 [%a], %r1; ret;
PRODUCE:
  st.shared.u32 [box], 99;
  bar.arrive 3, 64;
  ret;
})";
  std::vector<unsigned> out(32);
  REQUIRE(Call("k", {1}, {64}).buffer("out", out).run(parsed(k)).ending == Ending::completed);
  for (const unsigned v : out) REQUIRE(v == 99);
}

TEST_CASE("threads that have exited are not waited for at a barrier") {
  const std::string k = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b64 %y; .reg .b32 %t; .reg .pred %p;
  ld.param.u64 %y, [out]; mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 40;
  @%p ret;
  bar.sync 0;
  st.global.u32 [%y], 1; ret;
})";
  std::vector<unsigned> out(1);
  REQUIRE(Call("k", {1}, {128}).buffer("out", out).run(parsed(k)).ending == Ending::completed);
  REQUIRE(out[0] == 1);
}
