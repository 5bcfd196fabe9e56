#include "engine/node/occupancy.h"

#include <algorithm>

#include "tests/catch.h"

using namespace assay::node;

namespace {

constexpr int kArchs[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

// The same question answered by filling a multiprocessor block by block. Registers are handed out
// per scheduler, of which there are four, each with a quarter of them.
unsigned blocks_that_fit(const MultiprocessorLimits& limits, const BlockNeeds& needs) {
  const unsigned warps = (needs.threads + 31) / 32;
  const unsigned per_warp = (needs.registers_per_thread * 32 + 255) / 256 * 256;
  unsigned free_warps = limits.max_threads / 32;
  unsigned register_warps = ~0U;
  if (per_warp > 0) {
    register_warps = 0;
    for (int scheduler = 0; scheduler < 4; ++scheduler) {
      for (unsigned left = 65536 / 4; left >= per_warp; left -= per_warp) ++register_warps;
    }
  }
  std::uint64_t free_shared = limits.shared_bytes;
  if (needs.shared_bytes > limits.shared_bytes_per_block) return 0;
  unsigned blocks = 0;
  while (blocks < limits.max_blocks) {
    std::uint64_t shared = needs.shared_bytes + limits.reserved_shared_bytes;
    while (shared % limits.shared_unit_bytes != 0) ++shared;
    if (warps > free_warps || warps > register_warps || shared > free_shared) break;
    free_warps -= warps;
    register_warps -= warps;
    free_shared -= shared;
    ++blocks;
  }
  return blocks;
}

}  // namespace

TEST_CASE("occupancy is what filling a multiprocessor block by block gives, on every target") {
  for (const int arch : kArchs) {
    const auto limits = multiprocessor_limits(arch);
    REQUIRE(limits);
    for (unsigned threads = 1; threads <= 1024; threads += 31) {
      for (unsigned registers = 0; registers <= 255; registers += 5) {
        for (const std::uint64_t shared : {0, 1, 1000, 16384, 48 << 10, 99 << 10, 300 << 10}) {
          const BlockNeeds needs{
              .threads = threads, .registers_per_thread = registers, .shared_bytes = shared};
          const auto found = occupancy(*limits, needs);
          if (found.blocks != blocks_that_fit(*limits, needs)) {
            FAIL(arch << ' ' << threads << ' ' << registers << ' ' << shared << ": "
                      << found.blocks);
          }
        }
      }
    }
  }
}

TEST_CASE("the limiter named is the one whose relief helps") {
  const auto h100 = *multiprocessor_limits(90);
  using List = std::vector<Limiter>;
  CHECK(occupancy(h100, {.threads = 256, .registers_per_thread = 32}).limited_by ==
        List{Limiter::registers, Limiter::block_size});
  CHECK(occupancy(h100, {.threads = 256, .registers_per_thread = 64}).limited_by ==
        List{Limiter::registers});
  CHECK(occupancy(h100, {.threads = 256, .registers_per_thread = 16, .shared_bytes = 100 << 10})
            .limited_by == List{Limiter::shared_memory});
  CHECK(occupancy(h100, {.threads = 32, .registers_per_thread = 16}).limited_by ==
        List{Limiter::blocks});
  CHECK(occupancy(h100, {.threads = 1024, .registers_per_thread = 255}).blocks == 0);
}

// CUDA's own occupancy calculator, for the same figures.
TEST_CASE("known figures") {
  CHECK(occupancy(*multiprocessor_limits(80), {.threads = 256, .registers_per_thread = 40})
            .percent() == 75.0);
  CHECK(
      occupancy(*multiprocessor_limits(86), {.threads = 1024, .registers_per_thread = 32}).warps ==
      32);
  CHECK(occupancy(*multiprocessor_limits(75), {.threads = 128, .registers_per_thread = 64}).warps ==
        32);
}

TEST_CASE("a target without documented limits has none here") {
  CHECK_FALSE(multiprocessor_limits(88));
  CHECK_FALSE(multiprocessor_limits(0));
}
