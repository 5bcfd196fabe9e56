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
  const unsigned per = f.per_register();
  const unsigned bits = bits_of(f.element);
  for (unsigned lane = 0; lane < f.distinct_lanes(); ++lane) {
    for (unsigned r = 0; r < f.rows.size(); ++r) {
      std::uint64_t value = 0;
      std::memcpy(&value, w.rows + f.rows[r] + lane * f.register_bytes(), f.register_bytes());
      for (unsigned i = 0; i < per; ++i) {
        const std::uint64_t element =
            per == 1 ? value : value >> (i * bits) & ((std::uint64_t{1} << bits) - 1);
        visit(f.cell(lane, r, i), element);
      }
    }
  }
}

// Sets every register from make(cell) -> bits.
template <class Make>
void write_fragment(Warp& w, const Fragment& f, const Make& make) {
  const unsigned per = f.per_register();
  const unsigned bits = bits_of(f.element);
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned r = 0; r < f.rows.size(); ++r) {
      std::uint64_t value = 0;
      for (unsigned i = 0; i < per; ++i) value |= make(f.cell(lane, r, i)) << (i * bits);
      std::memcpy(w.rows + f.rows[r] + lane * f.register_bytes(), &value, f.register_bytes());
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
