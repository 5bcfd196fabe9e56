// Clusters of one block, which every block is unless an entry asks for more: its barrier, addresses
// and registers. And hints and predicates of copies that compilers and people write.
#include <algorithm>
#include <numeric>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

std::string entry(const std::string& body, const std::string& attributes = "") {
  return ".version 8.7\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 in, .param .u64 out) " +
         attributes +
         "\n{ .reg .pred %p, %q; .reg .b32 %t, %s, %r<8>; .reg .b64 %in, %out, %at, %x;\n"
         "  .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;\n"
         "  ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
         "  setp.eq.u32 %p, %t, 0; mad.wide.u32 %at, %t, 4, %in;\n" +
         body + "  mad.wide.u32 %at, %t, 4, %out; st.global.b32 [%at], %r0;\n  ret;\n}\n";
}

std::vector<int> results(const std::string& body, unsigned threads, const Inspection& look = {}) {
  std::vector<int> in(threads);
  std::iota(in.begin(), in.end(), 1);
  std::vector<int> out(threads, -1);
  const auto m = parsed(entry(body));
  INFO(m->kernels().at(0).unsupported_instruction);
  REQUIRE(m->kernels().at(0).unsupported_instruction.empty());
  const Outcome o = Call("k", {1}, {threads})
                        .buffer("in", in)
                        .buffer("out", out)
                        .inspect(look)
                        .budget({.thread_instructions = 1'000'000, .threads = 1})
                        .run(m);
  INFO(o.message);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(o.findings.empty());
  return out;
}

std::string unsupported(const std::string& body, const std::string& attributes) {
  return parsed(entry(body, attributes))->kernels().at(0).unsupported_instruction;
}

// Each thread leaves its number in the tile, and takes that of its mirror image after `meet`.
std::string exchange(const std::string& meet) {
  return "  ld.global.b32 %r0, [%at]; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;\n"
         "  st.shared.b32 [%s], %r0;\n" +
         meet +
         "  mov.u32 %s, tile; sub.u32 %r1, 127, %t; mad.lo.u32 %s, %r1, 4, %s;\n"
         "  ld.shared.b32 %r0, [%s];\n";
}

}  // namespace

TEST_CASE("the barrier of a cluster of one block is one of the block") {
  const std::string meet =
      "  barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";
  const Inspection look{.races = true, .initialised = true, .barriers = true};
  const std::vector<int> out = results(exchange(meet), 128, look);
  for (std::size_t i = 0; i < 128; ++i) REQUIRE(out[i] == static_cast<int>(128 - i));
  // It is none of the sixteen that bar.sync names, which others may wait at meanwhile.
  const std::string mixed =
      "  setp.lt.u32 %q, %t, 64; @%q bar.sync 15, 64;\n  barrier.cluster.arrive;\n"
      "  @!%q bar.sync 15, 64;\n  barrier.cluster.wait;\n";
  REQUIRE(results(exchange(mixed), 128)[0] == 128);
}

TEST_CASE("without its barrier the exchange is a race") {
  const auto m = parsed(entry(exchange("  barrier.cluster.arrive;\n")));
  std::vector<int> in(128), out(128);
  const Outcome o =
      Call("k", {1}, {128}).buffer("in", in).buffer("out", out).inspect({.races = true}).run(m);
  REQUIRE_FALSE(o.findings.empty());
}

TEST_CASE("in a cluster of one block every address is its own, of rank 0") {
  const std::vector<int> out = results(
      "  mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s; st.shared.b32 [%s], %t;\n"
      "  mapa.shared::cluster.u32 %r1, %s, 0; ld.shared::cluster.b32 %r0, [%r1];\n"
      "  getctarank.shared::cluster.u32 %r2, %r1; mad.lo.u32 %r0, %r2, 1000, %r0;\n"
      "  mov.u32 %r3, %cluster_nctarank; mad.lo.u32 %r0, %r3, 500, %r0;\n",
      32);
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(out[i] == static_cast<int>(i + 500));
}

TEST_CASE("an entry that asks for larger clusters cannot use them, and is told by instruction") {
  const std::string asks = ".reqnctapercluster 2, 1, 1";
  REQUIRE(unsupported("  barrier.cluster.arrive;\n", asks).starts_with("barrier.cluster.arrive"));
  REQUIRE(unsupported("  mov.u32 %r0, %cluster_ctarank;\n", asks).starts_with("mov.u32"));
  REQUIRE(unsupported("  mapa.u64 %x, %in, 1;\n", asks).starts_with("mapa"));
  REQUIRE(unsupported("  mov.u32 %r0, %ctaid.x;\n", asks).empty());
  REQUIRE(
      unsupported("  barrier.cluster.arrive; barrier.cluster.wait;\n", ".reqnctapercluster 1, 1, 1")
          .empty());
}

TEST_CASE("a copy that ignores its source fills with zeros, lane by lane") {
  const std::vector<int> out = results(
      "  and.b32 %r1, %t, 1; setp.ne.u32 %q, %r1, 0; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;\n"
      "  cp.async.ca.shared.global [%s], [%at], 4, %q; cp.async.wait_all; ld.shared.b32 %r0, "
      "[%s];\n",
      64);
  for (std::size_t i = 0; i < 64; ++i) {
    REQUIRE(out[i] == (i % 2 != 0 ? 0 : static_cast<int>(i + 1)));
  }
  // Under a guard, lanes that are off copy nothing.
  const std::vector<int> guarded = results(
      "  and.b32 %r1, %t, 1; setp.ne.u32 %q, %r1, 0; mov.u32 %s, tile; mad.lo.u32 %s, %t, 4, %s;\n"
      "  st.shared.b32 [%s], 77; setp.lt.u32 %p, %t, 8;\n"
      "  @%p cp.async.ca.shared.global [%s], [%at], 4, %q; cp.async.wait_all;\n"
      "  ld.shared.b32 %r0, [%s];\n",
      64);
  for (std::size_t i = 0; i < 64; ++i) {
    REQUIRE(guarded[i] == (i >= 8 ? 77 : i % 2 != 0 ? 0 : static_cast<int>(i + 1)));
  }
}

TEST_CASE("a bulk copy may name a cache policy, and be announced") {
  const std::vector<int> out = results(
      "  cp.async.bulk.prefetch.L2.global [%in], 128;\n"
      "  mov.u32 %s, tile; mov.u64 %x, 0;\n"
      "  @%p mbarrier.init.shared.b64 [bar], 1; bar.sync 0;\n"
      "  @%p mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
      "  mov.u32 %r2, bar;\n"
      "  @%p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%s], [%in], 128, [%r2], %x;\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %q, [bar], 0; @!%q bra WAIT;\n"
      "  mad.lo.u32 %s, %t, 4, %s; ld.shared.b32 %r0, [%s];\n",
      32);
  for (std::size_t i = 0; i < 32; ++i) REQUIRE(out[i] == static_cast<int>(i + 1));
}

TEST_CASE("8-bit floats add up in halves, two to a register") {
  // 32 products of 1 and 1, on top of 2: 34 in half precision.
  const std::vector<int> out = results(
      "  mov.b32 %r1, 0x38383838; mov.b32 %r2, 0x40004000;\n"
      "  mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16 {%r0,%r3}, {%r1,%r1,%r1,%r1}, "
      "{%r1,%r1}, {%r2,%r2};\n  and.b32 %r0, %r0, %r3;\n",
      32);
  for (const int v : out) REQUIRE(v == 0x50405040);
}

TEST_CASE("the extreme of two halves' magnitudes takes the product of their signs") {
  const auto in = combine(halves(), halves());
  const auto model = [](bool is_max) {
    return [is_max](Bits a, Bits b, Bits) {
      const Bits x = a & 0x7FFF;
      const Bits y = b & 0x7FFF;
      const bool x_nan = x > 0x7C00;
      const bool y_nan = y > 0x7C00;
      if (x_nan && y_nan) return Bits{0x7FFF};
      // Magnitudes of one format are in the order of their bits.
      const Bits r = x_nan ? y : y_nan ? x : is_max ? std::max(x, y) : std::min(x, y);
      return r | ((a ^ b) & 0x8000);
    };
  };
  check(binary("min.xorsign.abs.f16", "b16", "b16", "b16"), in, model(false));
  check(binary("max.xorsign.abs.f16", "b16", "b16", "b16"), in, model(true));
}
