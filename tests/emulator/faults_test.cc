#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

const std::shared_ptr<const Module>& faults() {
  static const auto module = parsed(ptx_file("faults"));
  return module;
}

}  // namespace

TEST_CASE("a write past the end names tensor, thread, block, distance and source line") {
  std::vector<float> x(1000), out(1000);
  const Outcome o =
      Call("overrun", {4}, {256}).buffer("x", x).buffer("out", out).value(1000).run(faults());
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::out_of_bounds);
  REQUIRE(o.fault.block.x == 3);
  REQUIRE(o.fault.thread.x == 1000 - 768);
  REQUIRE(o.fault.buffer == "out");
  REQUIRE(o.fault.buffer_offset_bytes == 4000);
  REQUIRE(o.fault.access_bytes == 4);
  REQUIRE(o.fault.where.file == "faults.cu");
  REQUIRE(o.fault.where.line == 4);
  REQUIRE(o.fault.instruction.find("st.global.f32") == 0);
  REQUIRE(o.message.find("Invalid __global__ write of size 4 bytes at address 0x") == 0);
  REQUIRE(o.message.find("by thread (232,0,0) in block (3,0,0): 0 bytes after the end of tensor "
                         "'out' (4000 bytes)") != std::string::npos);
}

TEST_CASE("an access 2^32 elements away is of the tensor whose index wrapped") {
  const auto at = [](std::int64_t offset, const std::string& access) {
    const auto module = parsed(
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b)\n{\n"
        ".reg .b64 %rd<4>;\n.reg .f32 %f<3>;\nld.param.u64 %rd1, [a];\nmov.f32 %f1, 0f00000000;\n"
        "add.s64 %rd2, %rd1, " +
        std::to_string(offset) + ";\n" + access + "\nret;\n}\n");
    std::vector<float> a(64), b(64);
    return Call("k", {1}, {1}).buffer("a", a).buffer("b", b).run(module);
  };
  const std::int64_t wrap = std::int64_t{1} << 34;
  const Outcome below = at(wrap - 12, "ld.global.f32 %f1, [%rd2];");
  REQUIRE(below.fault.buffer == "a");
  REQUIRE(below.fault.buffer_offset_bytes == wrap - 12);
  REQUIRE(below.message.ends_with(
      "tensor 'a' (256 bytes), as index -3 once it has wrapped in 32 bits"));
  const Outcome above = at(20 - wrap, "st.global.f32 [%rd2], %f1;");
  REQUIRE(above.fault.buffer == "a");
  REQUIRE(above.message.ends_with(", as index 5 once it has wrapped in 32 bits"));
  const Outcome pair = at(2 * wrap - 8, "ld.global.v2.f32 {%f1, %f2}, [%rd2];");
  REQUIRE(pair.message.ends_with(", as index -1 once it has wrapped in 32 bits"));
  const Outcome wide = at(4 * wrap - 28, "ld.global.f32 %f1, [%rd2];");
  REQUIRE(wide.fault.buffer == "a");
  REQUIRE(wide.message.ends_with(
      ", as index -2 of elements of 16 bytes once it has wrapped in 32 bits"));
  const Outcome far = at(wrap / 2, "ld.global.f32 %f1, [%rd2];");
  REQUIRE(far.message.find("wrapped") == std::string::npos);
}

TEST_CASE("a null pointer is called one") {
  std::vector<float> out(32);
  const Outcome o =
      Call("null_read", {1}, {32}).buffer("out", out).value(std::uint64_t{0}).run(faults());
  REQUIRE(o.fault.kind == FaultKind::out_of_bounds);
  REQUIRE(o.fault.where.line == 9);
  REQUIRE(o.message.find("read of size 4 bytes") != std::string::npos);
  REQUIRE(o.message.find("a null pointer") != std::string::npos);
}

TEST_CASE("shared memory has an end as well") {
  std::vector<int> out(64);
  REQUIRE(Call("shared_overrun", {1}, {64}).buffer("out", out).value(0).run(faults()).ending ==
          Ending::completed);
  const Outcome o = Call("shared_overrun", {1}, {64}).buffer("out", out).value(8).run(faults());
  REQUIRE(o.fault.kind == FaultKind::out_of_bounds);
  REQUIRE(o.fault.where.line == 14);
  REQUIRE(o.fault.thread.x == 56);
  REQUIRE(o.message.find("Invalid __shared__ write of size 4 bytes at address 0x100") == 0);
  REQUIRE(o.message.find("256 bytes of shared memory") != std::string::npos);
}

TEST_CASE("a vector access that is not aligned is a fault of its own kind") {
  std::vector<float> x(64), out(256);
  const Outcome o =
      Call("misaligned_vector", {1}, {32}).buffer("x", x).buffer("out", out).run(faults());
  REQUIRE(o.fault.kind == FaultKind::misaligned);
  REQUIRE(o.fault.thread.x == 1);
  REQUIRE(o.fault.access_bytes == 16);
  REQUIRE(o.fault.where.line == 20);
  REQUIRE(o.message.find("Misaligned __global__ read of size 16 bytes") == 0);
}

TEST_CASE("warps at different barriers are told, not waited for") {
  std::vector<int> out(64);
  const Outcome o = Call("barrier_mismatch", {1}, {64}).buffer("out", out).run(faults());
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::barrier_divergence);
  REQUIRE(o.fault.where.line == 31);
  REQUIRE(o.message.find("barrier 1 was reached by 32 of 64 threads") != std::string::npos);
}

TEST_CASE("trap and assert say which thread and where") {
  const Outcome t = Call("trap_here", {1}, {32}).run(faults());
  REQUIRE(t.fault.kind == FaultKind::trap);
  REQUIRE(t.fault.thread.x == 5);
  REQUIRE(t.fault.where.line == 39);
  std::vector<int> x(32, 1);
  x[7] = -1;
  const Outcome a = Call("check", {1}, {32}).buffer("x", x).run(parsed(ptx_file("control")));
  REQUIRE(a.fault.kind == FaultKind::assertion);
  REQUIRE(a.fault.thread.x == 7);
  REQUIRE(a.message.find("control.cu:75: check: Assertion `x >= 0` failed") == 0);
}

TEST_CASE("recursion without end is a stack overflow") {
  std::vector<int> out(32);
  const Outcome o =
      Call("deep_recursion", {1}, {32}).buffer("out", out).run(parsed(ptx_file("control")));
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::stack_overflow);
}

TEST_CASE("a call through a pointer to no function is refused") {
  std::vector<int> out(1);
  const Outcome o = Call("bad_pointer_call", {1}, {1})
                        .buffer("out", out)
                        .value(std::uint64_t{0x1234})
                        .run(parsed(ptx_file("control")));
  REQUIRE(o.fault.kind == FaultKind::invalid_call);
}

TEST_CASE("an instruction beyond the emulator is named with its lines") {
  const KernelInfo& k = faults()->kernels().back();
  REQUIRE(k.name == "uses_wgmma");
  REQUIRE(k.unsupported_instruction.find("wgmma.fence.sync.aligned") == 0);
  REQUIRE(k.unsupported_ptx_line > 0);
  REQUIRE(k.unsupported_where.line >= 45);
  std::vector<float> out(32);
  const Outcome o = Call(k.name, {1}, {32}).buffer("out", out).run(faults());
  REQUIRE(o.ending == Ending::unsupported);
  REQUIRE(o.fault.instruction == k.unsupported_instruction);
}

TEST_CASE("constant memory cannot be written") {
  std::vector<int> out(1);
  const Outcome o = Call("k", {1}, {1}).buffer("out", out).run(parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.const .align 4 .u32 fixed = 5;
.visible .entry k(.param .u64 out) {
  .reg .b64 %rd<3>;
  mov.u64 %rd1, fixed;
  st.global.u32 [%rd1], 7;
  ret;
})"));
  REQUIRE(o.fault.kind == FaultKind::out_of_bounds);
  REQUIRE(o.message.find("which cannot be written") != std::string::npos);
}

TEST_CASE("a warp-wide operation whose mask excludes its caller is refused") {
  const Outcome o = Call("k", {1}, {32}).run(parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<3>;
  .reg .pred %p;
  mov.u32 %r1, %laneid;
  setp.gt.u32 %p, %r1, 3;
  vote.sync.ballot.b32 %r2, %p, 0xFFFFFFFE;
  ret;
})"));
  REQUIRE(o.fault.kind == FaultKind::invalid_shuffle);
  REQUIRE(o.fault.thread.x == 0);
}

// Under equal masks a device lets both go on (idioms_test.cc).
TEST_CASE("shuffles that wait for each other's lanes under different masks are a deadlock") {
  const Outcome o = Call("k", {1}, {32}).run(parsed(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<3>; .reg .pred %p;
  mov.u32 %r1, %laneid;
  setp.lt.u32 %p, %r1, 16;
  @%p bra L;
  shfl.sync.bfly.b32 %r2, %r1, 1, 31, 0xFFFF0001;
  ret;
L:
  shfl.sync.idx.b32 %r2, %r1, 1, 31, 0xFFFFFFFF;
  ret;
})"));
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::deadlock);
}

TEST_CASE("an instruction of no line is of the line before it") {
  // What NVRTC adds of its own, as the division of 64-bit integers, stands behind `.loc 1 0 0`.
  const auto m = parsed(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 out)\n{ .reg .b64 %x;\n"
      "  .loc 1 7 3\n  ld.param.u64 %x, [out];\n"
      "  .loc 1 0 3\n  st.global.u64 [%x+4096], %x;\n  ret;\n}\n"
      ".file 1 \"kernel.cu\"\n");
  std::vector<int> out(2);
  const Outcome o = Call("k", {1}, {1}).buffer("out", out).run(m);
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.where.line == 7);
}
