// The logarithm, sine and cosine behind randn, and the Box–Muller pair. The C library's versions
// differ between machines in the last bit; these use only + - * / and sqrt of IEEE double, in the
// order written, and so give the same bits everywhere (on a device: with fused multiply-add off).
//
// Pure; any thread. Whoever includes this must compile with -ffp-contract=off, as this room does.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay::judge {

// ln x for normal x > 0: x = 2^e · m with m in [sqrt(1/2), sqrt(2)), ln m = 2 atanh((m - 1) / (m +
// 1)). The series breaks off below 2^-54 of the result.
inline double natural_log(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto exponent = static_cast<std::int32_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFF) | 0x3FF0000000000000);
  const bool upper = m > 0x1.6A09E667F3BCDp0;
  m = upper ? m * 0.5 : m;
  exponent += upper ? 1 : 0;
  const double s = (m - 1.0) / (m + 1.0);
  const double z = s * s;
  double p = 2.0 / 19.0;
  p = p * z + 2.0 / 17.0;
  p = p * z + 2.0 / 15.0;
  p = p * z + 2.0 / 13.0;
  p = p * z + 2.0 / 11.0;
  p = p * z + 2.0 / 9.0;
  p = p * z + 2.0 / 7.0;
  p = p * z + 2.0 / 5.0;
  p = p * z + 2.0 / 3.0;
  // ln 2 in two parts: the first has 33 bits, so that its product with the exponent is exact.
  const auto e = static_cast<double>(exponent);
  return e * 0x1.62E42FEEp-1 + (2.0 * s + (s * z * p + e * 0x1.A39EF35793C76p-33));
}

// Taylor series for |x| <= pi/4.
inline double sine_near_zero(double x) {
  const double z = x * x;
  double p = -1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return x + x * (z * p);
}

inline double cosine_near_zero(double x) {
  const double z = x * x;
  double p = 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  p = p * z - 0.5;
  return 1.0 + z * p;
}

struct NormalPair {
  double first = 0;
  double second = 0;
};

// The pair of radius sqrt(-2 ln u) at `quadrant` quarter turns plus `angle` (in radians, |angle| <=
// pi/4).
inline NormalPair at_angle(double u, std::uint32_t quadrant, double angle) {
  const double radius = std::sqrt(-2.0 * natural_log(u));
  const double sine = sine_near_zero(angle);
  const double cosine = cosine_near_zero(angle);
  const double c = (quadrant & 1U) != 0 ? sine : cosine;
  const double s = (quadrant & 1U) != 0 ? cosine : sine;
  // cos is negative in quadrants 1 and 2, sin in 2 and 3.
  return {radius * (((quadrant + 1U) & 2U) != 0 ? -c : c),
          radius * ((quadrant & 2U) != 0 ? -s : s)};
}

// From two words: u = (a + 1/2) / 2^w, the angle is b / 2^w of a turn, split exactly into the
// nearest quarter turn and a signed rest.
inline NormalPair normal_pair(std::uint32_t a, std::uint32_t b) {
  const double u = (static_cast<double>(a) + 0.5) * 0x1p-32;
  const std::uint32_t quadrant = (b + 0x20000000U) >> 30;
  const auto rest = static_cast<std::int32_t>(b - (quadrant << 30));
  return at_angle(u, quadrant, static_cast<double>(rest) * (0x1.921FB54442D18p+2 * 0x1p-32));
}

inline NormalPair normal_pair(std::uint64_t a, std::uint64_t b) {
  const double u = (static_cast<double>(a >> 11) + 0.5) * 0x1p-53;
  const auto quadrant = static_cast<std::uint32_t>((b + 0x2000000000000000U) >> 62);
  const auto rest = static_cast<std::int64_t>(b - (static_cast<std::uint64_t>(quadrant) << 62));
  return at_angle(u, quadrant, static_cast<double>(rest) * (0x1.921FB54442D18p+2 * 0x1p-64));
}

}  // namespace assay::judge
