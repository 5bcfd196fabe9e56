// Idioms that look like mistakes and are none: nothing may be said about them. And their neighbours
// that are mistakes, about which something must be said.
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

constexpr Inspection kAll{.races = true, .initialised = true, .barriers = true, .numbers = true};

// A kernel k(u32* a) that begins with a's address in %rd1 and the thread's number in %r1.
std::string kernel_of(const std::string& body, const std::string& before = "") {
  return R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_a) {
  .reg .pred %p<8>;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .reg .f64 %fd<8>;
)" + before +
         R"(  ld.param.u64 %rd1, [k_a];
  mov.u32 %r1, %tid.x;
)" + body +
         "  ret;\n}\n";
}

Outcome inspect(const std::string& ptx, std::vector<std::uint32_t>& a, Dim3 grid, Dim3 block) {
  return Call("k", grid, block)
      .buffer("a", a)
      .inspect(kAll)
      .budget({.thread_instructions = 50'000'000, .threads = 1})
      .run(parsed(ptx));
}

std::string told(const Outcome& o) {
  std::string s(name(o.ending));
  s += " " + o.message;
  for (const Finding& f : o.findings) s += "\n  " + std::string(name(f.kind)) + ": " + f.message;
  return s;
}

bool says(const Outcome& o, FindingKind kind) {
  return std::any_of(o.findings.begin(), o.findings.end(),
                     [&](const Finding& f) { return f.kind == kind; });
}

// old = *a; do { seen = old; old = atomicCAS(a, seen, seen + 1); } while (old != seen);
const char* const kSwapLoop = R"(  ld.global.u32 %r2, [%rd1];
again:
  mov.u32 %r3, %r2;
  add.u32 %r4, %r3, 1;
  atom.global.cas.b32 %r2, [%rd1], %r3, %r4;
  setp.ne.u32 %p1, %r2, %r3;
  @%p1 bra again;
)";

// Thread 0 turns round many times, the others wait for it at the barrier.
const char* const kLongWayRound = R"(  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra meet;
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 20000;
  @%p2 bra again;
meet:
  bar.sync 0;
)";

}  // namespace

TEST_CASE("a compare-and-swap loop may begin with a plain read") {
  std::vector<std::uint32_t> a(1);
  const Outcome o = inspect(kernel_of(kSwapLoop), a, {3}, {64});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
  REQUIRE(a[0] == 192);
}

TEST_CASE("a compare-and-swap loop may begin so in shared memory, too") {
  std::vector<std::uint32_t> a(1);
  const Outcome o = inspect(kernel_of(R"(  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra begun;
  st.shared.u32 [word], 0;
begun:
  bar.sync 0;
  ld.shared.u32 %r2, [word];
  mov.u64 %rd2, word;
again:
  add.u32 %r4, %r2, 1;
  atom.shared.cas.b32 %r3, [%rd2], %r2, %r4;
  setp.ne.u32 %p1, %r3, %r2;
  mov.u32 %r2, %r3;
  @%p1 bra again;
  bar.sync 0;
  ld.shared.u32 %r5, [word];
  st.global.u32 [%rd1], %r5;
)",
                                      "  .shared .align 4 .b32 word;\n"),
                            a, {1}, {96});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
  REQUIRE(a[0] == 96);
}

TEST_CASE("a lock with fences orders the lanes of a warp, one without does not") {
  for (const char* const fence : {"membar.gl;", ""}) {
    std::vector<std::uint32_t> a(2);
    const Outcome o = inspect(kernel_of(std::string(R"(  mov.u32 %r5, 0;
again:
  atom.global.cas.b32 %r2, [%rd1], 0, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra retry;
  )") + fence + R"(
  ld.global.u32 %r3, [%rd1+4];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1+4], %r3;
  )" + fence + R"(
  atom.global.exch.b32 %r4, [%rd1], 0;
  mov.u32 %r5, 1;
retry:
  setp.eq.u32 %p2, %r5, 0;
  @%p2 bra again;
)"),
                              a, {1}, {32});
    INFO(fence << told(o));
    REQUIRE(o.ending == Ending::completed);
    REQUIRE(a[1] == 32);
    REQUIRE(o.findings.empty() == (*fence != 0));
  }
}

TEST_CASE("a plain read beside an atomic that swaps nothing is a race") {
  std::vector<std::uint32_t> a(1);
  const Outcome o = inspect(kernel_of(R"(  ld.global.u32 %r2, [%rd1];
  atom.global.add.u32 %r3, [%rd1], %r2;
)"),
                            a, {1}, {64});
  INFO(told(o));
  REQUIRE(says(o, FindingKind::global_race));
}

TEST_CASE("shuffles in both branches under one mask go on each by itself, and are told") {
  std::vector<std::uint32_t> a(64);
  const std::string ptx = kernel_of(R"(  setp.lt.u32 %p1, %r1, 16;
  mad.lo.u32 %r2, %r1, 3, 7;
  mov.u32 %r5, -1;
  @%p1 bra low;
  shfl.sync.bfly.b32 %r3, %r2, 2, 31, %r5;
  bra.uni met;
low:
  shfl.sync.bfly.b32 %r3, %r2, 1, 31, %r5;
met:
  bar.sync 0;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r3;
)");
  const Outcome o = inspect(ptx, a, {1}, {32});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  for (std::uint32_t t = 0; t < 32; ++t) REQUIRE(a[t] == (t ^ (t < 16 ? 1 : 2)) * 3 + 7);
  REQUIRE(says(o, FindingKind::partial_mask));
}

// On a device too, though no text promises it.
TEST_CASE("a shuffle serves lanes that its mask leaves out, and lanes that are off answer zero") {
  std::vector<std::uint32_t> a(64);
  const std::string ptx = kernel_of(R"(  mad.lo.u32 %r2, %r1, 3, 7;
  mov.u32 %r3, 99;
  mov.u32 %r5, 0x55555555;
  shfl.sync.down.b32 %r4, %r2, 1, 31, %r5;
  setp.gt.u32 %p1, %r1, 7;
  @%p1 bra off;
  shfl.sync.down.b32 %r3, %r2, 4, 31, 0xFF;
off:
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r4;
  st.global.u32 [%rd2+128], %r3;
)");
  const Outcome o = inspect(ptx, a, {1}, {32});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  for (std::uint32_t t = 0; t < 31; ++t) REQUIRE(a[t] == (t + 1) * 3 + 7);
  for (std::uint32_t t = 0; t < 8; ++t) REQUIRE(a[32 + t] == (t < 4 ? (t + 4) * 3 + 7 : 0));
  REQUIRE(says(o, FindingKind::partial_mask));
  REQUIRE(says(o, FindingKind::inactive_shuffle));
}

// Warp 0 overwrites what the others read right after the barrier.
TEST_CASE("warps leave a barrier together, or one after the other if that is asked for") {
  const std::string ptx = kernel_of(R"(  mov.u32 %r2, tile;
  st.shared.u32 [%r2], 5;
  bar.sync 0;
  ld.shared.u32 %r3, [%r2];
  mov.u32 %r4, 0;
turn:
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 40;
  @%p1 bra turn;
  st.shared.u32 [%r2], 6;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2], %r3;
)",
                                    "  .shared .align 4 .b8 tile[4];\n");
  for (const bool in_turn : {false, true}) {
    std::vector<std::uint32_t> a(128);
    Call call("k", {1}, {128});
    call.buffer("a", a);
    if (in_turn) call.to_the_barrier();
    const Outcome o = call.run(parsed(ptx));
    REQUIRE(o.ending == Ending::completed);
    // The last to arrive goes on first.
    REQUIRE(a[127] == 5);
    REQUIRE(a[0] == (in_turn ? 6 : 5));
  }
}

TEST_CASE("lanes that come to a barrier one after another met there") {
  std::vector<std::uint32_t> a(1);
  const Outcome o = inspect(kernel_of(kLongWayRound), a, {2}, {64});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
}

TEST_CASE("lanes that never come to a barrier are missed, with a long way round or without") {
  for (const char* const turns : {"1", "20000"}) {
    std::vector<std::uint32_t> a(1);
    const Outcome o = inspect(kernel_of(std::string(R"(  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra meet;
  mov.u32 %r2, 0;
again:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, )") + turns +
                                        R"(;
  @%p2 bra again;
  bar.sync 0;
  bra over;
meet:
  bar.sync 0;
over:
  st.global.u32 [%rd1], 1;
)"),
                              a, {1}, {64});
    INFO(turns << ": " << told(o));
    REQUIRE(says(o, FindingKind::divergent_barrier));
  }
}

TEST_CASE("blocks may tell one another by volatile words") {
  std::vector<std::uint32_t> a(8);
  const Outcome o = inspect(kernel_of(R"(  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra tell;
wait:
  ld.volatile.global.u32 %r3, [%rd3+-4];
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra wait;
tell:
  membar.gl;
  st.volatile.global.u32 [%rd3], 1;
)"),
                            a, {8}, {1});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
  REQUIRE(std::all_of(a.begin(), a.end(), [](std::uint32_t v) { return v == 1; }));
}

// Block 1 adds after a fence, block 0 waits for it by an acquire and clears the word by a plain
// write.
TEST_CASE("a lock that was seen may be cleared by a plain write, one that was not may not") {
  for (const bool waits : {true, false}) {
    std::vector<std::uint32_t> a(2);
    const std::string wait = waits ? R"(wait:
  ld.global.acquire.gpu.b32 %r3, [%rd1];
  setp.ne.u32 %p2, %r3, 1;
  @%p2 bra wait;
)"
                                   : "wait:\n";
    const Outcome o = inspect(kernel_of(R"(  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra wait;
  fence.acq_rel.gpu;
  red.relaxed.gpu.global.add.s32 [%rd1], 1;
  ret;
)" + wait + R"(  st.global.u32 [%rd1], 0;
)"),
                              a, {2}, {1});
    INFO(told(o));
    REQUIRE(o.ending == Ending::completed);
    REQUIRE(o.findings.empty() == waits);
  }
}

TEST_CASE("an mbarrier orders the lanes of a warp among themselves") {
  const std::string ptx =
      kernel_of(R"(  mov.u32 %r2, bar;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [%r2], 32;
  bar.sync 0;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, words;
  add.u32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r1;
  mbarrier.arrive.shared.b64 %rd2, [%r2];
wait:
  mbarrier.test_wait.shared.b64 %p2, [%r2], %rd2;
  @!%p2 bra wait;
  xor.b32 %r6, %r3, 124;
  add.u32 %r7, %r4, %r6;
  ld.shared.u32 %r8, [%r7];
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  st.global.u32 [%rd4], %r8;
)",
                "  .shared .align 8 .b64 bar;\n  .shared .align 4 .b8 words[128];\n");
  std::vector<std::uint32_t> a(32);
  const Outcome o = inspect(ptx, a, {1}, {32});
  INFO(told(o));
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
  for (std::uint32_t i = 0; i < 32; ++i) REQUIRE(a[i] == 31 - i);
}

TEST_CASE("rsqrt of doubles is good to the last bits, its flushing form to the upper word") {
  for (const bool coarse : {false, true}) {
    const std::string ptx = kernel_of(std::string(R"(  ld.global.f64 %fd1, [%rd1];
  rsqrt.approx)") + (coarse ? ".ftz" : "") +
                                      R"(.f64 %fd2, %fd1;
  st.global.f64 [%rd1+8], %fd2;
)");
    for (const double x : {0.2059763, 2.0, 1e-300, 7e200}) {
      std::vector<double> v{x, 0};
      const Outcome o = Call("k", {1}, {1}).buffer("a", v).run(parsed(ptx));
      REQUIRE(o.ending == Ending::completed);
      const double error = std::abs(v[1] * std::sqrt(x) - 1);
      INFO(x << (coarse ? " coarse " : " ") << error);
      REQUIRE(error < (coarse ? 2e-6 : 1e-15));
    }
  }
}
