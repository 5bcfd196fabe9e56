#include "engine/emulator/matrix_elements.h"

#include <bit>

#include "engine/emulator/float_formats.h"

namespace assay::emulator {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

}  // namespace

double number(const Fragment& f, U64 bits) {
  switch (f.element) {
    case Element::f16:
      return decode_float(kHalf, static_cast<U32>(bits));
    case Element::bf16:
      return decode_float(kBfloat, static_cast<U32>(bits));
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
