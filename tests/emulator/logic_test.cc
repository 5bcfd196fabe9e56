#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

Bits mask(unsigned n) { return n == 64 ? ~Bits{0} : (Bits{1} << n) - 1; }
std::string b(unsigned n) { return "b" + std::to_string(n); }
bool bit(Bits v, unsigned i) { return (v >> i & 1) != 0; }

}  // namespace

TEST_CASE("and, or, xor, not and cnot work on every width") {
  for (const unsigned n : {16U, 32U, 64U}) {
    const auto in = combine(integers(n), integers(n));
    check(binary("and." + b(n), b(n), b(n), b(n)), in, [](Bits a, Bits y, Bits) { return a & y; });
    check(binary("or." + b(n), b(n), b(n), b(n)), in, [](Bits a, Bits y, Bits) { return a | y; });
    check(binary("xor." + b(n), b(n), b(n), b(n)), in, [](Bits a, Bits y, Bits) { return a ^ y; });
    check(unary("not." + b(n), b(n), b(n)), in, [=](Bits a, Bits, Bits) { return ~a & mask(n); });
    check(unary("cnot." + b(n), b(n), b(n)), in, [](Bits a, Bits, Bits) { return Bits{a == 0}; });
  }
}

TEST_CASE("shift amounts beyond the width clamp instead of wrapping") {
  for (const unsigned n : {16U, 32U, 64U}) {
    const auto in = combine(integers(n), integers(32));
    const std::string w = std::to_string(n);
    check(binary("shl.b" + w, b(n), b(n), "b32"), in,
          [=](Bits a, Bits y, Bits) { return y >= n ? 0 : (a << y) & mask(n); });
    check(binary("shr.u" + w, b(n), b(n), "b32"), in,
          [=](Bits a, Bits y, Bits) { return y >= n ? 0 : a >> y; });
    check(binary("shr.b" + w, b(n), b(n), "b32"), in,
          [=](Bits a, Bits y, Bits) { return y >= n ? 0 : a >> y; });
    check(binary("shr.s" + w, b(n), b(n), "b32"), in, [=](Bits a, Bits y, Bits) {
      Bits r = 0;
      for (unsigned i = 0; i < n; ++i) {
        const Bits from = i + y;
        r |= Bits{bit(a, from < n ? static_cast<unsigned>(from) : n - 1)} << i;
      }
      return r;
    });
  }
}

TEST_CASE("funnel shifts wrap or clamp their amount") {
  const auto in = combine(integers(32), integers(32), integers(32));
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    const auto amount = [=](Bits c) { return clamp ? (c > 32 ? 32 : c) : c % 32; };
    check(ternary("shf.l." + mode + ".b32", "b32", "b32", "b32", "b32"), in,
          [=](Bits a, Bits y, Bits c) {
            const auto v = static_cast<unsigned __int128>(y << 32 | a) << amount(c);
            return static_cast<Bits>(v >> 32) & mask(32);
          });
    check(ternary("shf.r." + mode + ".b32", "b32", "b32", "b32", "b32"), in,
          [=](Bits a, Bits y, Bits c) { return (y << 32 | a) >> amount(c) & mask(32); });
  }
}

TEST_CASE("lop3 follows its truth table") {
  const auto in = combine(integers(32), integers(32), integers(32));
  for (const unsigned table : {0x00U, 0x80U, 0xFEU, 0x96U, 0xCAU, 0xE8U, 0xFFU, 0x3CU}) {
    check({.text = "lop3.b32 %d, %a, %b, %c, " + std::to_string(table) + ";",
           .d = "b32",
           .a = "b32",
           .b = "b32",
           .c = "b32"},
          in, [=](Bits a, Bits y, Bits c) {
            Bits r = 0;
            for (unsigned i = 0; i < 32; ++i) {
              const unsigned index =
                  (bit(a, i) ? 4U : 0U) | (bit(y, i) ? 2U : 0U) | (bit(c, i) ? 1U : 0U);
              r |= Bits{(table >> index & 1) != 0} << i;
            }
            return r;
          });
  }
}

TEST_CASE("bfe extracts with the sign of the field's last bit") {
  for (const unsigned n : {32U, 64U}) {
    for (const bool s : {false, true}) {
      const std::string t = (s ? "s" : "u") + std::to_string(n);
      check(ternary("bfe." + t, b(n), b(n), "b32", "b32"),
            combine(integers(n), integers(32), integers(32)), [=](Bits a, Bits y, Bits c) {
              const unsigned pos = y & 0xFF;
              const unsigned len = c & 0xFF;
              const unsigned top = n - 1;
              bool sign = false;
              if (s && len != 0) sign = bit(a, std::min(pos + len - 1, top));
              Bits r = 0;
              for (unsigned i = 0; i < n; ++i) {
                r |= Bits{i < len && pos + i <= top ? bit(a, pos + i) : sign} << i;
              }
              return r;
            });
    }
  }
}

TEST_CASE("bfi inserts a field and leaves what is outside") {
  for (const unsigned n : {32U, 64U}) {
    for (const unsigned len : {0U, 1U, 5U, 31U, 32U, 40U, 64U, 300U}) {
      check({.text = "bfi." + b(n) + " %d, %a, %b, %c, " + std::to_string(len) + ";",
             .d = n == 32 ? "b32" : "b64",
             .a = n == 32 ? "b32" : "b64",
             .b = n == 32 ? "b32" : "b64",
             .c = "b32"},
            combine(integers(n), integers(n), integers(32)), [=](Bits a, Bits y, Bits c) {
              Bits r = y;
              const unsigned pos = c & 0xFF;
              for (unsigned i = 0; i < (len & 0xFF) && pos + i < n; ++i) {
                r = (r & ~(Bits{1} << (pos + i))) | Bits{bit(a, i)} << (pos + i);
              }
              return r;
            });
    }
  }
}

TEST_CASE("prmt picks bytes and copies their sign") {
  const auto in = combine(integers(32), integers(32), integers(32));
  check(ternary("prmt.b32", "b32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits c) {
    Bits r = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const Bits s = c >> 4 * i & 0xF;
      Bits v = (y << 32 | a) >> 8 * (s & 7) & 0xFF;
      if ((s & 8) != 0) v = (v & 0x80) != 0 ? 0xFF : 0;
      r |= v << 8 * i;
    }
    return r;
  });
  const auto bytes = [](Bits a, Bits y, const unsigned(&index)[4]) {
    Bits r = 0;
    for (unsigned i = 0; i < 4; ++i) r |= ((y << 32 | a) >> 8 * index[i] & 0xFF) << 8 * i;
    return r;
  };
  check(ternary("prmt.b32.f4e", "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
    const unsigned s = c & 3;
    return bytes(a, y, {s, s + 1, s + 2, s + 3});
  });
  check(ternary("prmt.b32.b4e", "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
    const unsigned s = c & 3;
    return bytes(a, y, {s, (s + 7) % 8, (s + 6) % 8, (s + 5) % 8});
  });
  check(ternary("prmt.b32.rc16", "b32", "b32", "b32", "b32"), in, [=](Bits a, Bits y, Bits c) {
    return (c & 1) != 0 ? bytes(a, y, {2, 3, 2, 3}) : bytes(a, y, {0, 1, 0, 1});
  });
}

TEST_CASE("selp and slct choose by a predicate or a sign") {
  for (const unsigned n : {16U, 32U, 64U}) {
    const std::string r = b(n);
    check({.text = "selp." + r + " %d, %a, %b, %pc;", .d = r, .a = r, .b = r, .c = "b32"},
          combine(integers(n), integers(n), {0, 1, 1, 0, 1}),
          [](Bits a, Bits y, Bits c) { return (c & 1) != 0 ? a : y; });
    check(ternary("slct." + r + ".s32", r, r, r, "b32"),
          combine(integers(n), integers(n), integers(32)),
          [](Bits a, Bits y, Bits c) { return bit(c, 31) ? y : a; });
    check(ternary("slct." + r + ".f32", r, r, r, "b32"),
          combine(integers(n), integers(n), floats32()),
          [](Bits a, Bits y, Bits c) { return as_float(c) >= 0.0F ? a : y; });
  }
}

TEST_CASE("predicates have logic of their own") {
  const auto in = combine({0, 1, 2, 3}, {0, 1}, {0, 1, 1, 0});
  const auto with = [](const std::string& op) {
    return Instruction{.text =
                           "{.reg .pred %x; .reg .b32 %m; and.b32 %m, %a, 1;"
                           "setp.ne.u32 %x, %m, 0;" +
                           op + "}",
                       .d = "pred",
                       .a = "b32",
                       .c = "b32"};
  };
  check(with("and.pred %p, %x, %pc;"), in, [](Bits a, Bits, Bits c) { return a & c & 1; });
  check(with("or.pred %p, %x, %pc;"), in, [](Bits a, Bits, Bits c) { return (a | c) & 1; });
  check(with("xor.pred %p, %x, %pc;"), in, [](Bits a, Bits, Bits c) { return (a ^ c) & 1; });
  check(with("not.pred %p, %x;"), in, [](Bits a, Bits, Bits) { return ~a & 1; });
  check(with("mov.pred %p, %x;"), in, [](Bits a, Bits, Bits) { return a & 1; });
}

TEST_CASE("mov packs and unpacks parts of a register") {
  const auto in = combine(integers(64), integers(32));
  check({.text = "{.reg .b32 %l, %h; mov.b64 {%l, %h}, %a; mov.b64 %d, {%h, %l};}",
         .d = "b64",
         .a = "b64"},
        in, [](Bits a, Bits, Bits) { return a >> 32 | a << 32; });
  check({.text = "{.reg .b16 %w<4>; mov.b64 {%w0, %w1, %w2, %w3}, %a;"
                 "mov.b64 %d, {%w3, %w2, %w1, %w0};}",
         .d = "b64",
         .a = "b64"},
        in, [](Bits a, Bits, Bits) {
          return (a >> 48) | (a >> 32 & 0xFFFF) << 16 | (a >> 16 & 0xFFFF) << 32 | a << 48;
        });
  check({.text = "{.reg .b16 %w<2>; mov.b32 {%w0, _}, %b; mov.b32 %d, {%w0, %w0};}",
         .d = "b32",
         .b = "b32"},
        in, [](Bits, Bits y, Bits) { return (y & 0xFFFF) * 0x10001; });
}

TEST_CASE("mov packs two bytes into 16 bits and takes them out again") {
  const auto in = combine(integers(16), integers(16));
  const std::string bytes =
      "{.reg .b8 %x, %y; .reg .b16 %k; cvt.u8.u16 %x, %a; cvt.u8.u16 %y, %b; ";
  check({.text = bytes + "mov.b16 %d, {%x, %y};}", .d = "b16", .a = "b16", .b = "b16"}, in,
        [](Bits a, Bits y, Bits) { return (a & 0xFF) | (y & 0xFF) << 8; });
  check({.text = bytes + "mov.b16 %d, {%x, 0};}", .d = "b16", .a = "b16", .b = "b16"}, in,
        [](Bits a, Bits, Bits) { return a & 0xFF; });
  check({.text = bytes + "mov.b16 {%x, %y}, %a; mov.b16 %d, {%y, %x};}",
         .d = "b16",
         .a = "b16",
         .b = "b16"},
        in, [](Bits a, Bits, Bits) { return (a >> 8 | a << 8) & 0xFFFF; });
}

TEST_CASE("szext and bmsk build masks") {
  const auto in = combine(integers(32), integers(32));
  check(binary("bmsk.clamp.b32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    Bits r = 0;
    for (Bits i = 0; i < 32; ++i) r |= Bits{i >= a && i - a < y} << i;
    return r;
  });
  check(binary("szext.wrap.s32", "b32", "b32", "b32"), in, [](Bits a, Bits y, Bits) {
    const unsigned n = y % 32;
    Bits r = 0;
    for (unsigned i = 0; i < 32 && n != 0; ++i) r |= Bits{bit(a, i < n ? i : n - 1)} << i;
    return r;
  });
}

TEST_CASE("a predicate takes an immediate, alone or in an operation") {
  const auto in = combine(integers(32), integers(32), integers(1));
  for (const auto& [text, truth] : {std::pair{"0", Bits{0}}, {"1", Bits{1}}, {"-1", Bits{1}}}) {
    check({.text = std::string("mov.pred %p, ") + text + ";", .d = "pred"}, in,
          [truth = truth](Bits, Bits, Bits) { return truth; });
    check({.text = std::string("xor.pred %p, %pc, ") + text + ";", .d = "pred", .c = "b32"}, in,
          [truth = truth](Bits, Bits, Bits c) { return (c ^ truth) & 1; });
    check({.text = std::string("selp.b32 %d, %a, %b, ") + text + ";",
           .d = "b32",
           .a = "b32",
           .b = "b32"},
          in, [truth = truth](Bits a, Bits b, Bits) { return truth != 0 ? a : b; });
  }
}
