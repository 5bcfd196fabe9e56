#include "engine/confinement/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::confinement {
namespace {

using State = std::array<std::uint32_t, 8>;
constexpr std::size_t kBlock = 64;
constexpr std::size_t kRounds = 64;

bool is_prime(std::uint32_t number) {
  for (std::uint32_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return true;
}

// The first 32 bits of the fraction of a root, which is how the standard defines its constants.
std::uint32_t fraction(long double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0L);
}

struct Constants {
  State start{};
  std::array<std::uint32_t, kRounds> round{};
};

Constants make_constants() {
  Constants constants;
  std::size_t count = 0;
  for (std::uint32_t number = 2; count < kRounds; ++number) {
    if (!is_prime(number)) continue;
    const auto prime = static_cast<long double>(number);
    if (count < constants.start.size()) constants.start[count] = fraction(std::sqrt(prime));
    constants.round[count++] = fraction(std::cbrt(prime));
  }
  return constants;
}

std::uint32_t word_at(std::string_view block, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word = word << 8 | static_cast<unsigned char>(block[4 * index + i]);
  }
  return word;
}

void absorb(State& state, std::string_view block, const Constants& constants) {
  std::array<std::uint32_t, kRounds> w{};
  for (std::size_t i = 0; i < 16; ++i) w[i] = word_at(block, i);
  for (std::size_t i = 16; i < kRounds; ++i) {
    const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
    const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + constants.round[i] + w[i];
    const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const State after{a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += after[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  const Constants constants = make_constants();
  State state = constants.start;
  std::string padded(bytes);
  padded += '\x80';
  while (padded.size() % kBlock != kBlock - 8) padded += '\0';
  const auto bits = static_cast<std::uint64_t>(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);
  for (std::size_t at = 0; at < padded.size(); at += kBlock) {
    absorb(state, std::string_view(padded).substr(at, kBlock), constants);
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const auto word : state) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 0xf];
  }
  return text;
}

}  // namespace assay::confinement
