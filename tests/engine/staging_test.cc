// How much is staged, on devices of all sizes.
#include "engine/node/staging.h"

#include "tests/catch.h"

using namespace assay::node;

namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20;
constexpr std::uint64_t kGibibyte = 1ULL << 30;

}  // namespace

TEST_CASE("on a large device all is staged that medians want, for both sides") {
  for (const std::uint64_t device : {std::uint64_t{0}, 78 * kGibibyte, 139 * kGibibyte}) {
    for (const std::uint32_t sides : {1U, 2U}) {
      CAPTURE(device, sides);
      const Staging small =
          staging_of({.arena_bytes = kMebibyte, .sides = sides, .device_bytes = device});
      CHECK(small.slots == 3);
      CHECK(small.places == 12);
      const Staging middle =
          staging_of({.arena_bytes = 8 * kMebibyte, .sides = sides, .device_bytes = device});
      CHECK(middle.places == 32);
      const Staging large =
          staging_of({.arena_bytes = kGibibyte, .sides = sides, .device_bytes = device});
      CHECK(large.slots == 3);
      CHECK(large.places == 12);
    }
  }
}

TEST_CASE("on a small device both sides fit, with contents kept before places") {
  const StagingNeed need{.arena_bytes = kGibibyte, .sides = 2, .device_bytes = 24 * kGibibyte};
  const Staging staging = staging_of(need);
  CHECK(staged_bytes(need, staging) <= 16 * kGibibyte);
  CHECK(staging.slots >= 2);
  CHECK(staging.places >= 2);
}

TEST_CASE("whatever the device, what is staged fits or is the least there is") {
  for (std::uint64_t device = 1; device <= 160; ++device) {
    for (const std::uint64_t mebibytes : {1, 16, 256, 700, 1024, 2048}) {
      for (const std::uint32_t sides : {1U, 2U}) {
        const StagingNeed need{.arena_bytes = mebibytes * kMebibyte,
                               .scratch_bytes = 64 * kMebibyte,
                               .sides = sides,
                               .device_bytes = device * kGibibyte};
        const Staging staging = staging_of(need);
        CAPTURE(device, mebibytes, sides, staging.slots, staging.places);
        REQUIRE(staging.slots >= 1);
        REQUIRE(staging.places >= 1);
        const bool is_least = staging.slots == 1 && staging.places == 1;
        REQUIRE((is_least || staged_bytes(need, staging) < device * kGibibyte * 3 / 4));
        // A larger device never stages less.
        StagingNeed larger = need;
        larger.device_bytes += kGibibyte;
        REQUIRE(staging_of(larger).places >= staging.places);
        REQUIRE(staging_of(larger).slots >= staging.slots);
      }
    }
  }
}

TEST_CASE("a scratch memory of gigabytes is counted in each place") {
  const StagingNeed need{.arena_bytes = kMebibyte,
                         .scratch_bytes = 4 * kGibibyte,
                         .sides = 1,
                         .device_bytes = 16 * kGibibyte};
  CHECK(staged_bytes(need, staging_of(need)) <= 10 * kGibibyte);
}
