// Matrix instructions: which fragments, of what elements, in which registers.
#include <array>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/matrix_ops.h"

namespace assay::emulator {
namespace {

Type register_type(Element e) { return e == Element::f64 ? Type::b64 : Type::b32; }

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
