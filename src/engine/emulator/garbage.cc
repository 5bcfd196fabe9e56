#include "engine/emulator/garbage.h"

#include <array>
#include <cstring>

namespace assay::emulator {
namespace {

// As float, both halves as half and bfloat16, two of them as double: NaN; 3.3e38 (half: NaN);
// -3.3e38 (half: NaN); 1.42, 1.93, 0.08.
constexpr std::array<std::uint32_t, 4> kKinds{0x7FF9'7FF8, 0x7F78'7F78, 0xFF78'FF78, 0x3FB8'3FB8};

}  // namespace

std::uint32_t garbage_word(std::uint64_t launch, std::uint64_t block) {
  // The low three bits of each half tell launches of one kind apart.
  const auto round = static_cast<std::uint32_t>((launch + block) / kKinds.size() + launch) & 7U;
  return kKinds[(launch + block) % kKinds.size()] ^ (round << 16U) ^ round;
}

void fill_with_garbage(std::byte* memory, std::size_t bytes, std::uint32_t word) {
  const std::size_t whole = bytes / sizeof word;
  for (std::size_t i = 0; i < whole; ++i) std::memcpy(memory + i * sizeof word, &word, sizeof word);
  std::memcpy(memory + whole * sizeof word, &word, bytes % sizeof word);
}

}  // namespace assay::emulator
