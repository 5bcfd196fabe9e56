// mbarriers, copies that report to them, the heap and the stack of a running kernel, and grids
// whose blocks wait for one another.
#include <numeric>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

std::string entry(const std::string& body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
         ".extern .func free(.param .b64 p);\n"
         ".visible .entry k(.param .u64 in, .param .u64 out)\n"
         "{ .reg .pred %p, %q; .reg .b32 %t, %n, %s, %r<8>; .reg .b64 %in, %out, %at, %state, %x;\n"
         "  .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;\n"
         "  ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
         "  mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; setp.eq.u32 %p, %t, 0;\n" +
         body + "  ret;\n}\n";
}

Outcome run(const std::string& body, std::vector<int>& in, std::vector<int>& out, unsigned threads,
            unsigned blocks = 1) {
  const auto m = parsed(entry(body));
  INFO(m->kernels().at(0).unsupported_instruction);
  REQUIRE(m->kernels().at(0).unsupported_instruction.empty());
  return Call("k", {blocks}, {threads})
      .buffer("in", in)
      .buffer("out", out)
      .budget({.thread_instructions = 20'000'000, .threads = 1})
      .run(m);
}

std::vector<int> counted(std::size_t n) {
  std::vector<int> v(n);
  std::iota(v.begin(), v.end(), 1);
  return v;
}

constexpr const char* kInit = "  @%p mbarrier.init.shared.b64 [bar], %n;\n  bar.sync 0;\n";
constexpr const char* kWait =
    "WAIT: mbarrier.try_wait.shared.b64 %q, [bar], %state;\n  @!%q bra WAIT;\n";

}  // namespace

TEST_CASE("a thread leaves an mbarrier when all have arrived, and sees what they wrote before") {
  std::vector<int> in = counted(128), out(128);
  const Outcome o =
      run(std::string(kInit) +
              "  mad.wide.u32 %at, %t, 4, %in; ld.global.b32 %r0, [%at];\n"
              "  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; st.shared.b32 [%s], %r0;\n"
              "  mbarrier.arrive.shared.b64 %state, [bar];\n" +
              kWait +
              "  mov.u32 %s, tile; sub.u32 %r1, 127, %t; mad.lo.u32 %s, %r1, 4, %s;\n"
              "  ld.shared.b32 %r0, [%s]; mad.wide.u32 %at, %t, 4, %out;\n"
              "  st.global.b32 [%at], %r0;\n",
          in, out, 128);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (std::size_t i = 0; i < 128; ++i) REQUIRE(out[i] == static_cast<int>(128 - i));
}

TEST_CASE("what is copied asynchronously is there when its thread has waited for its group") {
  std::vector<int> in = counted(2), out(8);
  const Outcome o =
      run("  mov.u32 %s, tile; mov.u32 %r0, 9; st.shared.v2.b32 [%s], {%r0, %r0};\n"
          "  cp.async.ca.shared.global [%s], [%in], 4; cp.async.commit_group;\n"
          "  cp.async.ca.shared.global [%s+4], [%in+4], 4; cp.async.commit_group;\n"
          "  ld.shared.v2.b32 {%r0, %r1}, [%s];\n"
          "  cp.async.wait_group 1; ld.shared.v2.b32 {%r2, %r3}, [%s];\n"
          "  st.shared.b32 [%s], 7; cp.async.wait_group 0; ld.shared.v2.b32 {%r4, %r5}, [%s];\n"
          "  cp.async.ca.shared.global [%s], [%in+4], 4; cp.async.wait_group 0;\n"
          "  ld.shared.b32 %r6, [%s]; cp.async.wait_all; ld.shared.b32 %r7, [%s];\n"
          "  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\n"
          "  st.global.v4.b32 [%out+16], {%r4, %r5, %r6, %r7};\n",
          in, out, 1);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  // What belongs to no group only wait_all waits for.
  REQUIRE(out == std::vector<int>{9, 9, 1, 9, 7, 2, 7, 2});
}

// A buffer filled again before it was read: only copies that arrive early show it.
TEST_CASE("copies arrive at once if the launch says so") {
  for (const bool at_once : {false, true}) {
    std::vector<int> in = counted(2), out(2);
    const auto m = parsed(
        entry("  mov.u32 %s, tile;\n"
              "  cp.async.ca.shared.global [%s], [%in], 4; cp.async.commit_group;\n"
              "  cp.async.ca.shared.global [%s], [%in+4], 4; cp.async.commit_group;\n"
              "  cp.async.wait_group 1; ld.shared.b32 %r0, [%s]; st.global.b32 [%out], %r0;\n"));
    Call call("k", {1}, {1});
    call.buffer("in", in).buffer("out", out);
    if (at_once) call.copies_at_once();
    REQUIRE(call.run(m).ending == Ending::completed);
    REQUIRE(out[0] == (at_once ? 2 : 1));
  }
}

TEST_CASE("parity waits tell the running phase from the last one") {
  std::vector<int> in(1), out(4);
  const Outcome o =
      run("  @%p mbarrier.init.shared.b64 [bar], 1;\n"
          "  mbarrier.test_wait.parity.shared.b64 %q, [bar], 0; selp.b32 %r0, 1, 0, %q;\n"
          "  mbarrier.test_wait.parity.shared.b64 %q, [bar], 1; selp.b32 %r1, 1, 0, %q;\n"
          "  mbarrier.arrive.shared.b64 _, [bar];\n"
          "  mbarrier.test_wait.parity.shared.b64 %q, [bar], 0; selp.b32 %r2, 1, 0, %q;\n"
          "  mbarrier.test_wait.parity.shared.b64 %q, [bar], 1; selp.b32 %r3, 1, 0, %q;\n"
          "  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\n",
          in, out, 1);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out == std::vector<int>{0, 1, 1, 0});
}

TEST_CASE("a bulk copy completes the bytes its barrier expects, and data come back in bulk") {
  std::vector<int> in = counted(64), out(64);
  const Outcome o =
      run("  @%p mbarrier.init.shared.b64 [bar], 1;\n  bar.sync 0;\n  @!%p bra OTHERS;\n"
          "  mbarrier.arrive.expect_tx.shared.b64 %state, [bar], 256;\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 256, "
          "[bar];\n"
          "OTHERS: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0;\n  @!%q bra OTHERS;\n"
          "  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; ld.shared.b32 %r0, [%s];\n"
          "  add.s32 %r0, %r0, 100; st.shared.b32 [%s], %r0; bar.sync 0;\n"
          "  @%p cp.async.bulk.global.shared::cta.bulk_group [%out], [tile], 256;\n"
          "  cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n",
          in, out, 64);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(out[i] == in[i] + 100);
}

TEST_CASE("a bulk copy whose barrier nobody asks has not arrived") {
  std::vector<int> in = counted(64), out(64);
  const Outcome o =
      run("  @%p mbarrier.init.shared.b64 [bar], 1;\n  bar.sync 0;\n  @!%p bra OTHERS;\n"
          "  mbarrier.arrive.expect_tx.shared.b64 %state, [bar], 256;\n"
          "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 256, "
          "[bar];\n"
          "OTHERS: bar.sync 0;\n"
          "  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; ld.shared.b32 %r0, [%s];\n"
          "  mul.wide.u32 %x, %t, 4; add.u64 %out, %out, %x; st.global.b32 [%out], %r0;\n",
          in, out, 64);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(out[i] != in[i]);
}

TEST_CASE("a bulk copy beyond what its phase expects has not arrived when the phase is over") {
  std::vector<int> in = counted(64), out(64);
  const Outcome o = run(
      "  @%p mbarrier.init.shared.b64 [bar], 1;\n  bar.sync 0;\n  @!%p bra OTHERS;\n"
      "  mbarrier.arrive.expect_tx.shared.b64 %state, [bar], 128;\n  add.u64 %x, %in, 128;\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%in], 128, "
      "[bar];\n"
      "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128], [%x], 128, "
      "[bar];\n"
      "OTHERS: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0;\n  @!%q bra OTHERS;\n"
      "  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; ld.shared.b32 %r0, [%s];\n"
      "  mul.wide.u32 %x, %t, 4; add.u64 %out, %out, %x; st.global.b32 [%out], %r0;\n",
      in, out, 64);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (std::size_t i = 0; i < 64; ++i) REQUIRE((out[i] == in[i]) == (i < 32));
}

TEST_CASE("free() of what was never allocated is a fault, in a module without malloc too") {
  std::vector<int> out(1);
  const Outcome o = Call("k", {1}, {1}).buffer("out", out).run(parsed(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  { .param .b64 p0; st.param.b64 [p0], %rd1; call.uni free, (p0); }
  ret;
})"));
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.message.find("free() of an address") != std::string::npos);
}

TEST_CASE("one arrival too many is a fault with its numbers") {
  std::vector<int> in(1), out(1);
  const Outcome o =
      run("  @%p mbarrier.init.shared.b64 [bar], 3;\n  bar.sync 0;\n"
          "  mbarrier.arrive.shared.b64 _, [bar], 2;\n",
          in, out, 2);
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::invalid_barrier);
  REQUIRE(o.message.find("1 arrivals pending") != std::string::npos);
}

TEST_CASE("malloc gives each thread its own memory and null when there is no more") {
  std::vector<int> in(1), out(64);
  const std::string allocate =
      "  { .param .b64 a; .param .b64 r; st.param.b64 [a], %x; call (r), malloc, (a);\n"
      "    ld.param.b64 %at, [r]; }\n";
  const std::string release = "  { .param .b64 a; st.param.b64 [a], %at; call free, (a); }\n";
  Outcome o = run("  mov.u64 %x, 40;\n" + allocate +
                      "  st.b32 [%at+36], %t; bar.sync 0; ld.b32 %r0, [%at+36];\n" + release +
                      "  mad.wide.u32 %at, %t, 4, %out; st.global.b32 [%at], %r0;\n",
                  in, out, 64);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (int i = 0; i < 64; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == i);
  o = run("  mov.u64 %x, 0x1000000;\n" + allocate +
              "  setp.eq.u64 %q, %at, 0; selp.b32 %r0, 1, 0, %q; st.global.b32 [%out], %r0;\n",
          in, out, 1);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out[0] == 1);
  o = run("  mov.u64 %at, %in;\n" + release, in, out, 1);
  REQUIRE(o.ending == Ending::faulted);
}

TEST_CASE("alloca gives memory of the activation, and too much of it overflows the stack") {
  std::vector<int> in(1), out(32);
  Outcome o =
      run("  mul.wide.u32 %x, %t, 64; add.u64 %x, %x, 4; alloca.u64 %at, %x;\n"
          "  st.local.b32 [%at], %t; alloca.u64 %state, %x; st.local.b32 [%state], 7;\n"
          "  ld.local.b32 %r0, [%at]; mad.wide.u32 %at, %t, 4, %out; st.global.b32 [%at], %r0;\n",
          in, out, 32);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  for (int i = 0; i < 32; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == i);
  o = run("  mov.u64 %x, 0x10000000; alloca.u64 %at, %x;\n", in, out, 1);
  REQUIRE(o.fault.kind == FaultKind::stack_overflow);
}

TEST_CASE("blocks that wait for one another through memory all get there") {
  std::vector<int> in(1), out(1);
  const Outcome o =
      run("  @!%p bra END;\n  atom.global.add.u32 %r0, [%in], 1;\n"
          "SPIN: ld.acquire.gpu.global.u32 %r1, [%in]; mov.u32 %r2, %nctaid.x;\n"
          "  setp.lt.u32 %q, %r1, %r2; @%q bra SPIN;\n"
          "  red.global.add.u32 [%out], 1;\nEND:\n",
          in, out, 32, 50);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out[0] == 50);
}

TEST_CASE("a vector of atomics adds each of its elements") {
  std::vector<int> in(1);
  std::vector<float> out(8);
  const auto m =
      parsed(entry("  mov.b32 %r0, 0f3F800000; mov.b32 %r1, 0f40000000;\n"
                   "  red.global.add.v4.f32 [%out], {%r0, %r1, %r0, %r1};\n"
                   "  atom.global.add.v2.f32 {%r2, %r3}, [%out+16], {%r1, %r1};\n"));
  REQUIRE(m->kernels().at(0).unsupported_instruction.empty());
  const Outcome o = Call("k", {1}, {32}).buffer("in", in).buffer("out", out).run(m);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out == std::vector<float>{32, 64, 32, 64, 64, 64, 0, 0});
}

TEST_CASE("a bulk copy that reduces combines element by element") {
  for (const auto& [operation, want] :
       {std::pair{"add.s32", 7 + 3}, {"min.s32", 3}, {"max.u32", 7}, {"xor.b32", 7 ^ 3}}) {
    const std::string text = std::string(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{ .reg .b32 %s, %t, %v; .reg .b64 %out; .reg .pred %p;
  .shared .align 16 .b8 tile[128];
  mov.u32 %t, %tid.x; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; mov.u32 %v, 3;
  st.shared.u32 [%s], %v;
  bar.sync 0;
  ld.param.u64 %out, [out]; mov.u32 %s, tile; mov.u32 %v, 128;
  setp.eq.u32 %p, %t, 0;
  @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.)") +
                             operation + R"( [%out], [%s], %v;
  @%p cp.async.bulk.commit_group;
  @%p cp.async.bulk.wait_group 0;
  ret; })";
    std::vector<std::int32_t> out(33, 7);
    const Outcome o = Call("k", {1}, {32}).buffer("out", out).run(parsed(text));
    INFO(operation << " " << o.message << o.fault.instruction);
    REQUIRE(o.ending == Ending::completed);
    for (std::size_t i = 0; i < 32; ++i) REQUIRE(out[i] == want);
    REQUIRE(out[32] == 7);
  }
}

TEST_CASE("a bulk reduction of halves rounds each sum, as an atomic does") {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{ .reg .b32 %s; .reg .b64 %out;
  .shared .align 16 .b32 tile[4];
  mov.u32 %s, tile;
  st.shared.v4.u32 [%s], {0x10003C00, 0x3C003C00, 0x3C003C00, 0x3C003C00};
  ld.param.u64 %out, [out];
  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%out], [%s], 16;
  ret; })";
  std::vector<std::uint16_t> out(8, 0x3C00);
  const Outcome o = Call("k", {1}, {1}).buffer("out", out).run(parsed(text));
  INFO(o.message << o.fault.instruction);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out == std::vector<std::uint16_t>{0x4000, 0x3C00, 0x4000, 0x4000, 0x4000, 0x4000, 0x4000,
                                            0x4000});
}
