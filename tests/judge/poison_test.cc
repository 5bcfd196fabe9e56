// What is found of outputs that were not written and of guards that were.
#include "engine/judge/poison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "engine/judge/philox.h"
#include "engine/judge/scalar_conversion.h"
#include "tests/catch.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;

constexpr Secret kSecret{.low = 11, .high = 22};

std::vector<std::byte> poisoned(DType dtype, std::size_t count, std::uint32_t trial) {
  std::vector<std::byte> bytes(count * contract::size_bytes(dtype));
  fill_pattern(bytes, poison_word(dtype, kSecret, trial));
  return bytes;
}

struct Unwritten {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // 0 if there is none
  std::uint64_t elements = 0;
  bool operator==(const Unwritten&) const = default;
};

Unwritten unwritten(std::span<const std::byte> buffer, DType dtype, std::uint32_t word) {
  const auto mask = unwritten_mask(buffer, dtype, word);
  const auto first = std::find(mask.begin(), mask.end(), true);
  return {.count = static_cast<std::uint64_t>(std::count(mask.begin(), mask.end(), true)),
          .first = first == mask.end() ? 0 : static_cast<std::uint64_t>(first - mask.begin()),
          .elements = mask.size()};
}

void write_random(std::vector<std::byte>& bytes, std::uint64_t seed, std::size_t begin,
                  std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    bytes[i] = static_cast<std::byte>(philox(seed, i, 5)[0]);
  }
}

}  // namespace

TEST_CASE("fill_pattern repeats the word and keeps its phase") {
  for (std::uint64_t phase = 0; phase < 9; ++phase) {
    for (std::size_t size = 0; size < 40; ++size) {
      std::vector<std::byte> bytes(size);
      fill_pattern(bytes, 0x44332211, phase);
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(bytes[i] == static_cast<std::byte>(0x11 * ((phase + i) % 4 + 1)));
      }
    }
  }
}

TEST_CASE("poison of floats is a signalling NaN, that of bool no bool") {
  for (std::uint32_t trial = 0; trial < 200; ++trial) {
    for (const DType dtype : contract::all_dtypes()) {
      const auto bytes = poisoned(dtype, 4, trial);
      const DType part = contract::component(dtype);
      const std::size_t size = contract::size_bytes(part);
      for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + i * size, size);
        if (contract::is_floating(part)) REQUIRE(std::isnan(from_bits(bits, part)));
        if (dtype == DType::boolean) REQUIRE(bits > 1);
        if (part == DType::float32) REQUIRE((bits & 0x00400000U) == 0);
        if (part == DType::float64) REQUIRE((bits & 0x0008000000000000U) == 0);
        if (part == DType::float16) REQUIRE((bits & 0x0200U) == 0);
        if (part == DType::bfloat16) REQUIRE((bits & 0x0040U) == 0);
      }
    }
  }
}

TEST_CASE(
    "consecutive trials differ in every element, and no word is a constant of narrow elements") {
  for (const DType dtype : contract::all_dtypes()) {
    const std::size_t size = contract::size_bytes(dtype);
    std::set<std::uint32_t> words;
    for (std::uint32_t trial = 0; trial < 100; ++trial) {
      const auto one = poisoned(dtype, 8, trial);
      const auto next = poisoned(dtype, 8, trial + 1);
      for (std::size_t i = 0; i < 8; ++i) {
        REQUIRE(std::memcmp(one.data() + i * size, next.data() + i * size, size) != 0);
      }
      words.insert(poison_word(dtype, kSecret, trial));
      const bool narrow_integer = contract::is_integer(dtype) && size <= 2;
      if (narrow_integer || dtype == DType::float8_e4m3fn) {
        bool constant = true;
        for (std::size_t i = size; i < 4; ++i) constant = constant && one[i] == one[i - size];
        REQUIRE(!constant);
      }
      REQUIRE(guard_word(kSecret, trial) != guard_word(kSecret, trial + 1));
    }
    if (contract::size_bytes(dtype) >= 4) CHECK(words.size() == 100);
  }
}

TEST_CASE("the elements that were not written are found, in every dtype") {
  for (const DType dtype : contract::all_dtypes()) {
    INFO(contract::name(dtype));
    const std::size_t size = contract::size_bytes(dtype);
    const std::uint32_t word = poison_word(dtype, kSecret, 3);
    const auto untouched = poisoned(dtype, 1000, 3);
    CHECK(unwritten(untouched, dtype, word) ==
          Unwritten{.count = 1000, .first = 0, .elements = 1000});

    auto head_written = untouched;
    std::memset(head_written.data(), 0, 600 * size);
    CHECK(unwritten(head_written, dtype, word) ==
          Unwritten{.count = 400, .first = 600, .elements = 1000});

    auto hole = std::vector<std::byte>(1000 * size, std::byte{1});
    std::memcpy(hole.data() + 8 * size, untouched.data() + 8 * size, 4 * size);
    CHECK(unwritten(hole, dtype, word) == Unwritten{.count = 4, .first = 8, .elements = 1000});

    CHECK(unwritten({}, dtype, word) == Unwritten{});
  }
}

TEST_CASE("a written output is not taken for poison, whatever constant or noise it holds") {
  for (const DType dtype : contract::all_dtypes()) {
    INFO(contract::name(dtype));
    for (std::uint32_t trial = 0; trial < 20; ++trial) {
      const std::uint32_t word = poison_word(dtype, kSecret, trial);
      for (int value = 0; value < 256; ++value) {
        // A mad byte for bool.
        if (dtype == DType::boolean && value > 1) continue;
        const std::vector<std::byte> constant(64, static_cast<std::byte>(value));
        REQUIRE(unwritten(constant, dtype, word).count == 0);
      }
    }
    if (contract::is_integer(dtype)) {
      std::vector<std::byte> noise(1 << 18);
      write_random(noise, 77, 0, noise.size());
      CHECK(unwritten(noise, dtype, poison_word(dtype, kSecret, 0)).count == 0);
    }
  }
}

TEST_CASE(
    "an output of every bit pattern is written, and a hole of single elements is seen beside "
    "values") {
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    INFO(contract::name(dtype));
    for (std::uint32_t trial = 0; trial < 4; ++trial) {
      const std::uint32_t word = poison_word(dtype, kSecret, trial);
      std::vector<std::byte> all(2 << 16);
      for (std::uint32_t i = 0; i < 1U << 16; ++i) {
        const auto bits = static_cast<std::uint16_t>(i);
        std::memcpy(all.data() + 2 * i, &bits, sizeof bits);
      }
      CHECK(unwritten(all, dtype, word).count == 0);
      std::vector<std::byte> every_other(2000);
      fill_pattern(every_other, word);
      for (std::size_t i = 0; i < every_other.size(); i += 4) {
        every_other[i] = every_other[i + 1] = std::byte{0x3C};
      }
      CHECK(unwritten(every_other, dtype, word).count == 500);
    }
  }
}

TEST_CASE("of types that hold any pattern by chance a hole smaller than a word is not told") {
  for (const DType dtype : {DType::int8, DType::uint16, DType::float8_e4m3fn}) {
    INFO(contract::name(dtype));
    const std::size_t size = contract::size_bytes(dtype);
    const auto poison = poisoned(dtype, 64, 0);
    for (std::size_t begin = 0; begin < 8; begin += size) {
      std::vector<std::byte> written(poison.size(), std::byte{1});
      // Across the border of two words where it begins behind the first byte.
      std::copy_n(poison.begin() + static_cast<std::ptrdiff_t>(begin), 4 - size,
                  written.begin() + static_cast<std::ptrdiff_t>(begin));
      CHECK(unwritten(written, dtype, poison_word(dtype, kSecret, 0)).count == 0);
    }
  }
}

TEST_CASE("a guard that was written to names the tensor, the side and the distance") {
  contract::Contract contract;
  for (const std::int64_t extent : {7, 100}) {
    contract.args.push_back(
        {.name = "t" + std::to_string(extent),
         .tensor_spec = contract::TensorSpec{.shape = {extent}, .dtype = DType::int8}});
  }
  const contract::Layout arena = contract::layout(contract);
  const std::uint32_t word = guard_word(kSecret, 4);
  std::vector<std::byte> clean(arena.total_bytes);
  fill_pattern(clean, word);
  for (const contract::Placement& p : arena.placements) {
    // What the tensor itself holds is no matter.
    std::memset(clean.data() + p.offset, 0, p.bytes);
  }
  for (const contract::Placement& p : arena.placements) {
    CHECK(!check_guards(clean, p, word));
    for (std::uint64_t offset = p.guard_begin; offset < p.guard_end; ++offset) {
      if (offset >= p.offset && offset < p.offset + p.bytes) continue;
      auto dirty = clean;
      dirty[offset] ^= std::byte{0x10};
      const auto breach = check_guards(dirty, p, word);
      REQUIRE(breach);
      const bool before = offset < p.offset;
      REQUIRE(*breach == GuardBreach{.arg_index = p.arg_index,
                                     .name = p.name,
                                     .side = before ? GuardSide::before : GuardSide::after,
                                     .distance_bytes = before ? p.offset - 1 - offset
                                                              : offset - p.offset - p.bytes,
                                     .count_bytes = 1});
    }
  }
  auto dirty = clean;
  const auto& p = arena.placements[0];
  std::memset(dirty.data() + p.offset + p.bytes + 4, 0, 20);
  CHECK(check_guards(dirty, p, word)->distance_bytes == 4);
  CHECK(check_guards(dirty, p, word)->count_bytes == 20);
  CHECK(!check_guards(dirty, arena.placements[1], word));
}
