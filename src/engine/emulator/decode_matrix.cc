// Matrix instructions: which fragments, of what elements, in which registers.
#include <array>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/matrix_ops.h"

namespace assay::emulator {
namespace {

Type register_type(Element e) { return e == Element::f64 ? Type::b64 : Type::b32; }

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

bool multiplies(const MatrixProduct& p) {
  const Element a = p.a.element;
  const Element b = p.b.element;
  const bool alike = a == b || (bits_of(a) == bits_of(b) && bits_of(a) <= 8 && a != Element::b1 &&
                                is_whole(a) == is_whole(b));
  return alike && accumulates(a, p.c.element) && accumulates(a, p.d.element) && p.d.fits() &&
         p.a.fits() && p.b.fits() && p.c.fits();
}

}  // namespace

bool FunctionDecoder::fragment_rows(const Operand& list, Fragment& fragment, bool is_result) {
  if (list.kind != Operand::Kind::list || list.items.size() > 16) return false;
  const Type type = register_type(fragment.element);
  for (const Operand& o : list.items) {
    fragment.rows.push_back(is_result ? result(o, type) : source(o, type));
  }
  return !unfit_;
}

// The address of a whole matrix as a row of 64-bit addresses.
bool FunctionDecoder::wide_address(const Operand& operand, Space& space, Op& op) {
  AddressClass address = AddressClass::slow;
  if (!memory_operand(operand, space, op, address)) return false;
  if (address == AddressClass::kernel_params || address == AddressClass::frame_words) return false;
  if (address != AddressClass::shared32) return true;
  const std::uint32_t wide = allocate_row(Type::u64);
  emit({&op_window_add, &op_window_add}, {.d = wide, .a = op.a, .imm = 0, .e = 4});
  op.a = wide;
  return true;
}

// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {…}, [a] and stmatrix the other way round
bool FunctionDecoder::decode_matrix_rows(Form& form, bool is_load) {
  if (!form.take("sync") || !form.take("aligned") || !form.take("m8n8")) return false;
  const unsigned count = form.take("x4") ? 4 : form.take("x2") ? 2 : form.take("x1") ? 1 : 0;
  const bool transposed = form.take("trans");
  Space space = take_space(form);
  if (count == 0 || form.take_type() != Type::b16 || operands_.size() != 2) return false;
  if (space != Space::shared && space != Space::generic) return false;
  const Operand& list = operands_[is_load ? 0 : 1];
  if (list.kind != Operand::Kind::list || list.items.size() != count) return false;
  Op op;
  if (!wide_address(operands_[is_load ? 1 : 0], space, op)) return false;
  const std::array<std::uint32_t*, 4> slots{&op.d, &op.b, &op.c, &op.e};
  for (unsigned i = 0; i < count; ++i) {
    *slots[i] = is_load ? result(list.items[i], Type::b32) : source(list.items[i], Type::b32);
  }
  op.aux = count | static_cast<std::uint32_t>(space) << 8 | (transposed ? 1U << 16 : 0U);
  const Handler h = is_load ? &op_load_matrix : &op_store_matrix;
  emit_control({h, h}, op);
  watch({.kind = SiteKind::other_access});
  return true;
}

bool FunctionDecoder::decode_matrix_move(Form& form) {
  if (!form.take("sync") || !form.take("aligned") || !form.take("m8n8") || !form.take("trans") ||
      form.take_type() != Type::b16 || operands_.size() != 2) {
    return false;
  }
  emit_control({&op_move_matrix, &op_move_matrix},
               {.d = result_at(0, Type::b32), .a = source_at(1, Type::b32)});
  return true;
}

bool FunctionDecoder::emit_product(MatrixProduct& p, Shape shape, bool opaque) {
  if (operands_.size() != 4) return false;
  const std::array<Fragment*, 4> fragments{&p.d, &p.a, &p.b, &p.c};
  constexpr std::array kRoles{Operand3::accumulator, Operand3::a, Operand3::b,
                              Operand3::accumulator};
  for (std::size_t i = 0; i < 4; ++i) {
    fragments[i]->role = kRoles[i];
    fragments[i]->shape = shape;
    fragments[i]->opaque = opaque;
    if (!fragment_rows(operands_[i], *fragments[i], i == 0)) return false;
  }
  const std::span<const Known> known = opaque ? std::span<const Known>(kFragments) : kProducts;
  if (!is_known(known, shape, p.a.element) || !multiplies(p)) return false;
  const auto index = static_cast<std::uint32_t>(text_.products.size());
  text_.products.push_back(std::move(p));
  emit_control({&op_matrix_product, &op_matrix_product}, {.aux = index});
  return true;
}

// mma.sync.aligned.m16n8k16.row.col{.satfinite}.f32.f16.f16.f32{.xor.popc} d, a, b, c
bool FunctionDecoder::decode_mma(Form& form) {
  if (!form.take("sync") || !form.take("aligned")) return false;
  MatrixProduct p;
  if (form.take("popc")) {
    p.kind = form.take("xor") ? MatrixProduct::Kind::xor_popc : MatrixProduct::Kind::and_popc;
    if (p.kind == MatrixProduct::Kind::and_popc && !form.take("and")) return false;
  }
  p.saturate = form.take("satfinite");
  const auto shape = shape_of(form.take_next());
  if (!shape || !form.take("row") || !form.take("col")) return false;
  for (Fragment* const f : {&p.d, &p.a, &p.b, &p.c}) {
    const auto e = element_of(form.take_next());
    if (!e) return false;
    f->element = *e;
  }
  if ((p.a.element == Element::b1) != (p.kind != MatrixProduct::Kind::multiply)) return false;
  return emit_product(p, *shape, false);
}

// wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 (f16: d and c) or .f32.bf16.bf16.f32
bool FunctionDecoder::decode_wmma(Form& form) {
  if (form.take("load")) return decode_fragment_transfer(form, true);
  if (form.take("store")) return decode_fragment_transfer(form, false);
  if (!form.take("mma") || !form.take("sync") || !form.take("aligned")) return false;
  MatrixProduct p;
  if (form.take("popc")) {
    p.kind = form.take("xor") ? MatrixProduct::Kind::xor_popc : MatrixProduct::Kind::and_popc;
    if (p.kind == MatrixProduct::Kind::and_popc && !form.take("and")) return false;
  }
  p.saturate = form.take("satfinite");
  form.take("rn");
  // The layouts matter to loads and stores only.
  for (int i = 0; i < 2; ++i) {
    const std::string_view layout = form.take_next();
    if (layout != "row" && layout != "col") return false;
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
  if ((p.a.element == Element::b1) != (p.kind != MatrixProduct::Kind::multiply)) return false;
  return emit_product(p, *shape, true);
}

// wmma.load.a.sync.aligned.row.m16n16k16{.space}.f16 {…}, [p]{, stride}; wmma.store.d …
bool FunctionDecoder::decode_fragment_transfer(Form& form, bool is_load) {
  MatrixTransfer t;
  t.fragment.opaque = true;
  const std::string_view role = form.take_next();
  if (role == "a" && is_load) {
    t.fragment.role = Operand3::a;
  } else if (role == "b" && is_load) {
    t.fragment.role = Operand3::b;
  } else if (role == (is_load ? "c" : "d")) {
    t.fragment.role = Operand3::accumulator;
  } else {
    return false;
  }
  if (!form.take("sync") || !form.take("aligned")) return false;
  t.column_major = form.take("col");
  if (!t.column_major && !form.take("row")) return false;
  Space space = take_space(form);
  const auto shape = shape_of(form.take_next());
  const auto element = element_of(form.take_next());
  if (!shape || !element || operands_.size() < 2 || operands_.size() > 3) return false;
  t.fragment.shape = *shape;
  t.fragment.element = *element;
  if (!is_load && bits_of(*element) < 16) return false;
  if (!fragment_rows(operands_[is_load ? 0 : 1], t.fragment, is_load)) return false;
  if (!t.fragment.fits()) return false;
  Op op;
  if (!wide_address(operands_[is_load ? 1 : 0], space, op)) return false;
  if (operands_.size() == 3) op.b = source_at(2, Type::u32);
  op.c = static_cast<std::uint32_t>(space);
  op.aux = static_cast<std::uint32_t>(text_.transfers.size());
  text_.transfers.push_back(std::move(t));
  const Handler h = is_load ? &op_fragment_load : &op_fragment_store;
  emit_control({h, h}, op);
  watch({.kind = SiteKind::other_access});
  return true;
}

bool FunctionDecoder::decode_matrix(Form& form) {
  const std::string_view base = form.base();
  if (base == "ldmatrix") return decode_matrix_rows(form, true);
  if (base == "stmatrix") return decode_matrix_rows(form, false);
  if (base == "movmatrix") return decode_matrix_move(form);
  if (base == "mma") return decode_mma(form);
  return base == "wmma" && decode_wmma(form);
}

}  // namespace assay::emulator
