#include "engine/judge/digest.h"

#include <algorithm>
#include <cstring>

namespace assay::judge {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

}  // namespace

std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i * 8 < bytes.size(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * 8, std::min<std::size_t>(8, bytes.size() - i * 8));
    sum += mix(word ^ mix(i + 1));
  }
  return sum;
}

std::string spelled_digest(std::uint64_t digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, digest >>= 4) {
    *digit = kDigits[digest & 15];
  }
  return text;
}

}  // namespace assay::judge
