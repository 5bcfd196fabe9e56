#include <cfenv>
#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

using Wide = __int128;

Bits mask(unsigned n) { return n == 64 ? ~Bits{0} : (Bits{1} << n) - 1; }
Wide value(Bits v, unsigned n, bool s) {
  v &= mask(n);
  return s && (v >> (n - 1) & 1) != 0 ? static_cast<Wide>(v) - (static_cast<Wide>(1) << n)
                                      : static_cast<Wide>(v);
}
Wide low(unsigned n, bool s) { return s ? -(static_cast<Wide>(1) << (n - 1)) : 0; }
Wide high(unsigned n, bool s) { return (static_cast<Wide>(1) << (s ? n - 1 : n)) - 1; }
std::string type(unsigned n, bool s) { return (s ? "s" : "u") + std::to_string(n); }
std::string reg(unsigned n) { return "b" + std::to_string(n < 16 ? 16 : n); }

struct Mode {
  const char* name;
  int fe;
};
const Mode kIntegral[] = {
    {"rni", FE_TONEAREST}, {"rzi", FE_TOWARDZERO}, {"rmi", FE_DOWNWARD}, {"rpi", FE_UPWARD}};
const Mode kRound[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

double integral(double v, int mode) {
  switch (mode) {
    case FE_TOWARDZERO:
      return std::trunc(v);
    case FE_DOWNWARD:
      return std::floor(v);
    case FE_UPWARD:
      return std::ceil(v);
    default:
      return std::nearbyint(v);
  }
}

// A small float by search: the neighbours of v among all finite values, then the rule of the mode.
struct Format {
  int mantissa;
  int bias;
  Bits exponent_mask;
  double of(Bits h) const {
    const int e = static_cast<int>(h >> mantissa & exponent_mask);
    const double m = static_cast<double>(h & ((1U << mantissa) - 1));
    const double scale = std::ldexp(1.0, -mantissa);
    const double x = e == 0 ? std::ldexp(m * scale, 1 - bias) : std::ldexp(1 + m * scale, e - bias);
    return (h & 0x8000) != 0 ? -x : x;
  }
  Bits infinity() const { return static_cast<Bits>(2 * bias + 1) << mantissa; }
  Bits round(double v, int mode) const {
    if (std::isnan(v)) return 0x7FFF;
    const Bits sign = std::signbit(v) ? 0x8000 : 0;
    const double m = std::fabs(v);
    if (std::isinf(v)) return sign | infinity();
    Bits lo = 0;
    Bits hi = infinity();  // of(hi) is the first value too large
    while (hi - lo > 1) {
      const Bits mid = (lo + hi) / 2;
      (of(mid) <= m ? lo : hi) = mid;
    }
    const double below = of(lo);
    if (below == m) return sign | lo;
    const double above = of(hi);
    const bool away = mode == (sign != 0 ? FE_DOWNWARD : FE_UPWARD);
    bool up = away;
    if (mode == FE_TONEAREST) {
      const double down = m - below;  // exact: neighbours of one another
      const double rest = above - m;
      up = rest < down || (rest == down && (lo & 1) != 0);
    }
    return sign | (up ? hi : lo);
  }
};
constexpr Format kHalf{10, 15, 31};
constexpr Format kBfloat{7, 127, 255};

double half_value(Bits h) {
  if ((h & 0x7FFF) >= 0x7C00)
    return (h & 0x3FF) != 0 ? NAN : (h & 0x8000) != 0 ? -INFINITY : INFINITY;
  return kHalf.of(h);
}

}  // namespace

TEST_CASE("cvt between integers extends, truncates and saturates") {
  for (const unsigned n : {8U, 16U, 32U, 64U}) {
    for (const unsigned m : {8U, 16U, 32U, 64U}) {
      for (const bool s : {false, true}) {
        for (const bool t : {false, true}) {
          const auto in = combine(integers(n == 8 ? 16 : n));
          const std::string types = type(m, t) + "." + type(n, s);
          check(unary("cvt." + types, reg(m), reg(n)), in, [=](Bits a, Bits, Bits) {
            const Wide v = value(static_cast<Bits>(value(a, n, s)), m, t);
            return static_cast<Bits>(v) & mask(m < 16 ? 16 : m);
          });
          check(unary("cvt.sat." + types, reg(m), reg(n)), in, [=](Bits a, Bits, Bits) {
            Wide v = value(a, n, s);
            v = v < low(m, t) ? low(m, t) : v > high(m, t) ? high(m, t) : v;
            return static_cast<Bits>(v) & mask(m < 16 ? 16 : m);
          });
        }
      }
    }
  }
}

TEST_CASE("cvt reads the low part of a wider register and extends into one") {
  const auto in = combine(integers(32));
  check(unary("cvt.s32.s8", "b32", "b32"), in,
        [](Bits a, Bits, Bits) { return static_cast<Bits>(value(a, 8, true)) & mask(32); });
  check(unary("cvt.u8.u32", "b16", "b32"), in, [](Bits a, Bits, Bits) { return a & 0xFF; });
  check(unary("cvt.s64.s16", "b64", "b32"), in,
        [](Bits a, Bits, Bits) { return static_cast<Bits>(value(a, 16, true)); });
}

TEST_CASE("cvt from float to integer saturates; NaN is 0, or the top bit where 64 bits take part") {
  for (const Mode& m : kIntegral) {
    for (const unsigned n : {8U, 16U, 32U, 64U}) {
      for (const bool s : {false, true}) {
        const auto convert = [=](double v, bool from_double = false) -> Bits {
          const Bits top = Bits{1} << (n - 1);
          // A byte in a row of 16 bits is extended as its type says.
          const Bits extended = n == 8 && s ? top | 0xFF00 : top;
          if (std::isnan(v)) return from_double || n == 64 ? extended : 0;
          const double r = integral(v, m.fe);
          Wide x = 0;
          if (r >= 0x1p64)
            x = high(n, s);
          else if (r <= -0x1p64)
            x = low(n, s);
          else
            x = static_cast<Wide>(r);
          x = x < low(n, s) ? low(n, s) : x > high(n, s) ? high(n, s) : x;
          return static_cast<Bits>(x) & mask(n < 16 ? 16 : n);
        };
        const std::string op = std::string("cvt.") + m.name + "." + type(n, s);
        check(unary(op + ".f32", reg(n), "b32"), combine(floats32()),
              [=](Bits a, Bits, Bits) { return convert(static_cast<double>(as_float(a))); });
        check(unary(op + ".f64", reg(n), "b64"), combine(floats64()),
              [=](Bits a, Bits, Bits) { return convert(as_double(a), true); });
        if (n < 16) continue;
        check(unary(op + ".f16", reg(n), "b16"), combine(halves()),
              [=](Bits a, Bits, Bits) { return convert(half_value(a)); });
      }
    }
  }
}

TEST_CASE("cvt from integer to float rounds as asked") {
  for (const Mode& m : kRound) {
    for (const unsigned n : {16U, 32U, 64U}) {
      for (const bool s : {false, true}) {
        const std::string op = std::string("cvt.") + m.name;
        check(unary(op + ".f32." + type(n, s), "b32", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) {
                std::fesetround(m.fe);
                const volatile long double wide = static_cast<long double>(value(a, n, s));
                const volatile float r = static_cast<float>(wide);
                std::fesetround(FE_TONEAREST);
                return bits(float(r));
              });
        check(unary(op + ".f64." + type(n, s), "b64", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) {
                std::fesetround(m.fe);
                const volatile long double wide = static_cast<long double>(value(a, n, s));
                const volatile double r = static_cast<double>(wide);
                std::fesetround(FE_TONEAREST);
                return bits(double(r));
              });
        check(unary(op + ".f16." + type(n, s), "b16", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) {
                const Wide v = value(a, n, s);
                // Beyond 2^20 every f16 overflows alike, so the model may clamp.
                const Wide c = v > (1 << 20) ? 1 << 20 : v < -(1 << 20) ? -(1 << 20) : v;
                return kHalf.round(static_cast<double>(c), m.fe);
              });
      }
    }
  }
}

TEST_CASE("cvt between floats rounds, saturates and goes to integral values") {
  for (const Mode& m : kRound) {
    const std::string op = std::string("cvt.") + m.name;
    check(unary(op + ".f32.f64", "b32", "b64"), combine(floats64()), [=](Bits a, Bits, Bits) {
      if (std::isnan(as_double(a))) return Bits{0x7FFFFFFF};
      std::fesetround(m.fe);
      const volatile double x = as_double(a);
      const volatile float r = static_cast<float>(x);
      std::fesetround(FE_TONEAREST);
      return bits(float(r));
    });
    check(unary(op + ".f16.f32", "b16", "b32"), combine(floats32()),
          [=](Bits a, Bits, Bits) { return kHalf.round(static_cast<double>(as_float(a)), m.fe); });
    if (m.fe == FE_TONEAREST || m.fe == FE_TOWARDZERO) {
      check(unary(op + ".bf16.f32", "b16", "b32"), combine(floats32()), [=](Bits a, Bits, Bits) {
        return kBfloat.round(static_cast<double>(as_float(a)), m.fe);
      });
    }
    check(unary(op + ".f16.f64", "b16", "b64"), combine(floats64()),
          [=](Bits a, Bits, Bits) { return kHalf.round(as_double(a), m.fe); });
  }
  for (const Mode& m : kIntegral) {
    check(
        unary(std::string("cvt.") + m.name + ".f32.f32", "b32", "b32"), combine(floats32()),
        [=](Bits a, Bits, Bits) {
          const float v = as_float(a);
          if (std::isnan(v)) return Bits{0x7FFFFFFF};
          return bits(std::copysign(static_cast<float>(integral(static_cast<double>(v), m.fe)), v));
        });
    check(unary(std::string("cvt.") + m.name + ".f64.f64", "b64", "b64"), combine(floats64()),
          [=](Bits a, Bits, Bits) {
            const double v = as_double(a);
            return std::isnan(v) ? a : bits(std::copysign(integral(v, m.fe), v));
          });
  }
  check(unary("cvt.sat.f32.f32", "b32", "b32"), combine(floats32()), [](Bits a, Bits, Bits) {
    const float v = as_float(a);
    return bits(v > 0 ? (v < 1 ? v : 1.0F) : 0.0F);
  });
  check(unary("cvt.f32.f16", "b32", "b16"), combine(halves()), [](Bits a, Bits, Bits) {
    const double v = half_value(a);
    return std::isnan(v) ? Bits{0x7FFFFFFF} : bits(static_cast<float>(v));
  });
  check(unary("cvt.f64.f32", "b64", "b32"), combine(floats32()), [](Bits a, Bits, Bits) {
    const float v = as_float(a);
    if (std::isnan(v)) {  // widened: quiet, sign and payload kept
      return (a & 0x80000000) << 32 | 0x7FF8000000000000 | (a & 0x7FFFFF) << 29;
    }
    return bits(static_cast<double>(v));
  });
  check(unary("cvt.ftz.f64.f32", "b64", "b32"), combine(floats32()), [](Bits a, Bits, Bits) {
    float v = as_float(a);
    if (std::fpclassify(v) == FP_SUBNORMAL) v = std::copysign(0.0F, v);
    if (std::isnan(v)) return (a & 0x80000000) << 32 | 0x7FF8000000000000 | (a & 0x7FFFFF) << 29;
    return bits(static_cast<double>(v));
  });
  check(binary("cvt.rn.f16x2.f32", "b32", "b32", "b32"), combine(floats32(), floats32()),
        [](Bits a, Bits b, Bits) {
          return kHalf.round(static_cast<double>(as_float(a)), FE_TONEAREST) << 16 |
                 kHalf.round(static_cast<double>(as_float(b)), FE_TONEAREST);
        });
}

TEST_CASE("16-bit float arithmetic is rounded once") {
  const auto in = combine(halves(), halves(), halves());
  const auto nan_or = [](double v) { return kHalf.round(v, FE_TONEAREST); };
  // Sums and products of two f16 are exact in a double; so is a product plus an f16.
  check(binary("add.f16", "b16", "b16", "b16"), in,
        [=](Bits a, Bits b, Bits) { return nan_or(half_value(a) + half_value(b)); });
  check(binary("sub.f16", "b16", "b16", "b16"), in,
        [=](Bits a, Bits b, Bits) { return nan_or(half_value(a) - half_value(b)); });
  check(binary("mul.f16", "b16", "b16", "b16"), in,
        [=](Bits a, Bits b, Bits) { return nan_or(half_value(a) * half_value(b)); });
  check(ternary("fma.rn.f16", "b16", "b16", "b16", "b16"), in, [=](Bits a, Bits b, Bits c) {
    return nan_or(half_value(a) * half_value(b) + half_value(c));
  });
  const auto pairs = combine(integers(32), integers(32), integers(32));
  check(binary("add.f16x2", "b32", "b32", "b32"), pairs, [=](Bits a, Bits b, Bits) {
    return nan_or(half_value(a & 0xFFFF) + half_value(b & 0xFFFF)) |
           nan_or(half_value(a >> 16) + half_value(b >> 16)) << 16;
  });
  const auto bfloat = [](Bits v) { return static_cast<long double>(as_float(v << 16)); };
  check(ternary("fma.rn.bf16", "b16", "b16", "b16", "b16"),
        combine(bfloats(), bfloats(), bfloats()), [=](Bits a, Bits b, Bits c) {
          const long double x = bfloat(a) * bfloat(b);
          const long double y = bfloat(c);
          if (std::isnan(x + y)) return Bits{0x7FFF};
          // Exactly: where one addend is too small to matter it only breaks ties.
          const long double sum = x + y;
          double d = static_cast<double>(sum);
          if (std::isfinite(d)) {
            const long double lost = (sum - static_cast<long double>(d)) +
                                     (std::fabs(x) > std::fabs(y) ? y - (sum - x) : x - (sum - y));
            if (lost != 0) {
              const Bits near = kBfloat.round(d, FE_TONEAREST);
              const Bits under =
                  kBfloat.round(std::nextafter(d, lost > 0 ? HUGE_VAL : -HUGE_VAL), FE_TONEAREST);
              return near == under ? near : under;
            }
          }
          return kBfloat.round(d, FE_TONEAREST);
        });
  check(binary("max.f16", "b16", "b16", "b16"), in, [](Bits a, Bits b, Bits) -> Bits {
    const double x = half_value(a), y = half_value(b);
    if (std::isnan(x) && std::isnan(y)) return 0x7FFF;
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? b : a;
    if (x == y) return (a & 0x8000) != 0 ? b : a;
    return x > y ? a : b;
  });
  check(unary("neg.f16", "b16", "b16"), in, [](Bits a, Bits, Bits) { return a ^ 0x8000; });
}

TEST_CASE("a saturating cvt of a whole number is 0 or 1") {
  for (const unsigned n : {16U, 32U, 64U}) {
    for (const bool s : {false, true}) {
      const auto above = [=](Bits a) { return a != 0 && !(s && (a >> (n - 1) & 1U) != 0); };
      const std::string from = "." + type(n, s);
      for (const std::string round : {".rn", ".rz", ".rm", ".rp"}) {
        check(unary("cvt" + round + ".sat.f16" + from, "b16", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) { return above(a) ? Bits{0x3C00} : 0; });
        check(unary("cvt" + round + ".sat.f32" + from, "b32", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) { return above(a) ? bits(1.0F) : 0; });
        check(unary("cvt" + round + ".sat.f64" + from, "b64", reg(n)), combine(integers(n)),
              [=](Bits a, Bits, Bits) { return above(a) ? bits(1.0) : 0; });
      }
    }
  }
}
