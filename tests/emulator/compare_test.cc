#include <cmath>
#include <string>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

struct Order {
  const char* name;
  bool less, equal, greater, unordered;
};
const Order kOrders[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                         {"lt", true, false, false, false}, {"le", true, true, false, false},
                         {"gt", false, false, true, false}, {"ge", false, true, true, false},
                         {"equ", false, true, false, true}, {"neu", true, false, true, true},
                         {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                         {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                         {"num", true, true, true, false},  {"nan", false, false, false, true}};

bool holds(const Order& o, double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return o.unordered;
  return x < y ? o.less : x > y ? o.greater : o.equal;
}

std::int64_t extended(Bits v, unsigned n) {
  return static_cast<std::int64_t>(v << (64 - n)) >> (64 - n);
}

double half(Bits h) {
  const int e = static_cast<int>(h >> 10 & 31);
  const double m = static_cast<double>(h & 1023);
  const double v = e == 31  ? (m != 0 ? NAN : INFINITY)
                   : e == 0 ? std::ldexp(m, -24)
                            : std::ldexp(m + 1024, e - 25);
  return (h & 0x8000) != 0 ? -v : v;
}

}  // namespace

TEST_CASE("integer setp orders by sign and gives the complement as its second result") {
  for (const unsigned n : {16U, 32U, 64U}) {
    const std::string r = "b" + std::to_string(n);
    const auto in = combine(integers(n), integers(n));
    for (int i = 0; i < 6; ++i) {
      const Order& o = kOrders[i];
      for (const bool s : {false, true}) {
        const std::string t = (s ? "s" : "u") + std::to_string(n);
        check({.text = std::string("setp.") + o.name + "." + t + " %p|%q, %a, %b;",
               .d = "pred",
               .a = r,
               .b = r},
              in, [=](Bits a, Bits b, Bits) -> Bits {
                const bool less = s ? extended(a, n) < extended(b, n) : a < b;
                const bool yes = a == b ? o.equal : less ? o.less : o.greater;
                return yes ? 1 : 2;
              });
      }
    }
  }
  check({.text = "setp.hi.u32 %p, %a, %b;", .d = "pred", .a = "b32", .b = "b32"},
        combine(integers(32), integers(32)), [](Bits a, Bits b, Bits) { return Bits{a > b}; });
}

TEST_CASE("float setp tells ordered from unordered comparisons") {
  for (const Order& o : kOrders) {
    const std::string op = std::string("setp.") + o.name;
    check({.text = op + ".f32 %p|%q, %a, %b;", .d = "pred", .a = "b32", .b = "b32"},
          combine(floats32(), floats32()), [=](Bits a, Bits b, Bits) -> Bits {
            return holds(o, static_cast<double>(as_float(a)), static_cast<double>(as_float(b))) ? 1
                                                                                                : 2;
          });
    check({.text = op + ".f64 %p, %a, %b;", .d = "pred", .a = "b64", .b = "b64"},
          combine(floats64(), floats64()),
          [=](Bits a, Bits b, Bits) { return Bits{holds(o, as_double(a), as_double(b))}; });
    check({.text = op + ".f16 %p, %a, %b;", .d = "pred", .a = "b16", .b = "b16"},
          combine(halves(), halves()),
          [=](Bits a, Bits b, Bits) { return Bits{holds(o, half(a), half(b))}; });
  }
}

TEST_CASE("setp combines with a predicate, negated or not") {
  const auto in = combine(integers(32), integers(32), {0, 1, 1, 0, 1});
  const auto lt = [](Bits a, Bits b) { return Bits{extended(a, 32) < extended(b, 32)}; };
  const auto both = [](Bits p, Bits q) { return p | q << 1; };
  const auto with = [](const char* op, const char* c) {
    return Instruction{.text = std::string("setp.lt.") + op + ".s32 %p|%q, %a, %b, " + c + ";",
                       .d = "pred",
                       .a = "b32",
                       .b = "b32",
                       .c = "b32"};
  };
  check(with("and", "%pc"), in,
        [=](Bits a, Bits b, Bits c) { return both(lt(a, b) & c, (lt(a, b) ^ 1) & c); });
  check(with("or", "!%pc"), in,
        [=](Bits a, Bits b, Bits c) { return both(lt(a, b) | (c ^ 1), (lt(a, b) ^ 1) | (c ^ 1)); });
  check(with("xor", "%pc"), in,
        [=](Bits a, Bits b, Bits c) { return both(lt(a, b) ^ c, lt(a, b) ^ 1 ^ c); });
}

TEST_CASE("set writes all ones or 1.0 for true") {
  const auto in = combine(floats32(), floats32());
  check(binary("set.lt.u32.f32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits) {
    return as_float(a) < as_float(b) ? Bits{0xFFFFFFFF} : Bits{0};
  });
  check(binary("set.geu.f32.f32", "b32", "b32", "b32"), in, [](Bits a, Bits b, Bits) {
    return as_float(a) < as_float(b) ? Bits{0} : Bits{0x3F800000};
  });
  check(binary("set.gt.f16.f16", "b16", "b16", "b16"), combine(halves(), halves()),
        [](Bits a, Bits b, Bits) { return half(a) > half(b) ? Bits{0x3C00} : Bits{0}; });
  check(binary("set.le.f16x2.f16x2", "b32", "b32", "b32"), combine(integers(32), integers(32)),
        [](Bits a, Bits b, Bits) {
          Bits r = 0;
          if (half(a & 0xFFFF) <= half(b & 0xFFFF)) r |= 0x3C00;
          if (half(a >> 16) <= half(b >> 16)) r |= 0x3C000000;
          return r;
        });
}
