// Products of matrices: what may be multiplied with what, in which shapes.
#include <array>
#include <utility>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/matrix_ops.h"

namespace assay::emulator {
namespace {

// The shapes that devices of compute capability 8.0 to 9.0 multiply.
struct Known {
  Shape shape{};
  Element element = Element::f16;  // of a; b's has the same width
};
constexpr Known kProducts[] = {
    {{16, 8, 8}, Element::f16},   {{16, 8, 16}, Element::f16},  {{16, 8, 8}, Element::bf16},
    {{16, 8, 16}, Element::bf16}, {{16, 8, 4}, Element::tf32},  {{16, 8, 8}, Element::tf32},
    {{16, 8, 32}, Element::e4m3}, {{16, 8, 32}, Element::e5m2}, {{16, 8, 16}, Element::e4m3},
    {{16, 8, 16}, Element::e5m2}, {{8, 8, 16}, Element::s8},    {{16, 8, 16}, Element::s8},
    {{16, 8, 32}, Element::s8},   {{8, 8, 16}, Element::u8},    {{16, 8, 16}, Element::u8},
    {{16, 8, 32}, Element::u8},   {{8, 8, 32}, Element::s4},    {{16, 8, 32}, Element::s4},
    {{16, 8, 64}, Element::s4},   {{8, 8, 32}, Element::u4},    {{16, 8, 32}, Element::u4},
    {{16, 8, 64}, Element::u4},   {{8, 8, 128}, Element::b1},   {{16, 8, 128}, Element::b1},
    {{16, 8, 256}, Element::b1},  {{8, 8, 4}, Element::f64},    {{16, 8, 4}, Element::f64},
    {{16, 8, 8}, Element::f64},   {{16, 8, 16}, Element::f64}};
// The same with a sparse a.
constexpr Known kSparse[] = {
    {{16, 8, 16}, Element::f16},  {{16, 8, 32}, Element::f16}, {{16, 8, 16}, Element::bf16},
    {{16, 8, 32}, Element::bf16}, {{16, 8, 8}, Element::tf32}, {{16, 8, 16}, Element::tf32},
    {{16, 8, 32}, Element::s8},   {{16, 8, 64}, Element::s8},  {{16, 8, 32}, Element::u8},
    {{16, 8, 64}, Element::u8},   {{16, 8, 64}, Element::s4},  {{16, 8, 128}, Element::s4},
    {{16, 8, 64}, Element::u4},   {{16, 8, 128}, Element::u4}, {{16, 8, 64}, Element::e4m3},
    {{16, 8, 64}, Element::e5m2}};
constexpr Known kFragments[] = {
    {{16, 16, 16}, Element::f16},  {{32, 8, 16}, Element::f16},  {{8, 32, 16}, Element::f16},
    {{16, 16, 16}, Element::bf16}, {{32, 8, 16}, Element::bf16}, {{8, 32, 16}, Element::bf16},
    {{16, 16, 16}, Element::s8},   {{32, 8, 16}, Element::s8},   {{8, 32, 16}, Element::s8},
    {{16, 16, 16}, Element::u8},   {{32, 8, 16}, Element::u8},   {{8, 32, 16}, Element::u8},
    {{16, 16, 8}, Element::tf32},  {{8, 8, 4}, Element::f64},    {{8, 8, 32}, Element::s4},
    {{8, 8, 32}, Element::u4},     {{8, 8, 128}, Element::b1}};

bool is_known(std::span<const Known> table, Shape s, Element e) {
  for (const Known& k : table) {
    if (k.element == e && k.shape.m == s.m && k.shape.n == s.n && k.shape.k == s.k) return true;
  }
  return false;
}

// What the accumulator of a product of `a` may be.
bool accumulates(Element a, Element sum) {
  if (is_whole(a)) return sum == Element::s32;
  if (a == Element::f64) return sum == Element::f64;
  return sum == Element::f32 || (sum == Element::f16 && (a == Element::f16 || bits_of(a) == 8));
}

// What a and b, c and d may be together, whatever the shape.
bool multiplies(const MatrixProduct& p) {
  const Element a = p.a.element;
  const Element b = p.b.element;
  const bool alike = a == b || (bits_of(a) == bits_of(b) && bits_of(a) <= 8 && a != Element::b1 &&
                                is_whole(a) == is_whole(b));
  return alike && accumulates(a, p.c.element) && accumulates(a, p.d.element);
}

bool fits(const MatrixProduct& p) { return p.a.fits() && p.b.fits() && p.c.fits() && p.d.fits(); }

// .xor.popc and .and.popc, which single bits are multiplied with.
bool take_kind(Form& form, MatrixProduct& p) {
  if (!form.take("popc")) return true;
  p.kind = form.take("xor") ? MatrixProduct::Kind::xor_popc : MatrixProduct::Kind::and_popc;
  return p.kind == MatrixProduct::Kind::xor_popc || form.take("and");
}
bool kind_fits(const MatrixProduct& p) {
  return (p.a.element == Element::b1) == (p.kind != MatrixProduct::Kind::multiply);
}

// False: none is given.
bool take_rounding(Form& form, MatrixProduct& p) {
  if (form.take("rn")) return true;
  if (form.take("rz")) {
    p.rounding = MatrixProduct::Rounding::zero;
  } else if (form.take("rm")) {
    p.rounding = MatrixProduct::Rounding::minus;
  } else if (form.take("rp")) {
    p.rounding = MatrixProduct::Rounding::plus;
  } else {
    return false;
  }
  return true;
}

bool is_layout(std::string_view text) { return text == "row" || text == "col"; }

}  // namespace

// d, a, b and c of `shape`; a sparse a is half as wide.
bool FunctionDecoder::product_fragments(MatrixProduct& p, Shape shape, bool opaque) {
  const std::array<Fragment*, 4> fragments{&p.d, &p.a, &p.b, &p.c};
  constexpr std::array kRoles{Operand3::accumulator, Operand3::a, Operand3::b,
                              Operand3::accumulator};
  for (std::size_t i = 0; i < 4; ++i) {
    fragments[i]->role = kRoles[i];
    fragments[i]->shape = shape;
    fragments[i]->opaque = opaque;
    if (!fragment_rows(operands_[i], *fragments[i], i == 0)) return false;
  }
  if (p.sparsity) p.a.shape.k /= 2;
  return multiplies(p);
}

void FunctionDecoder::emit_product(MatrixProduct p) {
  const auto index = static_cast<std::uint32_t>(text_.products.size());
  text_.products.push_back(std::move(p));
  emit_control({&op_matrix_product, &op_matrix_product}, {.aux = index});
  watch({.kind = SiteKind::product});
}

// mma.sync.aligned.m8n8k4.{row,col}.{row,col}.f32.f16.f16.f32: four products of eight lanes.
bool FunctionDecoder::decode_quads(MatrixProduct& p) {
  p.quads = true;
  if (p.a.element != Element::f16 || p.b.element != Element::f16 || p.saturate) return false;
  if (p.d.element == Element::f16 && p.c.element == Element::f32) return false;
  if (operands_.size() != 4 || !product_fragments(p, {8, 8, 4}, false)) return false;
  const auto whole = [](const Fragment& f) {
    return f.rows.size() == (f.element == Element::f32 ? 8U : 4U);
  };
  if (p.a.rows.size() != 2 || p.b.rows.size() != 2 || !whole(p.c) || !whole(p.d)) return false;
  emit_product(std::move(p));
  return true;
}

// The last two operands: the register with the metadata, and which lanes' it is.
bool FunctionDecoder::decode_sparsity(MatrixProduct& p, Shape shape) {
  if (operands_.size() != 6 || operands_[5].kind != Operand::Kind::constant) return false;
  if (!is_known(kSparse, shape, p.a.element)) return false;
  const auto selector = operands_[5].constant.integer;
  // A lane of four, a pair of them, or all, by how much there is to tell.
  const unsigned row_bits = shape.k / 2 * bits_of(p.a.element);
  const unsigned choices = (bits_of(p.a.element) >= 16 ? 4 : 2) * 128 / row_bits;
  p.sparsity = Sparsity{source_at(4, Type::b32), static_cast<unsigned>(selector)};
  return selector < choices;
}

// mma{.sp}.sync.aligned.m16n8k16.row.col{.satfinite}{.rn}.f32.f16.f16.f32{.xor.popc} d, a, b, c
bool FunctionDecoder::decode_mma(Form& form) {
  const bool sparse = form.take("sp") || form.take("sp::ordered_metadata");
  if (!form.take("sync") || !form.take("aligned")) return false;
  MatrixProduct p;
  if (!take_kind(form, p)) return false;
  p.saturate = form.take("satfinite");
  const bool is_rounded = take_rounding(form, p);
  const auto shape = shape_of(form.take_next());
  const std::string_view a_layout = form.take_next();
  const std::string_view b_layout = form.take_next();
  if (!shape || !is_layout(a_layout) || !is_layout(b_layout)) return false;
  p.a_columns = a_layout == "col";
  p.b_columns = b_layout == "col";
  for (Fragment* const f : {&p.d, &p.a, &p.b, &p.c}) {
    const auto e = element_of(form.take_next());
    if (!e) return false;
    f->element = *e;
  }
  if (!kind_fits(p) || (is_rounded && p.a.element != Element::f64)) return false;
  const bool is_quad = shape->m == 8 && shape->k == 4 && p.a.element == Element::f16;
  if (is_quad && !sparse) return decode_quads(p);
  if (p.a_columns || !p.b_columns) return false;
  if (sparse ? !decode_sparsity(p, *shape)
             : operands_.size() != 4 || !is_known(kProducts, *shape, p.a.element)) {
    return false;
  }
  if (!product_fragments(p, *shape, false) || !fits(p)) return false;
  emit_product(std::move(p));
  return true;
}

// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 (f16: d and c) or .f32.bf16.bf16.f32
bool FunctionDecoder::decode_wmma(Form& form) {
  if (form.take("load")) return decode_fragment_transfer(form, true);
  if (form.take("store")) return decode_fragment_transfer(form, false);
  if (!form.take("mma") || !form.take("sync") || !form.take("aligned")) return false;
  MatrixProduct p;
  if (!take_kind(form, p)) return false;
  p.saturate = form.take("satfinite");
  const bool is_rounded = take_rounding(form, p);
  // The layouts matter to loads and stores only.
  for (int i = 0; i < 2; ++i) {
    const std::string_view layout = form.take_next();
    if (!is_layout(layout)) return false;
  }
  const auto shape = shape_of(form.take_next());
  const auto d = element_of(form.take_next());
  const auto next = element_of(form.take_next());
  if (!shape || !d || !next) return false;
  p.d.element = *d;
  if (form.exhausted()) {
    p.a.element = Element::f16;
    p.b.element = Element::f16;
    p.c.element = *next;
  } else {
    const auto b = element_of(form.take_next());
    const auto c = element_of(form.take_next());
    if (!b || !c) return false;
    p.a.element = *next;
    p.b.element = *b;
    p.c.element = *c;
  }
  if (!kind_fits(p) || (is_rounded && p.a.element != Element::f64)) return false;
  if (operands_.size() != 4 || !is_known(kFragments, *shape, p.a.element)) return false;
  if (!product_fragments(p, *shape, true) || !fits(p)) return false;
  emit_product(std::move(p));
  return true;
}

}  // namespace assay::emulator
