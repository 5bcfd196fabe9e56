// Packed integers, 8-bit floats and tf32 against models that try every code.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

// A value by its description, not by its bits: sign, exponent, mantissa.
double small_value(unsigned code, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int e = static_cast<int>(code >> mantissa_bits & ((1U << exponent_bits) - 1));
  const double fraction = static_cast<double>(code & ((1U << mantissa_bits) - 1)) /
                          static_cast<double>(1U << mantissa_bits);
  return e == 0 ? fraction * std::pow(2.0, 1 - bias) : (1 + fraction) * std::pow(2.0, e - bias);
}

// Nearest of all finite codes, even ones at ties; what is beyond them is the largest.
unsigned nearest_code(double v, int exponent_bits, int mantissa_bits, unsigned largest) {
  if (v != v) return 0x7F;
  const unsigned sign = std::signbit(v) ? 0x80 : 0;
  const double magnitude =
      std::min(std::fabs(v), small_value(largest, exponent_bits, mantissa_bits));
  unsigned best = 0;
  double best_distance = INFINITY;
  for (unsigned code = 0; code <= largest; ++code) {
    const double d = std::fabs(small_value(code, exponent_bits, mantissa_bits) - magnitude);
    if (d < best_distance || (d == best_distance && code % 2 == 0)) {
      best = code;
      best_distance = d;
    }
  }
  return sign | best;
}

unsigned to_e4m3(double v) { return nearest_code(v, 4, 3, 0x7E); }
unsigned to_e5m2(double v) { return nearest_code(v, 5, 2, 0x7B); }

std::vector<Bits> small_range() {
  std::vector<Bits> v = floats32();
  for (int i = -40; i <= 40; ++i) v.push_back(bits(static_cast<float>(i) * 0.40625F));
  for (int i = -12; i <= 12; ++i) v.push_back(bits(std::ldexp(1.5F, i)));
  return v;
}

int byte_of(Bits v, int i) { return static_cast<int>(v >> (8 * i) & 0xFF); }

}  // namespace

TEST_CASE("floats become 8-bit floats by rounding to the nearest, the first one on top") {
  const auto in = combine(small_range(), {bits(1.0F), bits(-0.0625F), 0});
  check(binary("cvt.rn.satfinite.e4m3x2.f32", "b16", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    return Bits{to_e4m3(static_cast<double>(as_float(a))) << 8 |
                to_e4m3(static_cast<double>(as_float(y)))};
  });
  check(binary("cvt.rn.satfinite.e5m2x2.f32", "b16", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    return Bits{to_e5m2(static_cast<double>(as_float(a))) << 8 |
                to_e5m2(static_cast<double>(as_float(y)))};
  });
}

TEST_CASE("every 8-bit float widens to the half of the same value") {
  std::vector<Bits> pairs;
  for (Bits i = 0; i < 256; ++i) pairs.push_back(i << 8 | (255 - i));
  const auto half_of = [](double v, bool negative) {
    // Exact: halves hold every 8-bit float.
    Bits best = 0;
    for (Bits h = 0; h < 0x7C00; ++h) {
      if (small_value(static_cast<unsigned>(h), 5, 10) == v) best = h;
    }
    return best | (negative ? 0x8000U : 0U);
  };
  check(unary("cvt.rn.f16x2.e4m3x2", "b32", "b16"), combine(pairs), [=](Bits a, Bits, Bits) {
    Bits r = 0;
    for (int i = 0; i < 2; ++i) {
      const auto code = static_cast<unsigned>(byte_of(a, i));
      const Bits h =
          (code & 0x7F) == 0x7F ? 0x7FFF : half_of(small_value(code & 0x7F, 4, 3), code > 0x7F);
      r |= h << (16 * i);
    }
    return r;
  });
}

TEST_CASE("tf32 keeps ten bits of mantissa, rounding ties away from zero or to even") {
  const auto model = [](Bits a, bool away) -> Bits {
    const auto value = static_cast<double>(as_float(a));
    if (value != value) return 0x7FFFFFFF;
    if (std::isinf(value) || value == 0) return a & 0xFFFFFFFF;
    int e = 0;
    std::frexp(value, &e);
    const double unit = std::ldexp(1.0, std::max(e, -125) - 11);
    const double units = std::fabs(value) / unit;
    const double kept = away ? std::floor(units + 0.5) : std::nearbyint(units);
    return bits(static_cast<float>(std::copysign(kept * unit, value)));
  };
  const auto in = combine(floats32());
  check(unary("cvt.rna.tf32.f32", "b32", "b32"), in,
        [&](Bits a, Bits, Bits) { return model(a, true); });
  check(unary("cvt.rn.tf32.f32", "b32", "b32"), in,
        [&](Bits a, Bits, Bits) { return model(a, false); });
}

TEST_CASE("cvt.pack clamps both values and puts them below the third") {
  const auto in = combine(integers(32), integers(32), {0xAABBCCDD, 7});
  const auto clamp = [](Bits v, std::int64_t low, std::int64_t high) {
    return static_cast<Bits>(std::clamp<std::int64_t>(
        static_cast<std::int32_t>(static_cast<std::uint32_t>(v)), low, high));
  };
  check(ternary("cvt.pack.sat.u8.s32.b32", "b32", "b32", "b32", "b32"), in,
        [&](Bits a, Bits y, Bits c) {
          return ((c << 16) & 0xFFFF0000) | clamp(a, 0, 255) << 8 | clamp(y, 0, 255);
        });
  check(binary("cvt.pack.sat.s16.s32", "b32", "b32", "b32"), in, [&](Bits a, Bits y, Bits) {
    return (clamp(a, -32768, 32767) & 0xFFFF) << 16 | (clamp(y, -32768, 32767) & 0xFFFF);
  });
}

TEST_CASE("SIMD video instructions work on each byte or half for itself") {
  const auto in = combine(integers(32), integers(32), {0, 1000});
  check(ternary("vabsdiff4.u32.u32.u32.add", "b32", "b32", "b32", "b32"), in,
        [](Bits a, Bits y, Bits c) {
          for (int i = 0; i < 4; ++i)
            c += static_cast<Bits>(std::abs(byte_of(a, i) - byte_of(y, i)));
          return c & 0xFFFFFFFF;
        });
  check(ternary("vadd4.u32.u32.u32.sat", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    Bits r = 0;
    for (int i = 0; i < 4; ++i) {
      r |= static_cast<Bits>(std::min(byte_of(a, i) + byte_of(y, i), 255)) << (8 * i);
    }
    return r;
  });
  check(ternary("vavrg2.s32.s32.s32", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    Bits r = 0;
    for (int i = 0; i < 2; ++i) {
      const int s =
          static_cast<std::int16_t>(a >> (16 * i)) + static_cast<std::int16_t>(y >> (16 * i));
      const int average = static_cast<int>(std::floor((s + (s >= 0 ? 1 : 0)) / 2.0));
      r |= (static_cast<Bits>(average) & 0xFFFF) << (16 * i);
    }
    return r;
  });
}

TEST_CASE("minima and maxima of pairs, and with zero as the floor") {
  const auto in = combine(integers(32), integers(32));
  const auto half = [](Bits v, int i) { return static_cast<std::int16_t>(v >> (16 * i)); };
  check(binary("max.s16x2.relu", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits) {
    Bits r = 0;
    for (int i = 0; i < 2; ++i) {
      const int m = std::max<int>({half(a, i), half(y, i), 0});
      r |= (static_cast<Bits>(m) & 0xFFFF) << (16 * i);
    }
    return r;
  });
  check(binary("min.u16x2", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    return std::min(a & 0xFFFF, y & 0xFFFF) | std::min(a >> 16 & 0xFFFF, y >> 16 & 0xFFFF) << 16;
  });
  check(binary("min.relu.s32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    const auto s = [](Bits v) { return static_cast<std::int32_t>(v); };
    return static_cast<Bits>(static_cast<std::uint32_t>(std::max(std::min(s(a), s(y)), 0)));
  });
}

TEST_CASE("fns finds the n-th set bit upwards or downwards") {
  std::vector<Bits> offsets;
  for (int i = -5; i <= 5; ++i) offsets.push_back(static_cast<std::uint32_t>(i));
  const auto in = combine(integers(32), {0, 1, 5, 16, 31, 32}, offsets);
  check(ternary("fns.b32", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits base, Bits c) -> Bits {
    const auto offset = static_cast<std::int32_t>(c);
    if (base > 31) return 0xFFFFFFFF;
    std::vector<Bits> positions;
    for (Bits i = 0; i < 32; ++i) {
      const bool on_the_way = offset >= 0 ? i >= base : i <= base;
      if ((a >> i & 1) != 0 && on_the_way) positions.push_back(i);
    }
    if (offset < 0) std::reverse(positions.begin(), positions.end());
    if (offset == 0) return (a >> base & 1) != 0 ? base : 0xFFFFFFFF;
    const auto n = static_cast<std::size_t>(std::abs(offset));
    return n <= positions.size() ? positions[n - 1] : 0xFFFFFFFF;
  });
}

TEST_CASE("lop3 with a predicate tells whether its result is not zero") {
  check({.text = "lop3.or.b32 %d|%p, %a, %b, %b, 0xC0, %pc; selp.b32 %d, 1, 0, %p;",
         .d = "b32",
         .a = "b32",
         .b = "b32",
         .c = "b32"},
        combine(integers(32), integers(32), {0, 1}),
        [](Bits a, Bits y, Bits c) { return Bits{(a & y) != 0 || (c & 1) != 0}; });
}
