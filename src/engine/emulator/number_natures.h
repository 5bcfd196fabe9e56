// Whether the bits of a register are a number, and what becomes of an instruction's sources.
#pragma once

#include <algorithm>
#include <cstdint>

#include "engine/emulator/number_origins.h"
#include "engine/emulator/types.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

enum class Nature : std::uint8_t { finite, infinite, nan };

inline Nature nature_of(std::uint64_t bits, unsigned bytes, unsigned fraction_bits) {
  const unsigned exponent_bits = bytes * 8 - 1 - fraction_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t largest = (std::uint64_t{1} << exponent_bits) - 1;
  if ((bits >> fraction_bits & largest) != largest) return Nature::finite;
  return fraction == 0 ? Nature::infinite : Nature::nan;
}

// Of a pair the worse one; an integer is finite.
inline Nature nature_of(std::uint64_t bits, Type type) {
  const auto pair = [&](unsigned fraction_bits) {
    return std::max(nature_of(bits & 0xFFFF, 2, fraction_bits),
                    nature_of(bits >> 16 & 0xFFFF, 2, fraction_bits));
  };
  switch (type) {
    case Type::f64:
      return nature_of(bits, 8, 52);
    case Type::f32:
      return nature_of(bits, 4, 23);
    case Type::f16:
      return nature_of(bits, 2, 10);
    case Type::bf16:
      return nature_of(bits, 2, 7);
    case Type::f16x2:
      return pair(10);
    case Type::bf16x2:
      return pair(7);
    default:
      return Nature::finite;
  }
}

// Of one lane, or of a whole product of matrices.
struct NumberSources {
  bool are_finite = true;
  bool have_nan = false;
  NumberOrigin origin{};  // of the first that is not finite and was made so
  void add(Nature nature, const NumberOrigins& origins, const std::byte* row, unsigned lane,
           std::uint64_t held) {
    if (nature == Nature::finite) return;
    are_finite = false;
    have_nan = have_nan || nature == Nature::nan;
    if (!origin.is_known() && !origins.empty()) origin = origins.find(row, lane, held);
  }
  // A NaN may be made of infinities, too: inf - inf.
  [[nodiscard]] NumberOrigin result(Nature nature, std::uint32_t pc) const {
    if (nature == Nature::finite) return {};
    const bool is_nan = nature == Nature::nan;
    const bool is_made = is_nan ? !have_nan : are_finite;
    if (is_made) return {.pc = pc, .is_nan = is_nan, .of_infinities = is_nan && !are_finite};
    const bool of_infinities = is_nan && (origin.of_infinities || !origin.is_nan);
    return {.pc = origin.pc, .is_nan = is_nan, .of_infinities = of_infinities};
  }
};

// What a copy takes from one of its sources.
struct CopiedNumber {
  std::uint64_t held = 0;
  NumberOrigin origin{};
};

}  // namespace assay::emulator
