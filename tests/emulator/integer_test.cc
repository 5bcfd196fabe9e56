#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

using Wide = __int128;

Bits mask(unsigned n) { return n == 64 ? ~Bits{0} : (Bits{1} << n) - 1; }
Wide value(Bits v, unsigned n, bool with_sign) {
  v &= mask(n);
  if (with_sign && (v >> (n - 1) & 1) != 0)
    return static_cast<Wide>(v) - (static_cast<Wide>(1) << n);
  return static_cast<Wide>(v);
}
std::string b(unsigned n) { return "b" + std::to_string(n); }
std::string type(unsigned n, bool with_sign) { return (with_sign ? "s" : "u") + std::to_string(n); }

template <class F>
void each_type(F f) {
  for (const unsigned n : {16U, 32U, 64U}) {
    for (const bool s : {false, true}) f(n, s, type(n, s), b(n));
  }
}

}  // namespace

TEST_CASE("integer add, sub and mul wrap; min, max and sad follow the sign") {
  each_type([](unsigned n, bool s, const std::string& t, const std::string& r) {
    const auto in = combine(integers(n), integers(n), integers(n));
    check(binary("add." + t, r, r, r), in, [=](Bits a, Bits y, Bits) { return (a + y) & mask(n); });
    check(binary("sub." + t, r, r, r), in, [=](Bits a, Bits y, Bits) { return (a - y) & mask(n); });
    check(binary("mul.lo." + t, r, r, r), in,
          [=](Bits a, Bits y, Bits) { return (a * y) & mask(n); });
    check(ternary("mad.lo." + t, r, r, r, r), in,
          [=](Bits a, Bits y, Bits c) { return (a * y + c) & mask(n); });
    check(binary("min." + t, r, r, r), in,
          [=](Bits a, Bits y, Bits) { return value(a, n, s) < value(y, n, s) ? a : y; });
    check(binary("max." + t, r, r, r), in,
          [=](Bits a, Bits y, Bits) { return value(a, n, s) > value(y, n, s) ? a : y; });
    check(ternary("sad." + t, r, r, r, r), in, [=](Bits a, Bits y, Bits c) {
      const Wide d = value(a, n, s) - value(y, n, s);
      return (c + static_cast<Bits>(d < 0 ? -d : d)) & mask(n);
    });
  });
}

TEST_CASE("integer mul.hi and mul.wide hold the upper half of the product") {
  each_type([](unsigned n, bool s, const std::string& t, const std::string& r) {
    const auto in = combine(integers(n), integers(n), integers(n));
    const auto product = [=](Bits a, Bits y) {
      // 64 x 64 unsigned needs every bit of 128.
      return static_cast<unsigned __int128>(value(a, n, s)) *
             static_cast<unsigned __int128>(value(y, n, s));
    };
    check(binary("mul.hi." + t, r, r, r), in,
          [=](Bits a, Bits y, Bits) { return static_cast<Bits>(product(a, y) >> n) & mask(n); });
    check(ternary("mad.hi." + t, r, r, r, r), in, [=](Bits a, Bits y, Bits c) {
      return (static_cast<Bits>(product(a, y) >> n) + c) & mask(n);
    });
    if (n == 64) return;
    const std::string w = b(2 * n);
    check(binary("mul.wide." + t, w, r, r), in,
          [=](Bits a, Bits y, Bits) { return static_cast<Bits>(product(a, y)) & mask(2 * n); });
    check(ternary("mad.wide." + t, w, r, r, w), combine(integers(n), integers(n), integers(2 * n)),
          [=](Bits a, Bits y, Bits c) {
            return (static_cast<Bits>(product(a, y)) + c) & mask(2 * n);
          });
  });
}

TEST_CASE("integer division by zero gives all ones and the most negative number has no opposite") {
  each_type([](unsigned n, bool s, const std::string& t, const std::string& r) {
    const auto in = combine(integers(n), integers(n));
    check(binary("div." + t, r, r, r), in, [=](Bits a, Bits y, Bits) {
      const Wide d = value(y, n, s);
      return d == 0 ? mask(n) : static_cast<Bits>(value(a, n, s) / d) & mask(n);
    });
    check(binary("rem." + t, r, r, r), in, [=](Bits a, Bits y, Bits) {
      const Wide d = value(y, n, s);
      return d == 0 ? mask(n) : static_cast<Bits>(value(a, n, s) % d) & mask(n);
    });
    if (!s) return;
    check(unary("neg." + t, r, r), combine(integers(n)),
          [=](Bits a, Bits, Bits) { return (0 - a) & mask(n); });
    check(unary("abs." + t, r, r), combine(integers(n)),
          [=](Bits a, Bits, Bits) { return value(a, n, true) < 0 ? (0 - a) & mask(n) : a; });
  });
}

TEST_CASE("saturating 32-bit add and sub clamp") {
  const auto in = combine(integers(32), integers(32), integers(32));
  const auto clamp = [](Wide v) {
    const Wide top = 0x7FFFFFFF;
    return static_cast<Bits>(v > top ? top : v < -top - 1 ? -top - 1 : v) & mask(32);
  };
  check(binary("add.sat.s32", "b32", "b32", "b32"), in,
        [=](Bits a, Bits y, Bits) { return clamp(value(a, 32, true) + value(y, 32, true)); });
  check(binary("sub.sat.s32", "b32", "b32", "b32"), in,
        [=](Bits a, Bits y, Bits) { return clamp(value(a, 32, true) - value(y, 32, true)); });
  check(ternary("mad.hi.sat.s32", "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
    const Wide p = value(a, 32, true) * value(y, 32, true);
    return clamp((p >> 32) + value(c, 32, true));
  });
}

TEST_CASE("a saturating sum on the upper half of a 24-bit product stops at the ends") {
  const auto in = combine(integers(32), integers(32), integers(32));
  check(ternary("mad24.hi.sat.s32", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits c) {
    const Wide sum = (value(a, 24, true) * value(y, 24, true) >> 16) + value(c, 32, true);
    const Wide top = (Wide{1} << 31) - 1;
    return static_cast<Bits>(sum > top ? top : sum < -top - 1 ? -top - 1 : sum) & mask(32);
  });
}

TEST_CASE("24-bit products use the low 24 bits of their operands") {
  const auto in = combine(integers(32), integers(32), integers(32));
  for (const bool s : {false, true}) {
    const std::string t = type(32, s);
    const auto product = [=](Bits a, Bits y) { return value(a, 24, s) * value(y, 24, s); };
    check(binary("mul24.lo." + t, "b32", "b32", "b32"), in,
          [=](Bits a, Bits y, Bits) { return static_cast<Bits>(product(a, y)) & mask(32); });
    check(binary("mul24.hi." + t, "b32", "b32", "b32"), in,
          [=](Bits a, Bits y, Bits) { return static_cast<Bits>(product(a, y) >> 16) & mask(32); });
    check(ternary("mad24.lo." + t, "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
      return (static_cast<Bits>(product(a, y)) + c) & mask(32);
    });
  }
}

TEST_CASE("a difference leaves a carry where it borrows nothing, for sums and differences alike") {
  const auto in = combine(integers(32), integers(32), integers(32));
  check({.text = "{.reg .b32 %x; sub.cc.u32 %x, %a, %b; addc.u32 %d, %c, 0;}",
         .d = "b32",
         .a = "b32",
         .b = "b32",
         .c = "b32"},
        in, [](Bits a, Bits y, Bits c) { return (c + (a >= y ? 1 : 0)) & mask(32); });
  check({.text = "{.reg .b32 %x; add.cc.u32 %x, %a, %b; subc.u32 %d, %c, 0;}",
         .d = "b32",
         .a = "b32",
         .b = "b32",
         .c = "b32"},
        in, [](Bits a, Bits y, Bits c) { return (c - (a + y > mask(32) ? 0 : 1)) & mask(32); });
}

TEST_CASE("a carry chain adds, subtracts and multiplies 64-bit numbers from 32-bit halves") {
  // %a = {lo, hi}, %b likewise.
  const std::string split =
      "{.reg .b32 %l, %h, %bl, %bh, %rl, %rh;\n"
      "mov.b64 {%l, %h}, %a; mov.b64 {%bl, %bh}, %b;\n";
  const std::string join = "mov.b64 %d, {%rl, %rh};}";
  const auto in = combine(integers(64), integers(64), integers(64));
  const auto wide = [&](const std::string& body) {
    return Instruction{.text = split + body + join, .d = "b64", .a = "b64", .b = "b64"};
  };
  check(wide("add.cc.u32 %rl, %l, %bl; addc.u32 %rh, %h, %bh;\n"), in,
        [](Bits a, Bits y, Bits) { return a + y; });
  check(wide("sub.cc.u32 %rl, %l, %bl; subc.u32 %rh, %h, %bh;\n"), in,
        [](Bits a, Bits y, Bits) { return a - y; });
  check(wide("mul.lo.u32 %rl, %l, %bl; mul.hi.u32 %rh, %l, %bl;\n"
             "mad.lo.cc.u32 %rl, %l, 0, %rl; madc.lo.u32 %rh, %l, %bh, %rh;\n"
             "mad.lo.u32 %rh, %h, %bl, %rh;\n"),
        in, [](Bits a, Bits y, Bits) { return a * y; });
}

TEST_CASE("a carry goes through three 32-bit words") {
  const Instruction three{
      .text =
          "{.reg .b32 %l, %h, %bl, %bh, %x;\nmov.b64 {%l, %h}, %a; mov.b64 {%bl, %bh}, %b;\n"
          "add.cc.u32 %x, %l, %bl; addc.cc.u32 %x, %h, %bh; addc.u32 %d, 0, 0;}",
      .d = "b32",
      .a = "b64",
      .b = "b64"};
  check(three, combine(integers(64), integers(64)),
        [](Bits a, Bits y, Bits) { return Bits{a + y < a}; });
}

TEST_CASE("bit counting: popc, clz, brev and bfind") {
  for (const unsigned n : {32U, 64U}) {
    const auto in = combine(integers(n));
    check(unary("popc.b" + std::to_string(n), "b32", b(n)), in, [=](Bits a, Bits, Bits) {
      Bits r = 0;
      for (unsigned i = 0; i < n; ++i) r += a >> i & 1;
      return r;
    });
    check(unary("clz.b" + std::to_string(n), "b32", b(n)), in, [=](Bits a, Bits, Bits) {
      Bits r = 0;
      while (r < n && (a >> (n - 1 - r) & 1) == 0) ++r;
      return r;
    });
    check(unary("brev.b" + std::to_string(n), b(n), b(n)), in, [=](Bits a, Bits, Bits) {
      Bits r = 0;
      for (unsigned i = 0; i < n; ++i) r |= (a >> i & 1) << (n - 1 - i);
      return r;
    });
    for (const bool s : {false, true}) {
      const auto find = [=](Bits a) {
        const Bits sign = s ? a >> (n - 1) & 1 : 0;
        for (unsigned i = n; i-- > 0;) {
          if ((a >> i & 1) != sign) return Bits{i};
        }
        return Bits{0xFFFFFFFF};
      };
      check(unary("bfind." + type(n, s), "b32", b(n)), in,
            [=](Bits a, Bits, Bits) { return find(a); });
      check(unary("bfind.shiftamt." + type(n, s), "b32", b(n)), in, [=](Bits a, Bits, Bits) {
        const Bits at = find(a);
        return at == 0xFFFFFFFF ? at : n - 1 - at;
      });
    }
  }
}

TEST_CASE("dp4a and dp2a sum byte products with the signs asked for") {
  const auto in = combine(integers(32), integers(32), integers(32));
  for (const bool sa : {false, true}) {
    for (const bool sb : {false, true}) {
      const std::string types = type(32, sa) + "." + type(32, sb);
      check(ternary("dp4a." + types, "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
        Wide sum = value(c, 32, sa || sb);
        for (unsigned i = 0; i < 4; ++i) sum += value(a >> 8 * i, 8, sa) * value(y >> 8 * i, 8, sb);
        return static_cast<Bits>(sum) & mask(32);
      });
      for (const bool hi : {false, true}) {
        check(ternary((hi ? "dp2a.hi." : "dp2a.lo.") + types, "b32", "b32", "b32", "b32"), in,
              [=](Bits a, Bits y, Bits c) {
                Wide sum = value(c, 32, sa || sb);
                for (unsigned i = 0; i < 2; ++i) {
                  sum += value(a >> 16 * i, 16, sa) * value(y >> (8 * i + (hi ? 16 : 0)), 8, sb);
                }
                return static_cast<Bits>(sum) & mask(32);
              });
      }
    }
  }
}

TEST_CASE("packed 16-bit addition keeps the halves apart") {
  check(binary("add.u16x2", "b32", "b32", "b32"), combine(integers(32), integers(32)),
        [](Bits a, Bits y, Bits) {
          return ((a + y) & 0xFFFF) | (((a >> 16) + (y >> 16)) & 0xFFFF) << 16;
        });
}
