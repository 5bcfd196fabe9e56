// Another way to the same number, worked out word by word in Python's integers.
#include "engine/judge/digest.h"

#include <random>
#include <vector>

#include "tests/catch.h"

using namespace assay;

namespace {

std::vector<std::byte> counting(std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

}  // namespace

TEST_CASE("a digest is the number that the definition gives") {
  CHECK(judge::spelled_digest(judge::digest(counting(0))) == "0000000000000000");
  CHECK(judge::spelled_digest(judge::digest(counting(1))) == "83ec686c1600460a");
  CHECK(judge::spelled_digest(judge::digest(counting(7))) == "d2946f8716ae4f48");
  CHECK(judge::spelled_digest(judge::digest(counting(8))) == "d94880ee43b6d4d5");
  CHECK(judge::spelled_digest(judge::digest(counting(9))) == "cc0b41313097f672");
  CHECK(judge::spelled_digest(judge::digest(counting(16))) == "2b3b1f2faadf3f5c");
  CHECK(judge::spelled_digest(judge::digest(counting(1000))) == "d69772e6b4ef5f04");
}

TEST_CASE("one bit, two words that change places and a zero more give another digest") {
  std::mt19937 random(20261122);
  auto bytes = counting(4096);
  const auto whole = judge::digest(bytes);
  for (int i = 0; i < 500; ++i) {
    auto changed = bytes;
    changed[random() % changed.size()] ^= static_cast<std::byte>(1U << (random() % 8));
    CHECK(judge::digest(changed) != whole);
  }
  auto swapped = bytes;
  std::swap_ranges(swapped.begin(), swapped.begin() + 8, swapped.begin() + 8);
  CHECK(judge::digest(swapped) != whole);
  const std::vector<std::byte> zeros(24);
  CHECK(judge::digest(std::span(zeros).first(16)) != judge::digest(zeros));
}
