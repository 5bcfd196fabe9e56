// Matrices that lie in the registers of a warp: which lane and register holds which element. The
// decoder makes the descriptions, matrix_ops.cc executes them. Plain values, immutable once made.
//
// mma's layouts are those of the PTX ISA. wmma's are nobody's business but the implementation's;
// its 16x16 accumulator is laid out as devices of compute capability 8 and 9 do it, because code
// that counts on that exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::emulator {

enum class Element : std::uint8_t {
  b1,
  s4,
  u4,
  s8,
  u8,
  e4m3,
  e5m2,
  f16,
  bf16,
  tf32,
  f32,
  s32,
  f64
};

struct ElementName {
  std::string_view text{};
  Element element = Element::b1;
  unsigned bits = 1;
};
[[nodiscard]] std::optional<Element> element_of(std::string_view text);
[[nodiscard]] unsigned bits_of(Element e);
// Integers multiply and add as integers, everything else as numbers with a fraction.
[[nodiscard]] constexpr bool is_whole(Element e) { return e <= Element::u8 || e == Element::s32; }

enum class Operand3 : std::uint8_t { a, b, accumulator };

struct Shape {
  unsigned m = 0;
  unsigned n = 0;
  unsigned k = 0;
};
[[nodiscard]] std::optional<Shape> shape_of(std::string_view text);  // m16n8k16

struct Cell {
  unsigned row = 0;
  unsigned column = 0;
};

// One operand: its registers' rows in the frame, in the instruction's order.
struct Fragment {
  Operand3 role = Operand3::a;
  Element element = Element::f16;
  bool opaque = false;  // wmma
  Shape shape{};
  std::vector<std::uint32_t> rows{};

  [[nodiscard]] unsigned height() const { return role == Operand3::b ? shape.k : shape.m; }
  [[nodiscard]] unsigned width() const { return role == Operand3::a ? shape.k : shape.n; }
  [[nodiscard]] unsigned register_bytes() const { return element == Element::f64 ? 8 : 4; }
  // Elements of one register.
  [[nodiscard]] unsigned per_register() const {
    return element == Element::f64 ? 1 : 32 / bits_of(element);
  }
  // True if there are as many registers as the shape needs.
  [[nodiscard]] bool fits() const;
  // Lanes from here on hold copies of what the ones before them hold.
  [[nodiscard]] unsigned distinct_lanes() const;
  [[nodiscard]] Cell cell(unsigned lane, unsigned reg, unsigned part) const;
};

// The same of all elements at once, in the order of lanes, registers and their parts.
struct FragmentLayout {
  unsigned distinct_lanes = 32;
  unsigned per_register = 1;
  unsigned element_bits = 32;
  unsigned register_bytes = 4;
  std::vector<Cell> cells{};  // of the distinct lanes
};
// Made once per thread and kind of fragment; valid as long as the thread lives.
[[nodiscard]] const FragmentLayout& layout_of(const Fragment& fragment);

// Of a product whose a is stored without half of its elements, which are zero: the others stand
// side by side, and four bits of metadata per chunk of a row say where they belong.
struct Sparsity {
  std::uint32_t row = 0;  // of the register with the metadata
  unsigned selector = 0;  // which lanes of each four have it
};

struct MatrixProduct {
  enum class Kind : std::uint8_t { multiply, and_popc, xor_popc };
  enum class Rounding : std::uint8_t { nearest, zero, minus, plus };
  Kind kind = Kind::multiply;
  bool saturate = false;
  Rounding rounding = Rounding::nearest;  // of doubles
  Fragment d{};
  Fragment a{};
  Fragment b{};
  Fragment c{};
  std::optional<Sparsity> sparsity{};  // a is half as wide as the shape says then
  // m8n8k4 of halves: four products at once, each of eight lanes, in layouts of their own.
  bool quads = false;
  bool a_columns = false;
  bool b_columns = true;

  [[nodiscard]] unsigned multiplications() const {
    return (quads ? 4 : 1) * a.shape.m * a.shape.n * a.shape.k;
  }
};

// wmma.load and wmma.store
struct MatrixTransfer {
  Fragment fragment{};
  bool column_major = false;
};

}  // namespace assay::emulator
