#include <cfenv>
#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

constexpr Bits kNaN = 0x7FFFFFFF;

Bits canonical(float v) { return std::isnan(v) ? kNaN : bits(v); }
float flush(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0F, v) : v; }
float clamp01(float v) { return v > 0 ? (v < 1 ? v : 1.0F) : 0.0F; }

// The models compute in another format where they can: a double holds float sums well enough only
// when it is rounded as asked, so the host's own rounding mode is used instead, behind volatiles.
template <class F>
float rounded(int mode, F f) {
  std::fesetround(mode);
  const volatile float r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}
template <class F>
double rounded64(int mode, F f) {
  std::fesetround(mode);
  const volatile double r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}

struct Mode {
  const char* name;
  int fe;
};
const Mode kModes[] = {
    {"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};

}  // namespace

TEST_CASE("f32 add, sub, mul and fma round as asked and make the canonical NaN") {
  const auto in = combine(floats32(), floats32(), floats32());
  for (const Mode& m : kModes) {
    const std::string s = std::string(".") + m.name + ".f32";
    check(binary("add" + s, "b32", "b32", "b32"), in, [&](Bits a, Bits b, Bits) {
      const volatile float x = as_float(a), y = as_float(b);
      return canonical(rounded(m.fe, [&] { return x + y; }));
    });
    check(binary("sub" + s, "b32", "b32", "b32"), in, [&](Bits a, Bits b, Bits) {
      const volatile float x = as_float(a), y = as_float(b);
      return canonical(rounded(m.fe, [&] { return x - y; }));
    });
    check(binary("mul" + s, "b32", "b32", "b32"), in, [&](Bits a, Bits b, Bits) {
      const volatile float x = as_float(a), y = as_float(b);
      return canonical(rounded(m.fe, [&] { return x * y; }));
    });
    check(ternary("fma" + s, "b32", "b32", "b32", "b32"), in, [&](Bits a, Bits b, Bits c) {
      const volatile float x = as_float(a), y = as_float(b), z = as_float(c);
      return canonical(rounded(m.fe, [&] { return std::fma(float(x), float(y), float(z)); }));
    });
    check(binary("div" + s, "b32", "b32", "b32"), in, [&](Bits a, Bits b, Bits) {
      const volatile float x = as_float(a), y = as_float(b);
      return canonical(rounded(m.fe, [&] { return x / y; }));
    });
    check(unary("sqrt" + s, "b32", "b32"), combine(floats32()), [&](Bits a, Bits, Bits) {
      const volatile float x = as_float(a);
      return canonical(rounded(m.fe, [&] { return std::sqrt(float(x)); }));
    });
    check(unary("rcp" + s, "b32", "b32"), combine(floats32()), [&](Bits a, Bits, Bits) {
      const volatile float x = as_float(a);
      return canonical(rounded(m.fe, [&] { return 1.0F / x; }));
    });
  }
}

TEST_CASE("ftz flushes subnormal inputs and results, sat clamps and turns NaN into +0") {
  const auto in = combine(floats32(), floats32(), floats32());
  check(binary("add.ftz.f32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits) {
    return canonical(flush(flush(as_float(a)) + flush(as_float(b))));
  });
  check(binary("mul.ftz.f32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits) {
    return canonical(flush(flush(as_float(a)) * flush(as_float(b))));
  });
  check(ternary("fma.rn.ftz.sat.f32", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits c) {
    return bits(
        clamp01(flush(std::fma(flush(as_float(a)), flush(as_float(b)), flush(as_float(c))))));
  });
  check(binary("add.sat.f32", "b32", "b32", "b32"), in,
        [](Bits a, Bits b, Bits) { return bits(clamp01(as_float(a) + as_float(b))); });
}

TEST_CASE("f32 min and max prefer a number to NaN and -0 to +0") {
  const auto in = combine(floats32(), floats32());
  const auto extreme = [](bool max, bool nan, Bits a, Bits b) -> Bits {
    const float x = as_float(a);
    const float y = as_float(b);
    if (std::isnan(x) && std::isnan(y)) return kNaN;
    if (std::isnan(x) || std::isnan(y)) return nan ? kNaN : std::isnan(x) ? b : a;
    if (x == y) return std::signbit(x) == max ? b : a;
    return (x < y) == max ? b : a;
  };
  check(binary("max.f32", "b32", "b32", "b32"), in,
        [&](Bits a, Bits b, Bits) { return extreme(true, false, a, b); });
  check(binary("min.f32", "b32", "b32", "b32"), in,
        [&](Bits a, Bits b, Bits) { return extreme(false, false, a, b); });
  check(binary("max.NaN.f32", "b32", "b32", "b32"), in,
        [&](Bits a, Bits b, Bits) { return extreme(true, true, a, b); });
  check(binary("min.NaN.f32", "b32", "b32", "b32"), in,
        [&](Bits a, Bits b, Bits) { return extreme(false, true, a, b); });
}

TEST_CASE("f32 neg, abs, copysign and testp look at bits only") {
  const auto in = combine(floats32(), floats32());
  check(unary("neg.f32", "b32", "b32"), in, [](Bits a, Bits, Bits) { return a ^ 0x80000000; });
  check(unary("abs.f32", "b32", "b32"), in, [](Bits a, Bits, Bits) { return a & 0x7FFFFFFF; });
  check(binary("copysign.f32", "b32", "b32", "b32"), in,
        [](Bits a, Bits b, Bits) { return (a & 0x80000000) | (b & 0x7FFFFFFF); });
  const auto test = [&](const char* name, auto f) {
    check({.text = std::string("testp.") + name + ".f32 %p, %a;", .d = "pred", .a = "b32"}, in,
          [=](Bits a, Bits, Bits) { return Bits{f(as_float(a))}; });
  };
  test("finite", [](float v) { return std::isfinite(v); });
  test("infinite", [](float v) { return std::isinf(v); });
  test("number", [](float v) { return !std::isnan(v); });
  test("notanumber", [](float v) { return std::isnan(v); });
  test("normal", [](float v) { return std::isnormal(v); });
  test("subnormal", [](float v) { return std::fpclassify(v) == FP_SUBNORMAL; });
}

TEST_CASE("div.approx gives zero for divisors beyond 2^126, div.full does not") {
  const auto in = combine(floats32(), floats32());
  check(binary("div.approx.f32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits) {
    const float x = as_float(a);
    const float y = as_float(b);
    const float m = std::fabs(y);
    if (m > 0x1p126F && std::isfinite(m)) {
      if (!std::isfinite(x)) return kNaN;
      return bits(std::copysign(0.0F, x));
    }
    return canonical(x / y);
  });
  check(binary("div.full.f32", "b32", "b32", "b32"), in,
        [](Bits a, Bits b, Bits) { return canonical(as_float(a) / as_float(b)); });
}

TEST_CASE("approximate functions of f32 stay within PTX's stated error") {
  const auto near = [](const std::string& op, auto exact, double relative, double absolute) {
    for (const Bits v : floats32()) {
      const float x = as_float(v);
      const std::vector<Bits> got = run(unary(op, "b32", "b32"), {{v, 0, 0}}, false);
      const double want = exact(static_cast<double>(x));
      const double have = as_float(got.at(0));
      INFO(op << " of " << x << " is " << have << ", exactly " << want);
      if (std::isnan(want)) {
        CHECK(got.at(0) == kNaN);
      } else if (std::isinf(static_cast<float>(want))) {
        CHECK(have == static_cast<double>(static_cast<float>(want)));
      } else {
        CHECK(std::abs(have - want) <= relative * std::abs(want) + absolute);
      }
    }
  };
  near(
      "ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22, 0x1p-148);
  near(
      "lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0x1p-22);
  near(
      "rcp.approx.f32", [](double x) { return 1 / x; }, 0x1p-23, 0x1p-149);
  near(
      "sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 0x1p-22, 0x1p-149);
  near(
      "rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0x1p-22, 0);
  near(
      "tanh.approx.f32", [](double x) { return std::tanh(x); }, 0x1p-11, 0);
  near(
      "sin.approx.f32", [](double x) { return std::sin(x); }, 0x1p-20, 0x1p-20);
  near(
      "cos.approx.f32", [](double x) { return std::cos(x); }, 0x1p-20, 0x1p-20);
}

TEST_CASE("f64 arithmetic rounds as asked") {
  const auto in = combine(floats64(), floats64(), floats64());
  const auto same = [](double v, Bits got) { return std::isnan(v) ? got : bits(v); };
  (void)same;
  const auto plain = [](double v) { return std::isnan(v) ? Bits{0x7FF8000000000000} : bits(v); };
  // NaN payloads of f64 are the processor's: only numbers are compared.
  std::vector<Inputs> numbers;
  for (const Inputs& i : in) {
    const double x = as_double(i.a), y = as_double(i.b), z = as_double(i.c);
    const double checks[] = {x + y, x - y, x * y, x / y, std::fma(x, y, z)};
    bool ok = true;
    for (const double c : checks) ok = ok && !std::isnan(c);
    if (ok) numbers.push_back(i);
  }
  REQUIRE(numbers.size() > 300);
  for (const Mode& m : kModes) {
    const std::string s = std::string(".") + m.name + ".f64";
    check(binary("add" + s, "b64", "b64", "b64"), numbers, [&](Bits a, Bits b, Bits) {
      const volatile double x = as_double(a), y = as_double(b);
      return plain(rounded64(m.fe, [&] { return x + y; }));
    });
    check(binary("mul" + s, "b64", "b64", "b64"), numbers, [&](Bits a, Bits b, Bits) {
      const volatile double x = as_double(a), y = as_double(b);
      return plain(rounded64(m.fe, [&] { return x * y; }));
    });
    check(binary("div" + s, "b64", "b64", "b64"), numbers, [&](Bits a, Bits b, Bits) {
      const volatile double x = as_double(a), y = as_double(b);
      return plain(rounded64(m.fe, [&] { return x / y; }));
    });
    check(ternary("fma" + s, "b64", "b64", "b64", "b64"), numbers, [&](Bits a, Bits b, Bits c) {
      const volatile double x = as_double(a), y = as_double(b), z = as_double(c);
      return plain(rounded64(m.fe, [&] { return std::fma(double(x), double(y), double(z)); }));
    });
  }
}
