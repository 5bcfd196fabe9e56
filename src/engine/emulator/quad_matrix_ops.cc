// mma.m8n8k4 of halves: four products at once. Lanes 4q to 4q+3 and 16 further on hold one of them,
// a row (or column) of a and b each, the upper lanes the lower half.
#include "engine/emulator/matrix_elements.h"
#include "engine/emulator/matrix_products.h"

namespace assay::emulator {
namespace {

constexpr unsigned kLanesOfQuad = 8;
constexpr unsigned kDepth = 4;

unsigned lane_of(unsigned quad, unsigned member) {
  return quad * 4 + member % 4 + (member < 4 ? 0 : 16);
}

// Where element i of a lane's accumulator lies. Floats are dealt out in pairs.
Cell accumulator_cell(const Fragment& f, unsigned member, unsigned i) {
  const unsigned lane = member % 4;
  const unsigned lower = member < 4 ? 0 : 4;
  if (f.element == Element::f16) return {lane + lower, i};
  return {(lane & 1U) + (i & 2U) + lower, (i & 4U) + (lane & 2U) + (i & 1U)};
}

template <class Visit>
void each_element(Warp& w, const Fragment& f, unsigned quad, const Visit& visit) {
  for (unsigned member = 0; member < kLanesOfQuad; ++member) {
    for (unsigned r = 0; r < f.rows.size(); ++r) {
      auto* const word =
          reinterpret_cast<std::uint32_t*>(w.rows + f.rows[r]) + lane_of(quad, member);
      visit(member, r, *word);
    }
  }
}

// A lane's four halves, of which the lane is the row of the result (a) or its column (b), or, the
// other way around, one step of the sum and the halves are rows or columns.
Matrix<double> factor(Warp& w, const Fragment& f, unsigned quad, bool by_step) {
  Matrix<double> m(f);  // b lies as it is multiplied: kDepth x 8; a: 8 x kDepth
  const bool is_a = f.role == Operand3::a;
  each_element(w, f, quad, [&](unsigned member, unsigned r, std::uint32_t word) {
    for (unsigned part = 0; part < 2; ++part) {
      const unsigned i = r * 2 + part;
      const unsigned side = by_step ? i + (member < 4 ? 0 : 4) : member;
      const unsigned step = by_step ? member % 4 : i;
      const double v = number(f, word >> (16 * part) & 0xFFFFU);
      m.at(is_a ? Cell{side, step} : Cell{step, side}) = v;
    }
  });
  return m;
}

Matrix<double> accumulator(Warp& w, const Fragment& f, unsigned quad) {
  Matrix<double> m(f);
  const unsigned per = f.per_register();
  each_element(w, f, quad, [&](unsigned member, unsigned r, std::uint32_t word) {
    for (unsigned part = 0; part < per; ++part) {
      const std::uint32_t bits = per == 1 ? word : word >> (16 * part) & 0xFFFFU;
      m.at(accumulator_cell(f, member, r * per + part)) = number(f, bits);
    }
  });
  return m;
}

void store(Warp& w, const Fragment& f, unsigned quad, Matrix<double>& m) {
  const unsigned per = f.per_register();
  each_element(w, f, quad, [&](unsigned member, unsigned r, std::uint32_t& word) {
    std::uint64_t bits = 0;
    for (unsigned part = 0; part < per; ++part) {
      bits |= number_bits(f, m.at(accumulator_cell(f, member, r * per + part))) << (16 * part);
    }
    word = static_cast<std::uint32_t>(bits);
  });
}

}  // namespace

void multiply_quads(Warp& w, const MatrixProduct& p) {
  for (unsigned quad = 0; quad < 4; ++quad) {
    Matrix<double> a = factor(w, p.a, quad, p.a_columns);
    Matrix<double> b = factor(w, p.b, quad, !p.b_columns);
    Matrix<double> c = accumulator(w, p.c, quad);
    for (unsigned i = 0; i < p.a.shape.m; ++i) {
      for (unsigned j = 0; j < p.a.shape.n; ++j) {
        for (unsigned k = 0; k < kDepth; ++k) c.at({i, j}) += a.at({i, k}) * b.at({k, j});
      }
    }
    store(w, p.d, quad, c);
  }
}

}  // namespace assay::emulator
