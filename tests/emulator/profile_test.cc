// Counters against counts made by hand or by trying every word.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "engine/emulator/traffic.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT

namespace {

using Addresses = std::array<std::uint64_t, 32>;

Addresses every(std::uint64_t stride, std::uint64_t start = 0x1000) {
  Addresses a{};
  for (std::size_t i = 0; i < 32; ++i) a[i] = start + i * stride;
  return a;
}

// Bytes one by one into sets.
unsigned sectors_by_bytes(const Addresses& a, std::uint32_t active, unsigned bytes) {
  std::set<std::uint64_t> sectors;
  for (unsigned k = 0; k < 32; ++k) {
    for (unsigned b = 0; b < bytes && (active >> k & 1U) != 0; ++b) sectors.insert((a[k] + b) / 32);
  }
  return static_cast<unsigned>(sectors.size());
}

unsigned wavefronts_by_bytes(const Addresses& a, std::uint32_t active, unsigned bytes) {
  const unsigned lanes = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  unsigned total = 0;
  for (unsigned first = 0; first < 32; first += lanes) {
    std::map<std::uint64_t, std::set<std::uint64_t>> words_of_bank;
    for (unsigned k = first; k < first + lanes; ++k) {
      for (unsigned b = 0; b < bytes && (active >> k & 1U) != 0; ++b) {
        const std::uint64_t word = (a[k] + b) / 4;
        words_of_bank[word % 32].insert(word);
      }
    }
    std::size_t most = 0;
    for (const auto& [bank, words] : words_of_bank) most = std::max(most, words.size());
    total += static_cast<unsigned>(most);
  }
  return total;
}

double metric(const Outcome& o, const std::string& name) {
  for (const Metric& m : o.profile.metrics) {
    if (m.name == name) return m.value;
  }
  FAIL("no metric " << name);
  return 0;
}

Outcome profiled(const std::string& kernel, const std::string& ptx, Call call) {
  const Outcome o = call.inspect({.counters = true}).run(parsed(ptx_file(ptx)));
  INFO(kernel << " " << o.message);
  REQUIRE(o.ending == Ending::completed);
  return o;
}

}  // namespace

TEST_CASE("sectors and wavefronts of well-known patterns") {
  constexpr std::uint32_t kAll = ~0U;
  REQUIRE(sectors_of(every(4), kAll, 4) == 4);
  REQUIRE(sectors_of(every(0), kAll, 4) == 1);
  REQUIRE(sectors_of(every(128), kAll, 4) == 32);
  REQUIRE(sectors_of(every(16), kAll, 16) == 16);
  REQUIRE(sectors_of(every(4, 0x1004), kAll, 4) == 5);
  REQUIRE(wavefronts_of(every(4), kAll, 4) == 1);
  REQUIRE(wavefronts_of(every(0), kAll, 4) == 1);
  REQUIRE(wavefronts_of(every(8), kAll, 4) == 2);
  REQUIRE(wavefronts_of(every(128), kAll, 4) == 32);
  REQUIRE(wavefronts_of(every(132), kAll, 4) == 1);
  REQUIRE(wavefronts_of(every(8), kAll, 8) == 2);
  REQUIRE(wavefronts_of(every(16), kAll, 16) == 4);
}

TEST_CASE("sectors and wavefronts of random accesses are those counted byte by byte") {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const unsigned bytes = 1U << random() % 5;
    const unsigned spread = 1U << random() % 8;
    Addresses a{};
    for (auto& x : a) x = 0x2000 + std::uint64_t{random() % (spread * 4)} * bytes;
    const std::uint32_t active = i % 3 == 0 ? ~0U : static_cast<std::uint32_t>(random()) | 1U;
    REQUIRE(sectors_of(a, active, bytes) == sectors_by_bytes(a, active, bytes));
    REQUIRE(wavefronts_of(a, active, bytes) == wavefronts_by_bytes(a, active, bytes));
  }
}

TEST_CASE("the counters of vadd are those that its source says") {
  std::vector<float> a(1024, 1.0F), b(1024, 2.0F), out(1024);
  const Outcome o = profiled(
      "vadd", "elementwise",
      Call("vadd", {4}, {256}).buffer("a", a).buffer("b", b).buffer("out", out).value(1024));
  REQUIRE(metric(o, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum") == 2 * 1024 / 32);
  REQUIRE(metric(o, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio") == 4);
  REQUIRE(metric(o, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum") == 1024 * 4 / 32);
  REQUIRE(metric(o, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum") == 1024);
  REQUIRE(metric(o, "smsp__inst_executed.sum") ==
          static_cast<double>(o.counters.warp_instructions));
  REQUIRE(metric(o, "smsp__thread_inst_executed.sum") ==
          static_cast<double>(o.counters.thread_instructions));
  REQUIRE(metric(o, "smsp__sass_branch_targets_threads_divergent.sum") == 0);
  REQUIRE(o.profile.flops == 1024);
  REQUIRE(o.profile.global_bytes_requested == 3 * 4096);
  REQUIRE(o.profile.global_bytes_unique == 3 * 4096);
  std::uint64_t instructions = 0;
  for (const LineCounts& line : o.profile.lines) instructions += line.warp_instructions;
  REQUIRE(instructions == o.counters.warp_instructions);
}

TEST_CASE("a matrix product's flops, reuse and shared accesses are counted") {
  const int n = 64;
  std::vector<float> a(n * n, 1.0F), b(n * n, 1.0F), c(n * n);
  const Outcome o = profiled(
      "gemm_naive", "gemm",
      Call("gemm_naive", {4, 4}, {16, 16}).buffer("a", a).buffer("b", b).buffer("c", c).value(n));
  REQUIRE(o.profile.flops == 2.0 * n * n * n);
  REQUIRE(o.profile.global_bytes_requested == std::uint64_t{4} * (2 * n * n * n + n * n));
  REQUIRE(o.profile.global_bytes_unique == std::uint64_t{4} * 3 * n * n);
  // Rows of 16: two words of a and two times 16 neighbours of b per warp.
  REQUIRE(metric(o, "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio") == 2);
}

TEST_CASE("lanes that part are counted as divergence") {
  std::vector<float> a(256, 3.0F), b(256);
  std::vector<int> c(64);
  const Outcome o = profiled("divergent_barrier__in_one_branch", "mistakes",
                             Call("clean__ballot_and_compact", {2}, {128})
                                 .buffer("a", a)
                                 .buffer("b", b)
                                 .buffer("c", c)
                                 .value(256));
  REQUIRE(metric(o, "smsp__thread_inst_executed_per_inst_executed.ratio") == 32);
}
