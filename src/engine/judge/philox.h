// Philox4x32-10: a counter-based generator. The block of four random words belonging to a counter
// is a pure function of key and counter, so that any element can be made anywhere without those
// before it.
//
// Pure; any thread. Integer arithmetic only, so every machine agrees.
#pragma once

#include <array>
#include <cstdint>

namespace assay::judge {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// The 128-bit counter is (counter_low, counter_high), the key 64 bits; low words first.
constexpr PhiloxBlock philox(std::uint64_t key, std::uint64_t counter_low,
                             std::uint64_t counter_high) {
  auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  std::uint32_t c0 = low(counter_low), c1 = high(counter_low);
  std::uint32_t c2 = low(counter_high), c3 = high(counter_high);
  std::uint32_t k0 = low(key), k1 = high(key);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * c0;
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * c2;
    c0 = high(p1) ^ c1 ^ k0;
    c2 = high(p0) ^ c3 ^ k1;
    c1 = low(p1);
    c3 = low(p0);
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return {c0, c1, c2, c3};
}

}  // namespace assay::judge
