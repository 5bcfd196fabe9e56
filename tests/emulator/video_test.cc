// Video instructions against the ISA's description, step by step: part of a, part of b, the
// operation, the clamp, c.
#include <algorithm>
#include <array>

#include "tests/catch.h"
#include "tests/emulator/instruction.h"

using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

using Number = long long;

struct Part {
  std::string name{};
  int width = 32;
  int shift = 0;
};
const std::array<Part, 7> kParts{Part{"", 32, 0},   Part{".h0", 16, 0}, Part{".h1", 16, 16},
                                 Part{".b0", 8, 0}, Part{".b1", 8, 8},  Part{".b2", 8, 16},
                                 Part{".b3", 8, 24}};

Number power(int n) { return Number{1} << n; }

Number part(Bits word, int width, int shift, bool is_signed) {
  const auto v = static_cast<Number>(word >> shift) % power(width);
  return is_signed && v >= power(width - 1) ? v - power(width) : v;
}
Number limited(Number v, int width, bool is_signed) {
  return is_signed ? std::min(std::max(v, -power(width - 1)), power(width - 1) - 1)
                   : std::min(std::max(v, Number{0}), power(width) - 1);
}
Bits low_word(Number v) { return static_cast<Bits>(v) & 0xFFFFFFFF; }

std::string sign(bool is_signed) { return is_signed ? ".s32" : ".u32"; }

Number operate(const std::string& name, Number x, Number y) {
  if (name == "vadd") return x + y;
  if (name == "vsub") return x - y;
  if (name == "vabsdiff") return x > y ? x - y : y - x;
  if (name == "vmin") return std::min(x, y);
  if (name == "vmax") return std::max(x, y);
  const Number sum = x + y;  // vavrg
  return sum >= 0 ? (sum + 1) / 2 : -((1 - sum) / 2);
}

std::vector<Inputs> words() {
  const std::vector<Bits> v{0,          1,          0x7F,       0x80,       0xFF,
                            0x7FFF,     0x8000,     0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
                            0x80FF7F01, 0x0180FF7F, 0x12345678, 0xFEDCBA98};
  return combine(v, v, {0, 5, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x89ABCDEF});
}

Instruction ternary_text(const std::string& text) {
  return {.text = text, .d = "b32", .a = "b32", .b = "b32", .c = "b32"};
}

// The same signs for a, b and d in turn, by number.
struct Signs {
  explicit Signs(int i) : d((i & 1) != 0), a((i & 2) != 0), b((i & 4) != 0) {}
  bool d, a, b;
  [[nodiscard]] std::string text() const { return sign(d) + sign(a) + sign(b); }
};

}  // namespace

TEST_CASE("video sums, differences and extremes work on the parts that are named") {
  std::size_t turn = 0;
  for (const std::string name : {"vadd", "vsub", "vabsdiff", "vmin", "vmax"}) {
    for (int i = 0; i < 8; ++i) {
      const Signs s(i);
      for (const bool sat : {false, true}) {
        const Part& pa = kParts[turn++ % 7];
        const Part& pb = kParts[turn++ % 7];
        const auto model = [=](Bits a, Bits b) {
          const Number v =
              operate(name, part(a, pa.width, pa.shift, s.a), part(b, pb.width, pb.shift, s.b));
          return sat ? limited(v, 32, s.d) : v;
        };
        const std::string head = name + s.text() + (sat ? ".sat" : "");
        const std::string sources = ", %a" + pa.name + ", %b" + pb.name;
        check(ternary_text(head + " %d" + sources + ";"), words(),
              [=](Bits a, Bits b, Bits) { return low_word(model(a, b)); });
        const auto of_c = [=](Bits c) { return part(c, 32, 0, s.d); };
        check(ternary_text(head + ".add %d" + sources + ", %c;"), words(),
              [=](Bits a, Bits b, Bits c) { return low_word(model(a, b) + of_c(c)); });
        check(ternary_text(head + ".min %d" + sources + ", %c;"), words(),
              [=](Bits a, Bits b, Bits c) { return low_word(std::min(model(a, b), of_c(c))); });
        check(ternary_text(head + ".max %d" + sources + ", %c;"), words(),
              [=](Bits a, Bits b, Bits c) { return low_word(std::max(model(a, b), of_c(c))); });
      }
    }
  }
}

TEST_CASE("a video result goes into one part of c, clamped to that part") {
  for (std::size_t p = 1; p < kParts.size(); ++p) {
    const Part& to = kParts[p];
    for (int i = 0; i < 8; ++i) {
      const Signs s(i);
      for (const bool sat : {false, true}) {
        const std::string text =
            "vsub" + s.text() + (sat ? ".sat" : "") + " %d" + to.name + ", %a, %b.h0, %c;";
        check(ternary_text(text), words(), [=](Bits a, Bits b, Bits c) {
          Number v = part(a, 32, 0, s.a) - part(b, 16, 0, s.b);
          if (sat) v = limited(v, to.width, s.d);
          const Bits mask = static_cast<Bits>(power(to.width) - 1) << to.shift;
          return (static_cast<Bits>(v) << to.shift & mask) | (c & ~mask & 0xFFFFFFFF);
        });
      }
    }
  }
}

TEST_CASE("video shifts clamp or wrap their distance, and saturate what leaves the word") {
  const auto shifts =
      combine({0, 1, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x00FF00FF, 0xFF00FF00},
              {0, 1, 7, 29, 30, 31, 32, 33, 40, 63, 64, 255, 0xFFFFFFFF}, {0, 3, 0xFFFFFFFF});
  for (const bool left : {true, false}) {
    for (int i = 0; i < 4; ++i) {
      const Signs s(i);
      for (const bool wrap : {false, true}) {
        for (const bool sat : {false, true}) {
          const std::string text = std::string(left ? "vshl" : "vshr") + sign(s.d) + sign(s.a) +
                                   ".u32" + (sat ? ".sat" : "") + (wrap ? ".wrap" : ".clamp");
          const auto model = [=](Bits a, Bits b) {
            const int by = static_cast<int>(wrap ? b % 32 : std::min(b, Bits{32}));
            // Far beyond a word, a double says which way; its low word is none.
            const Number v = part(a, 32, 0, s.a);
            if (!left) return by == 32 ? (v < 0 ? Number{-1} : 0) : v >> by;
            const bool huge = by == 32 && (v >= power(31) || v < -power(31));
            if (!huge && !(by == 31 && v >= power(31))) return v * power(by);
            if (sat) return v < 0 ? -power(40) : power(40);
            return by == 32 ? 0 : static_cast<Number>(low_word(v % 2 * power(31)));
          };
          check(ternary_text(text + " %d, %a, %b;"), shifts, [=](Bits a, Bits b, Bits) {
            const Number v = model(a, b);
            return low_word(sat ? limited(v, 32, s.d) : v);
          });
          check(ternary_text(text + ".add %d, %a, %b, %c;"), shifts, [=](Bits a, Bits b, Bits c) {
            const Number v = model(a, b);
            // As words: a far shift of the least value leaves no room for a sum.
            return (low_word(sat ? limited(v, 32, s.d) : v) + c) & 0xFFFFFFFF;
          });
        }
      }
    }
  }
}

TEST_CASE("vmad multiplies parts, negates what is marked, scales and saturates") {
  struct Case {
    std::string opcode{};
    std::string operands{};
    int product = 1, sum = 1, extra = 0;
  };
  const std::array<Case, 5> cases{
      Case{"", " %d, %a.h0, %b.b1, %c;"}, Case{"", " %d, -%a.h0, %b.b1, %c;", -1},
      Case{"", " %d, %a.h0, -%b.b1, %c;", -1}, Case{"", " %d, %a.h0, %b.b1, -%c;", 1, -1},
      Case{".po", " %d, %a.h0, %b.b1, %c;", 1, 1, 1}};
  for (const Case& k : cases) {
    for (int i = 0; i < 8; i += 2) {
      const Signs s(i);
      for (const int scale : {0, 7, 15}) {
        for (const bool sat : {false, true}) {
          const std::string text = "vmad" + s.text() + k.opcode + (sat ? ".sat" : "") +
                                   (scale == 0 ? "" : ".shr" + std::to_string(scale)) + k.operands;
          const bool is_signed = s.a || s.b || k.product < 0 || k.sum < 0;
          check(ternary_text(text), words(), [=](Bits a, Bits b, Bits c) {
            const Number product = part(a, 16, 0, s.a) * part(b, 8, 8, s.b);
            const Number v =
                (k.product * product + k.sum * part(c, 32, 0, is_signed) + k.extra) >> scale;
            return low_word(sat ? limited(v, 32, is_signed) : v);
          });
        }
      }
    }
  }
  // The widest product there is does not fit 64 bits with a sign.
  check(ternary_text("vmad.u32.u32.u32.sat %d, %a, %b, %c;"),
        {{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, {0xFFFF, 0x10001, 0}, {0xFFFF, 0x10001, 1}},
        [](Bits, Bits, Bits) { return Bits{0xFFFFFFFF}; });
  check(ternary_text("vmad.u32.u32.u32.shr15 %d, %a, %b, %c;"),
        {{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}},
        [](Bits, Bits, Bits) { return Bits{0xFFFFFFFF00000000ULL >> 15 & 0xFFFFFFFF}; });
}

TEST_CASE("vset gives one or nothing") {
  const std::array<std::string, 6> names{"eq", "ne", "lt", "le", "gt", "ge"};
  for (std::size_t n = 0; n < names.size(); ++n) {
    for (int i = 0; i < 8; i += 2) {
      const Signs s(i);
      const auto holds = [=](Number x, Number y) {
        const std::array<bool, 6> all{x == y, x != y, x<y, x <= y, x> y, x >= y};
        return all[n];
      };
      const std::string text = "vset" + sign(s.a) + sign(s.b) + "." + names[n];
      check(ternary_text(text + " %d, %a.b3, %b.h1;"), words(), [=](Bits a, Bits b, Bits) {
        return Bits{holds(part(a, 8, 24, s.a), part(b, 16, 16, s.b))};
      });
      check(ternary_text(text + ".add %d, %a, %b, %c;"), words(), [=](Bits a, Bits b, Bits c) {
        return (c + holds(part(a, 32, 0, s.a), part(b, 32, 0, s.b))) & 0xFFFFFFFF;
      });
      check(ternary_text("vset4" + sign(s.a) + sign(s.b) + "." + names[n] + " %d, %a, %b, %c;"),
            words(), [=](Bits a, Bits b, Bits) {
              Bits r = 0;
              for (int k = 0; k < 32; k += 8) {
                r |= Bits{holds(part(a, 8, k, s.a), part(b, 8, k, s.b))} << k;
              }
              return r;
            });
    }
  }
}

TEST_CASE("many parts at once come from either word, and the ones not written from c") {
  struct Shape {
    int width = 16;
    std::string d{}, a{}, b{};              // selectors
    std::array<int, 4> from_a{}, from_b{};  // places in the eight or four parts of b and a
    unsigned mask = 0;
  };
  const std::array<Shape, 5> shapes{
      Shape{16, "", "", "", {0, 1}, {2, 3}, 3}, Shape{16, ".h1", ".h20", ".h13", {0, 2}, {3, 1}, 2},
      Shape{8, "", "", "", {0, 1, 2, 3}, {4, 5, 6, 7}, 15},
      Shape{8, ".b20", ".b7210", ".b3344", {0, 1, 2, 7}, {4, 4, 3, 3}, 5},
      Shape{8, ".b3", ".b0123", ".b4567", {3, 2, 1, 0}, {7, 6, 5, 4}, 8}};
  for (const std::string name : {"vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax"}) {
    for (const Shape& shape : shapes) {
      for (int i = 0; i < 8; ++i) {
        const Signs s(i);
        const auto of_part = [=](Bits a, Bits b, std::size_t k, bool sat) {
          const int width = shape.width;
          const Bits both = b << 32 | a;
          const auto at = [&](int place, bool is_signed) {
            return part(both >> (place * width) & 0xFFFF, width, 0, is_signed);
          };
          const Number v = operate(name, at(shape.from_a[k], s.a), at(shape.from_b[k], s.b));
          return sat ? limited(v, width, s.d) : v;
        };
        const auto count = static_cast<std::size_t>(32 / shape.width);
        const std::string head = name + (count == 2 ? "2" : "4") + s.text();
        const std::string operands =
            " %d" + shape.d + ", %a" + shape.a + ", %b" + shape.b + ", %c;";
        for (const bool sat : {false, true}) {
          check(ternary_text(head + (sat ? ".sat" : "") + operands), words(),
                [=](Bits a, Bits b, Bits c) {
                  Bits r = 0;
                  for (std::size_t k = 0; k < count; ++k) {
                    const Bits low = static_cast<Bits>(power(shape.width) - 1);
                    const int up = static_cast<int>(k) * shape.width;
                    const bool written = (shape.mask >> k & 1U) != 0;
                    const Bits v = written ? static_cast<Bits>(of_part(a, b, k, sat)) : c >> up;
                    r |= (v & low) << up;
                  }
                  return r;
                });
        }
        check(ternary_text(head + ".add" + operands), words(), [=](Bits a, Bits b, Bits c) {
          Number sum = static_cast<Number>(c);
          for (std::size_t k = 0; k < count; ++k) {
            if ((shape.mask >> k & 1U) != 0) sum += of_part(a, b, k, false);
          }
          return low_word(sum);
        });
      }
    }
  }
}
