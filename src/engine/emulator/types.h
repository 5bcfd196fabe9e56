// PTX fundamental types: how wide a value is and how its bits are read. Pure values, no state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace assay::emulator {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  u16x2,
  s16x2,
  texref,
  samplerref,
  surfref,
};

struct TypeName {
  std::string_view text{};
  Type type = Type::none;
  std::uint8_t bits = 0;
};

inline constexpr std::array kTypeNames{
    TypeName{"pred", Type::pred, 1},
    TypeName{"b8", Type::b8, 8},
    TypeName{"b16", Type::b16, 16},
    TypeName{"b32", Type::b32, 32},
    TypeName{"b64", Type::b64, 64},
    TypeName{"b128", Type::b128, 128},
    TypeName{"u8", Type::u8, 8},
    TypeName{"u16", Type::u16, 16},
    TypeName{"u32", Type::u32, 32},
    TypeName{"u64", Type::u64, 64},
    TypeName{"s8", Type::s8, 8},
    TypeName{"s16", Type::s16, 16},
    TypeName{"s32", Type::s32, 32},
    TypeName{"s64", Type::s64, 64},
    TypeName{"f16", Type::f16, 16},
    TypeName{"f16x2", Type::f16x2, 32},
    TypeName{"bf16", Type::bf16, 16},
    TypeName{"bf16x2", Type::bf16x2, 32},
    TypeName{"tf32", Type::tf32, 32},
    TypeName{"f32", Type::f32, 32},
    TypeName{"f64", Type::f64, 64},
    TypeName{"u16x2", Type::u16x2, 32},
    TypeName{"s16x2", Type::s16x2, 32},
    TypeName{"texref", Type::texref, 64},
    TypeName{"samplerref", Type::samplerref, 64},
    TypeName{"surfref", Type::surfref, 64},
};

// Type::none for text that names no type.
[[nodiscard]] constexpr Type type_of(std::string_view text) {
  for (const TypeName& t : kTypeNames) {
    if (t.text == text) return t.type;
  }
  return Type::none;
}

[[nodiscard]] constexpr std::string_view name_of(Type type) {
  for (const TypeName& t : kTypeNames) {
    if (t.type == type) return t.text;
  }
  return "none";
}

[[nodiscard]] constexpr unsigned bits_of(Type type) {
  for (const TypeName& t : kTypeNames) {
    if (t.type == type) return t.bits;
  }
  return 0;
}

[[nodiscard]] constexpr unsigned bytes_of(Type type) { return (bits_of(type) + 7) / 8; }

// What one lane takes in a register row: bytes are kept in 16 bits, so that every row is a whole
// number of vectors.
[[nodiscard]] constexpr unsigned register_bytes(Type type) {
  return bits_of(type) <= 16 ? 2 : bytes_of(type);
}

[[nodiscard]] constexpr bool is_signed(Type t) {
  return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
[[nodiscard]] constexpr bool is_unsigned(Type t) {
  return t == Type::u8 || t == Type::u16 || t == Type::u32 || t == Type::u64;
}
[[nodiscard]] constexpr bool is_integer(Type t) { return is_signed(t) || is_unsigned(t); }
[[nodiscard]] constexpr bool is_bits(Type t) {
  return t == Type::b8 || t == Type::b16 || t == Type::b32 || t == Type::b64 || t == Type::b128;
}
[[nodiscard]] constexpr bool is_float(Type t) {
  return t == Type::f16 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
}

}  // namespace assay::emulator
