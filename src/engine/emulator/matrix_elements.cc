#include "engine/emulator/matrix_elements.h"

#include <bit>

#include "engine/emulator/float_formats.h"

namespace assay::emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// Most halves are neither zero nor tiny, and not beyond all numbers: their parts have only to move.
double half(U64 bits) {
  constexpr unsigned kFraction = 10;
  constexpr U64 kLargest = 31;
  const U64 exponent = bits >> kFraction & kLargest;
  if (exponent == 0 || exponent == kLargest) return decode_float(kHalf, static_cast<U32>(bits));
  return std::bit_cast<double>((bits & 0x8000U) << 48 | (exponent + 1023 - 15) << 52 |
                               (bits & 0x3FFU) << (52 - kFraction));
}

}  // namespace

double number(const Fragment& f, U64 bits) {
  switch (f.element) {
    case Element::f16:
      return half(bits);
    case Element::bf16:  // the upper half of a float
      return static_cast<double>(std::bit_cast<float>(static_cast<U32>(bits) << 16));
    case Element::e4m3:
      return decode_float(kE4m3, static_cast<U32>(bits));
    case Element::e5m2:
      return decode_float(kE5m2, static_cast<U32>(bits));
    case Element::tf32:  // the lower bits are not looked at
      return static_cast<double>(std::bit_cast<float>(static_cast<U32>(bits) & ~0x1FFFU));
    case Element::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<U32>(bits)));
    case Element::f64:
      return std::bit_cast<double>(bits);
    default:
      return 0;
  }
}

std::int32_t integer(const Fragment& f, U64 bits) {
  switch (f.element) {
    case Element::s4:
      return static_cast<std::int32_t>(bits << 28) >> 28;
    case Element::s8:
      return static_cast<std::int8_t>(bits);
    default:
      return static_cast<std::int32_t>(bits);
  }
}

U64 number_bits(const Fragment& f, double v) {
  switch (f.element) {
    case Element::f16:
      return encode_float(kHalf, v, false);
    case Element::f64:
      return std::bit_cast<U64>(v);
    default:
      return v != v ? 0x7FFF'FFFFU : std::bit_cast<U32>(static_cast<float>(v));
  }
}

}  // namespace assay::emulator
