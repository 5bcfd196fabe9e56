#include "engine/judge/poison.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "engine/judge/philox.h"

namespace assay::judge {
namespace {

using contract::DType;

constexpr std::uint64_t kPoisonStream = ~0ULL;  // no argument index reaches these
constexpr std::uint64_t kGuardStream = ~0ULL - 1;

std::uint32_t random_word(const Secret& secret, std::uint32_t trial, std::uint64_t purpose) {
  return philox(secret.low ^ trial_seed(secret, purpose, trial + 1), secret.high, purpose)[0];
}

// Four random bytes of which no two are equal, so that no constant output holds them. The lowest
// bit of each is the trial's parity: two consecutive trials differ in every byte.
std::uint32_t distinct_bytes(std::uint32_t random, std::uint32_t trial) {
  const std::uint32_t parity = trial & 1U;
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    // Bits 1 and 2 number the byte, from a random start.
    const std::uint32_t byte = ((random >> (8 * i)) & 0xF8U) | (((i + random) & 3U) << 1) | parity;
    word |= byte << (8 * i);
  }
  return word;
}

std::uint32_t twice(std::uint32_t half) { return half | (half << 16); }

// The byte at an offset from the start of the arena.
std::byte pattern_byte(std::uint32_t word, std::uint64_t offset) {
  return static_cast<std::byte>(word >> (8 * (offset % 4)));
}

bool holds_pattern(const std::byte* element, std::size_t size, std::uint64_t offset,
                   std::uint32_t word) {
  if (size == sizeof word && offset % sizeof word == 0) {
    std::uint32_t held = 0;
    std::memcpy(&held, element, sizeof held);
    return held == word;
  }
  for (std::size_t i = 0; i < size; ++i) {
    if (element[i] != pattern_byte(word, offset + i)) return false;
  }
  return true;
}

// Types of 1 or 2 bytes whose every bit pattern is an ordinary value (or the usual NaN), or of
// which a byte that is none is one of two.
bool can_hold_pattern_by_chance(DType dtype) {
  switch (dtype) {
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      return true;
    default:
      return false;
  }
}

// Whether a 16-bit float of the buffer is a signalling NaN, and not the one it was filled with. No
// arithmetic makes one: what stands there is copied from bytes of any kind, among which the
// pattern's two are nothing strange.
bool holds_other_signalling(std::span<const std::byte> buffer, DType dtype, std::uint32_t word) {
  if (dtype != DType::float16 && dtype != DType::bfloat16) return false;
  const std::uint32_t exponent = dtype == DType::float16 ? 0x7C00U : 0x7F80U;
  const std::uint32_t quiet = dtype == DType::float16 ? 0x0200U : 0x0040U;
  for (std::size_t at = 0; at + sizeof(std::uint16_t) <= buffer.size(); at += 2) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, buffer.data() + at, sizeof bits);
    const bool is_signalling = (bits & (exponent | quiet)) == exponent && (bits & (quiet - 1)) != 0;
    if (is_signalling && bits != (word & 0xFFFFU)) return true;
  }
  return false;
}

// Calls note(first element, how many) for every unit that still holds the pattern.
template <typename Note>
void for_each_unwritten(std::span<const std::byte> buffer, DType dtype, std::uint32_t word,
                        Note&& note) {
  const std::size_t size = contract::size_bytes(dtype);
  std::size_t unit = unwritten_unit_bytes(dtype);
  const auto any_unit = [&] {
    for (std::uint64_t at = 0; at + unit <= buffer.size(); at += unit) {
      if (holds_pattern(buffer.data() + at, unit, at, word)) return true;
    }
    return false;
  };
  // Looked for only where something seems to be left: most outputs are whole.
  if (unit < sizeof word && any_unit() && holds_other_signalling(buffer, dtype, word)) {
    unit = sizeof word;
  }
  const std::uint64_t units = buffer.size() / unit;
  for (std::uint64_t i = 0; i < units; ++i) {
    // A whole period at any multiple of the unit begins with the pattern's byte 0 if the unit is
    // ≥ 4.
    if (holds_pattern(buffer.data() + i * unit, unit, i * unit, word)) {
      note(i * unit / size, unit / size);
    }
  }
}

}  // namespace

std::uint32_t poison_word(DType dtype, const Secret& secret, std::uint32_t trial) {
  const std::uint32_t random = random_word(secret, trial, kPoisonStream);
  const std::uint32_t parity = trial & 1U;
  switch (contract::component(dtype)) {
    // Exponent all ones, the quiet bit 0, a random payload that is not 0 and ends in the trial's
    // parity.
    case DType::float64:
      return (random & 0x8007FFFEU) | 0x7FF00002U | parity;
    case DType::float32:
      return (random & 0x803FFFFEU) | 0x7F800002U | parity;
    case DType::float16:
      return twice((random & 0x81FEU) | 0x7C02U | parity);
    case DType::bfloat16:
      return twice((random & 0x803EU) | 0x7F82U | parity);
    // Only 0x7D and 0xFD signal. A mixed word is no constant.
    case DType::float8_e5m2:
      return parity != 0 ? 0x7DFDFD7DU : 0xFD7D7DFDU;
    // NaN is 0x7F and 0xFF, and quiet. A mixed word is no constant.
    case DType::float8_e4m3fn:
      return parity != 0 ? 0x7FFFFF7FU : 0xFF7F7FFFU;
    // Never 0 or 1.
    case DType::boolean:
      return distinct_bytes(random, trial) | 0x80808080U;
    default:
      return distinct_bytes(random, trial);
  }
}

std::uint32_t guard_word(const Secret& secret, std::uint32_t trial) {
  return distinct_bytes(random_word(secret, trial, kGuardStream), trial);
}

void fill_pattern(std::span<std::byte> out, std::uint32_t word, std::uint64_t phase) {
  std::array<std::byte, 4> period{};
  for (std::size_t i = 0; i < period.size(); ++i) period[i] = pattern_byte(word, phase + i);
  std::size_t filled = std::min(out.size(), period.size());
  if (filled == 0) return;
  std::memcpy(out.data(), period.data(), filled);
  // What is filled is copied behind itself; whole periods keep the phase.
  while (filled < out.size()) {
    const std::size_t step = std::min(filled, out.size() - filled);
    std::memcpy(out.data() + filled, out.data(), step);
    filled += step;
  }
}

std::size_t unwritten_unit_bytes(DType dtype) {
  return can_hold_pattern_by_chance(dtype) ? 4 : contract::size_bytes(dtype);
}

std::vector<bool> unwritten_mask(std::span<const std::byte> buffer, DType dtype,
                                 std::uint32_t word) {
  std::vector<bool> mask(buffer.size() / contract::size_bytes(dtype));
  for_each_unwritten(buffer, dtype, word, [&](std::uint64_t first, std::uint64_t elements) {
    for (std::uint64_t i = first; i < first + elements; ++i) mask[i] = true;
  });
  return mask;
}

bool is_signalling_poison(std::span<const std::byte> buffer, std::uint64_t index, DType dtype,
                          std::uint32_t word) {
  if (!contract::is_floating(contract::component(dtype)) || dtype == DType::float8_e4m3fn) {
    return false;
  }
  const std::size_t size = contract::size_bytes(dtype);
  return holds_pattern(buffer.data() + index * size, size, index * size, word);
}

std::string_view name(GuardSide side) { return side == GuardSide::before ? "before" : "after"; }

std::optional<GuardBreach> check_guards(std::span<const std::byte> arena,
                                        const contract::Placement& placement, std::uint32_t word) {
  if (placement.guard_end > arena.size()) {
    throw std::invalid_argument("check_guards: the arena is smaller than its layout");
  }
  GuardBreach breach{.arg_index = placement.arg_index, .name = placement.name};
  auto intact = [&](std::uint64_t offset) { return arena[offset] == pattern_byte(word, offset); };

  const std::uint64_t end = placement.offset + placement.bytes;
  for (std::uint64_t offset = placement.guard_end; offset-- > end;) {
    if (intact(offset)) continue;
    ++breach.count_bytes;
    breach.side = GuardSide::after;
    breach.distance_bytes = offset - end;
  }
  if (breach.count_bytes != 0) return breach;
  for (std::uint64_t offset = placement.guard_begin; offset < placement.offset; ++offset) {
    if (intact(offset)) continue;
    ++breach.count_bytes;
    breach.side = GuardSide::before;
    breach.distance_bytes = placement.offset - 1 - offset;
  }
  if (breach.count_bytes != 0) return breach;
  return std::nullopt;
}

}  // namespace assay::judge
