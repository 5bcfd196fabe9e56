// Loads outside of every tensor, where a device has memory: findings, and no faults.
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

const std::shared_ptr<const Module>& strays() {
  static const auto module = parsed(ptx_file("strays"));
  return module;
}

// 64 numbers of which the tensors are parts, as in an arena: x is [8, 40), the rest is 7.
struct Around {
  static constexpr std::uint64_t kAddress = 0x7f10'0000'0000;
  std::vector<float> memory = std::vector<float>(64, 7.0F);
  Surroundings surroundings{
      .address = kAddress, .bytes = std::as_bytes(std::span(memory)), .mapped_bytes = 4096};

  Outcome run(const std::string& kernel, int shift, std::vector<float>& out, bool mapped = true) {
    std::fill(memory.begin() + 8, memory.begin() + 40, 1.0F);
    const auto x = std::as_writable_bytes(std::span(memory).subspan(8, 32));
    Call call(kernel, {1}, {static_cast<std::uint32_t>(kernel == "reads_beyond" ? 32 : 8)});
    call.buffer_at("x", kAddress + 32, x).buffer("out", out).value(shift);
    if (mapped) call.surroundings(surroundings);
    return call.run(strays());
  }
};

}  // namespace

TEST_CASE("a load beyond its tensor reads what a device has there, and is a finding") {
  Around around;
  std::vector<float> out(32);
  const Outcome o = around.run("reads_beyond", 1, out);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out == std::vector<float>(32, 1.0F));
  REQUIRE(o.findings.size() == 1);
  const Finding& f = o.findings.front();
  REQUIRE(f.kind == FindingKind::out_of_bounds);
  REQUIRE_FALSE(f.is_warning);
  REQUIRE(f.where.line == 4);
  REQUIRE(f.thread.x == 31);
  REQUIRE(f.buffer == "x");
  REQUIRE(f.buffer_offset_bytes == 128);
  REQUIRE(f.count == 1);
  REQUIRE(f.message.find("Invalid __global__ read of size 4 bytes") == 0);
  REQUIRE(f.message.find("0 bytes after the end of tensor 'x' (128 bytes)") != std::string::npos);
}

TEST_CASE("every stray load of a line is counted, before a tensor as behind it") {
  Around around;
  std::vector<float> out(32);
  const Outcome behind = around.run("reads_beyond", 20, out);
  REQUIRE(behind.findings.size() == 1);
  REQUIRE(behind.findings.front().count == 20);
  const Outcome before = around.run("reads_beyond", -8, out);
  REQUIRE(before.findings.size() == 1);
  REQUIRE(before.findings.front().count == 8);
  REQUIRE(before.findings.front().buffer_offset_bytes == -32);
}

TEST_CASE("what is mapped and has no bytes here reads as zeros; beyond that is a fault") {
  Around around;
  std::vector<float> out(32, 5.0F);
  REQUIRE(around.run("reads_four_beyond", 20, out).ending == Ending::completed);
  REQUIRE(out == std::vector<float>(32, 0.0F));
  REQUIRE(around.run("reads_four_beyond", 4, out).ending == Ending::completed);
  REQUIRE(out[16] == 7.0F);
  const Outcome o = around.run("reads_four_beyond", 4096 / 16, out);
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.kind == FaultKind::out_of_bounds);
  REQUIRE(around.run("reads_four_beyond", -3, out).ending == Ending::faulted);
}

TEST_CASE("an asynchronous copy may start beyond its tensor as well") {
  Around around;
  std::vector<float> out(32);
  const Outcome o = around.run("copies_beyond", 4, out);
  REQUIRE(o.ending == Ending::completed);
  REQUIRE(out[15] == 1.0F);
  REQUIRE(out[16] == 7.0F);
  REQUIRE(o.findings.size() == 1);
  REQUIRE(o.findings.front().where.line == 19);
}

TEST_CASE("a store beyond its tensor is a fault wherever it goes") {
  std::vector<float> out(32);
  const Surroundings all{.address = 0, .bytes = {}, .mapped_bytes = ~std::uint64_t{0}};
  const Outcome o =
      Call("writes_beyond", {1}, {32}).buffer("out", out).value(1).surroundings(all).run(strays());
  REQUIRE(o.ending == Ending::faulted);
  REQUIRE(o.fault.where.line == 13);
}

TEST_CASE("without surroundings every load outside of a tensor is a fault") {
  Around around;
  std::vector<float> out(32);
  REQUIRE(around.run("reads_beyond", 1, out, false).ending == Ending::faulted);
}
