// The elements of fragments as values, and fragments as whole matrices: what every kind of product
// is computed on. For *_matrix_ops.cc and matrix_ops.cc only.
#pragma once

#include <cstring>
#include <vector>

#include "engine/emulator/matrix.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {

// The value of an element's bits, and the bits of a value.
[[nodiscard]] double number(const Fragment& f, std::uint64_t bits);
[[nodiscard]] std::int32_t integer(const Fragment& f, std::uint64_t bits);
[[nodiscard]] std::uint64_t number_bits(const Fragment& f, double v);

// Calls visit(cell, bits) for each element of the lanes that hold something of their own.
template <class Visit>
void read_fragment(Warp& w, const Fragment& f, const Visit& visit) {
  const FragmentLayout& layout = layout_of(f);
  const unsigned bits = layout.element_bits;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - bits);
  const Cell* cell = layout.cells.data();
  for (unsigned lane = 0; lane < layout.distinct_lanes; ++lane) {
    for (const std::uint32_t row : f.rows) {
      std::uint64_t value = 0;
      std::memcpy(&value, w.rows + row + lane * layout.register_bytes, layout.register_bytes);
      for (unsigned i = 0; i < layout.per_register; ++i) {
        visit(*cell++, value >> (i * bits) & mask);
      }
    }
  }
}

// Sets every register from make(cell) -> bits, called once for each element.
template <class Make>
void write_fragment(Warp& w, const Fragment& f, const Make& make) {
  const FragmentLayout& layout = layout_of(f);
  const unsigned bytes = layout.register_bytes;
  const Cell* cell = layout.cells.data();
  for (unsigned lane = 0; lane < layout.distinct_lanes; ++lane) {
    for (const std::uint32_t row : f.rows) {
      std::uint64_t value = 0;
      for (unsigned i = 0; i < layout.per_register; ++i) {
        value |= make(*cell++) << (i * layout.element_bits);
      }
      for (unsigned copy = lane; copy < 32; copy += layout.distinct_lanes) {
        std::memcpy(w.rows + row + copy * bytes, &value, bytes);
      }
    }
  }
}

template <class T>
struct Matrix {
  explicit Matrix(const Fragment& f) : width(f.width()), cells(std::size_t{f.height()} * width) {}
  T& at(Cell c) { return cells[std::size_t{c.row} * width + c.column]; }
  unsigned width;
  std::vector<T> cells;
};

inline Matrix<double> numbers(Warp& w, const Fragment& f) {
  Matrix<double> m(f);
  read_fragment(w, f, [&](Cell c, std::uint64_t bits) { m.at(c) = number(f, bits); });
  return m;
}
inline Matrix<std::int32_t> integers(Warp& w, const Fragment& f) {
  Matrix<std::int32_t> m(f);
  read_fragment(w, f, [&](Cell c, std::uint64_t bits) { m.at(c) = integer(f, bits); });
  return m;
}

}  // namespace assay::emulator
