#include "engine/judge/mismatch_map.h"

#include <numeric>
#include <random>

#include "tests/catch.h"

using namespace assay::judge;

TEST_CASE("a map counts every wrong element once, in the cell that covers it", "[map]") {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> shape(1 + random() % 3);
    std::size_t elements = 1;
    for (auto& dimension : shape) {
      dimension = 1 + static_cast<std::int64_t>(random() % 70);
      elements *= static_cast<std::size_t>(dimension);
    }
    std::vector<bool> wrong(elements);
    for (std::size_t i = 0; i < elements; ++i) wrong[i] = random() % 7 == 0;
    const MismatchMap map = mismatch_map(wrong, shape);
    CHECK(map.rows <= kMaxMapSide);
    CHECK(map.columns <= kMaxMapSide);
    REQUIRE(map.counts.size() == std::size_t{map.rows} * map.columns);
    const auto all = static_cast<std::uint64_t>(std::count(wrong.begin(), wrong.end(), true));
    CHECK(std::accumulate(map.counts.begin(), map.counts.end(), std::uint64_t{0}) == all);
  }
}

TEST_CASE("a small matrix is its own map", "[map]") {
  const MismatchMap map =
      mismatch_map({false, true, false, false, false, true}, std::vector<std::int64_t>{2, 3});
  CHECK(map == MismatchMap{.rows = 2, .columns = 3, .counts = {0, 1, 0, 0, 0, 1}});
}

TEST_CASE("a wrong column, a wrong row and a wrong tail are seen as what they are", "[map]") {
  constexpr std::size_t kSide = 128;
  const std::vector<std::int64_t> square{kSide, kSide};
  std::vector<bool> column(kSide * kSide), row(kSide * kSide);
  for (std::size_t i = 0; i < kSide; ++i) column[i * kSide + 64] = row[96 * kSide + i] = true;
  const MismatchMap down = mismatch_map(column, square);
  const MismatchMap across = mismatch_map(row, square);
  for (std::uint32_t r = 0; r < 32; ++r)
    for (std::uint32_t c = 0; c < 32; ++c) {
      CHECK(down.counts[r * 32 + c] == (c == 16 ? 4 : 0));
      CHECK(across.counts[r * 32 + c] == (r == 24 ? 4 : 0));
    }
  std::vector<bool> tail(10'000);
  std::fill(tail.begin() + 9'000, tail.end(), true);
  const MismatchMap vector = mismatch_map(tail, std::vector<std::int64_t>{10'000});
  CHECK(vector.rows == 32);
  CHECK(std::accumulate(vector.counts.begin(), vector.counts.begin() + 28 * 32, 0ULL) == 0);
  CHECK(vector.counts.back() > 0);
}

TEST_CASE("a scalar and nothing at all", "[map]") {
  CHECK(mismatch_map({true}, {}) == MismatchMap{.rows = 1, .columns = 1, .counts = {1}});
  CHECK(mismatch_map({}, std::vector<std::int64_t>{0}) == MismatchMap{});
}
