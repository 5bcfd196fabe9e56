// mma.sp: a is stored without its zeros. What is stored is multiplied with the rows of b that its
// metadata names; the rest of b is not looked at, so that infinities there make no NaN.
#include <algorithm>
#include <limits>

#include "engine/emulator/matrix_elements.h"
#include "engine/emulator/matrix_products.h"

namespace assay::emulator {
namespace {

// Columns of a that share four bits of metadata: half of them are stored.
unsigned chunk_width(Element e) { return bits_of(e) == 32 ? 2 : bits_of(e) >= 8 ? 4 : 8; }

// Which lane of its four, and which of its bits, tell of a chunk of a row.
struct Place {
  unsigned lane = 0;
  unsigned shift = 0;
};

// Of elements of 16 bits and more, a lane tells of four chunks of both its rows, and the next lane
// of the next four. Of narrower ones, a lane tells of eight chunks of one row, the next lane of the
// other row, and two more lanes of what is further right.
Place place_of(const MatrixProduct& p, unsigned row, unsigned chunk) {
  const unsigned chunks = p.b.shape.k / chunk_width(p.a.element);
  const unsigned lower = row / 8;
  const unsigned selector = p.sparsity->selector;
  if (bits_of(p.a.element) >= 16) {
    const unsigned first = chunks == 4 ? selector : selector * 2;
    return {first + chunk / 4, lower * 16 + chunk % 4 * 4};
  }
  const unsigned first = chunks == 8 ? selector * 2 : 0;
  return {first + chunk / 8 * 2 + lower, chunk % 8 * 4};
}

// The row of b that each stored element of a is multiplied with.
std::vector<unsigned> partners(Warp& w, const MatrixProduct& p) {
  const unsigned width = chunk_width(p.a.element);
  const unsigned stored = p.a.shape.k;
  const auto* const words = reinterpret_cast<const std::uint32_t*>(w.rows + p.sparsity->row);
  std::vector<unsigned> columns(std::size_t{p.a.shape.m} * stored);
  for (unsigned row = 0; row < p.a.shape.m; ++row) {
    for (unsigned j = 0; j < stored; ++j) {
      const unsigned chunk = j / (width / 2);
      const unsigned i = j % (width / 2);
      const Place at = place_of(p, row, chunk);
      const std::uint32_t bits = words[row % 8 * 4 + at.lane] >> at.shift & 0xFU;
      const unsigned first = bits & 3U;
      const unsigned second = bits >> 2;
      unsigned within = first / 2;  // pairs of columns: one is zero
      if (width == 4) within = i == 0 ? first : second;
      if (width == 8) within = (i < 2 ? first : second) * 2 + i % 2;  // quadruples of pairs
      columns[std::size_t{row} * stored + j] = chunk * width + within;
    }
  }
  return columns;
}

void sparse_numbers(Warp& w, const MatrixProduct& p, const std::vector<unsigned>& columns) {
  Matrix<double> a = numbers(w, p.a);
  Matrix<double> b = numbers(w, p.b);
  Matrix<double> c = numbers(w, p.c);
  for (unsigned i = 0; i < p.a.shape.m; ++i) {
    for (unsigned j = 0; j < p.a.shape.k; ++j) {
      const unsigned k = columns[std::size_t{i} * p.a.shape.k + j];
      for (unsigned n = 0; n < p.b.shape.n; ++n) c.at({i, n}) += a.at({i, j}) * b.at({k, n});
    }
  }
  write_fragment(w, p.d, [&](Cell at) { return number_bits(p.d, c.at(at)); });
}

void sparse_integers(Warp& w, const MatrixProduct& p, const std::vector<unsigned>& columns) {
  Matrix<std::int32_t> a = integers(w, p.a);
  Matrix<std::int32_t> b = integers(w, p.b);
  Matrix<std::int32_t> c = integers(w, p.c);
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  for (unsigned i = 0; i < p.a.shape.m; ++i) {
    for (unsigned n = 0; n < p.b.shape.n; ++n) {
      std::int64_t sum = c.at({i, n});
      for (unsigned j = 0; j < p.a.shape.k; ++j) {
        const unsigned k = columns[std::size_t{i} * p.a.shape.k + j];
        sum += std::int64_t{a.at({i, j})} * b.at({k, n});
      }
      if (p.saturate) sum = std::clamp(sum, kMin, kMax);
      c.at({i, n}) = static_cast<std::int32_t>(sum);
    }
  }
  write_fragment(w, p.d,
                 [&](Cell at) { return std::uint64_t{static_cast<std::uint32_t>(c.at(at))}; });
}

}  // namespace

void multiply_sparse(Warp& w, const MatrixProduct& p) {
  const std::vector<unsigned> columns = partners(w, p);
  if (is_whole(p.a.element)) {
    sparse_integers(w, p, columns);
  } else {
    sparse_numbers(w, p, columns);
  }
}

}  // namespace assay::emulator
