// Instructions that compute: rows in, rows out. The selectors of the instruction set know most of
// them; moves, conversions and comparisons have operand shapes of their own.
#include <algorithm>
#include <array>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/pack_ops.h"
#include "engine/emulator/packed_ops.h"

namespace assay::emulator {
namespace {

bool is_number(Type t) { return is_float(t) || t == Type::f16x2 || t == Type::bf16x2; }

// Of one result, false of a NaN: `!=` and the guards (isnan, !(x > y)) are not.
bool is_ordered(std::string_view opcode) {
  constexpr std::array<std::string_view, 5> kOrdered{".lt.", ".le.", ".gt.", ".ge.", ".eq."};
  return std::any_of(kOrdered.begin(), kOrdered.end(),
                     [&](std::string_view c) { return opcode.find(c) != opcode.npos; });
}

}  // namespace

bool FunctionDecoder::decode_selected(Form& form) {
  const std::string_view base = form.base();
  const InstructionSet& isa = instruction_set();
  Selection s;
  const bool found = select_packed(form, s) || isa.integer(form, s) || isa.floating(form, s) ||
                     isa.logic(form, s) || isa.math(form, s) || isa.half(form, s);
  if (!found || s.handlers.full == nullptr || !emit_selected(s)) return false;
  const bool divides = base == "div" || base == "rem";
  if (divides && is_integer(s.operands[0])) {
    watch({.kind = SiteKind::division, .type = s.operands[0]});
  } else {
    watch_number(s);
    if (base == "selp") watch_number_copy(s.operands[0], 2);
    watch_index(base, form.opcode(), s);
  }
  return true;
}

// Sums, products and shifts of 32 or 64 bits, as long as nothing is lost but what does not fit.
void FunctionDecoder::watch_index(std::string_view base, std::string_view opcode,
                                  const Selection& s) {
  struct Known {
    std::string_view base;
    IndexStep step;
    std::uint8_t sources;
  };
  constexpr std::array kKnown{
      Known{"add", IndexStep::add, 2},      Known{"sub", IndexStep::subtract, 2},
      Known{"mul", IndexStep::multiply, 2}, Known{"mad", IndexStep::multiply_add, 3},
      Known{"shl", IndexStep::shift, 1},    Known{"neg", IndexStep::negate, 1},
      Known{"min", IndexStep::least, 2},    Known{"max", IndexStep::most, 2},
  };
  const auto* const known =
      std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.base == base; });
  const Type type = s.operands[1];
  const unsigned bytes = bytes_of(type);
  const bool is_whole = opcode.find(".hi") == opcode.npos && opcode.find(".sat") == opcode.npos &&
                        opcode.find(".relu") == opcode.npos;
  if (known == kKnown.end() || s.uses_carry || !is_whole || (bytes != 4 && bytes != 8)) return;
  if (!is_integer(type) && !(known->step == IndexStep::shift && is_bits(type))) return;
  WatchedSite site{.kind = SiteKind::index,
                   .type = type,
                   .elements = known->sources,
                   .row_bytes = static_cast<std::uint8_t>(bytes_of(s.operands[0])),
                   .step = known->step};
  for (unsigned i = 0; i < known->sources; ++i) {
    if (operands_[i + 1].kind == Operand::Kind::constant) {
      site.constants = static_cast<std::uint8_t>(site.constants | 1U << i);
    }
  }
  watch(site);
}

// What makes a float of floats of the same width.
void FunctionDecoder::watch_number(const Selection& s) {
  if (!is_number(s.operands[0])) return;
  std::uint8_t sources = 0;
  for (std::size_t i = 1; i < 4 && s.operands[i] != Type::none; ++i) {
    if (s.operands[i] != s.operands[0]) return;
    ++sources;
  }
  if (s.operands[4] != Type::none || sources == 0) return;
  watch({.kind = SiteKind::number, .type = s.operands[0], .elements = sources});
}

// The first operands after the result.
void FunctionDecoder::watch_number_copy(Type type, std::uint8_t sources) {
  if (bytes_of(type) < 2) return;
  WatchedSite site{.kind = SiteKind::number,
                   .type = type,
                   .elements = sources,
                   .row_bytes = static_cast<std::uint8_t>(register_bytes(type)),
                   .step = IndexStep::copy};
  for (unsigned i = 0; i < sources; ++i) {
    if (operands_[i + 1].kind == Operand::Kind::constant) {
      site.constants = static_cast<std::uint8_t>(site.constants | 1U << i);
    }
  }
  watch(site);
}

void FunctionDecoder::watch_conversion(Type to, Type from, unsigned sources) {
  if (!is_number(to) || !(is_number(from) || is_integer(from))) return;
  watch({.kind = SiteKind::number,
         .type = to,
         .elements = static_cast<std::uint8_t>(sources),
         .from = from});
}

bool FunctionDecoder::emit_selected(const Selection& s) {
  Op op{.imm = s.imm, .aux = s.aux};
  const std::array<std::uint32_t*, 5> slots{&op.d, &op.a, &op.b, &op.c, &op.e};
  std::size_t n = 0;
  for (; n < s.operands.size() && s.operands[n] != Type::none; ++n) {
    if (n > 0 && n < operands_.size() && operands_[n].negated) return false;
    *slots[n] = n == 0 ? result_at(0, s.operands[0]) : source_at(n, s.operands[n]);
  }
  if (s.ends_with_immediate) {
    if (n >= operands_.size() || operands_[n].kind != Operand::Kind::constant) return false;
    op.imm = static_cast<std::int64_t>(operands_[n].constant.integer);
    ++n;
  }
  if (s.uses_carry) {
    if (carry_ == kNowhere) carry_ = allocate_row(Type::pred);
    op.target = carry_;
  }
  if (operands_.size() != n) return false;
  emit(s.handlers, op);
  return true;
}

// lop3.or.b32 d|p, a, b, c, table, q
bool FunctionDecoder::decode_lop3_predicate(Form& form) {
  const bool conjunction = form.take("and");
  if ((!conjunction && !form.take("or")) || form.take_type() != Type::b32) return false;
  if (operands_.size() != 6 || operands_[4].kind != Operand::Kind::constant) return false;
  Operand first = operands_[0];
  first.second = {};
  Op op{.aux = conjunction ? 1U : 0U};
  op.imm = static_cast<std::int64_t>(operands_[4].constant.integer);
  if (first.kind != Operand::Kind::sink && first.word != "_") op.d = result(first, Type::b32);
  op.e = result({.word = operands_[0].second}, Type::pred);
  op.a = source_at(1, Type::b32);
  op.b = source_at(2, Type::b32);
  op.c = source_at(3, Type::b32);
  op.target = source_at(5, Type::pred);
  if (operands_[5].negated) return false;
  emit({&op_lop3_predicate, &op_lop3_predicate}, op);
  return true;
}

bool FunctionDecoder::decode_move(Form& form) {
  const Type type = form.take_type();
  if (type == Type::none || operands_.size() != 2) return false;
  if (type == Type::b128) return decode_wide_move();
  const bool packs =
      operands_[0].kind == Operand::Kind::list || operands_[1].kind == Operand::Kind::list;
  if (packs) return decode_pack(type);
  if (type == Type::pred) {
    Op op{.d = result_at(0, type), .a = source_at(1, type)};
    emit(instruction_set().move(0), op);
    return true;
  }
  Op op{.d = result_at(0, type), .a = source_at(1, type)};
  emit(instruction_set().move(register_bytes(type)), op);
  if (bytes_of(type) < 4 || is_float(type)) {
    watch_number_copy(type, 1);
  } else {
    const bool is_constant = operands_[1].kind == Operand::Kind::constant;
    watch({.kind = SiteKind::index,
           .type = type,
           .row_bytes = static_cast<std::uint8_t>(register_bytes(type)),
           .step = IndexStep::copy,
           .constants = static_cast<std::uint8_t>(is_constant ? 1 : 0)});
  }
  return true;
}

// A register of 128 bits is two rows of 64, the lower half of all lanes first.
Operand FunctionDecoder::halves(const Operand& wide) {
  if (wide.kind == Operand::Kind::list) return wide;
  Operand both{.kind = Operand::Kind::list};
  for (const unsigned half : {1U, 2U}) {
    both.items.push_back(wide);
    both.items.back().half = half;
  }
  return both;
}

// mov.b128 of a register or of a pair of 64 bits, to either.
bool FunctionDecoder::decode_wide_move() {
  const Operand to = halves(operands_[0]);
  const Operand from = halves(operands_[1]);
  if (to.items.size() != 2 || from.items.size() != 2) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    emit(instruction_set().move(8),
         {.d = result(to.items[i], Type::b64), .a = source(from.items[i], Type::b64)});
  }
  return true;
}

// mov.b64 %rd, {%r1, %r2} and back. An element's width is the vector's over its count.
bool FunctionDecoder::decode_pack(Type type) {
  const bool unpacks = operands_[0].kind == Operand::Kind::list;
  const Operand& list = operands_[unpacks ? 0 : 1];
  const std::size_t n = list.items.size();
  const unsigned whole = bytes_of(type);
  if ((n != 2 && n != 4) || whole < n || whole > 8 || whole / n > 4) return false;
  const unsigned part = whole / static_cast<unsigned>(n);
  const Type element = part == 4 ? Type::b32 : part == 2 ? Type::b16 : Type::b8;
  Op op{.aux = static_cast<std::uint32_t>(n) | part << 8 | whole << 16};
  const std::array<std::uint32_t*, 4> parts{&op.a, &op.b, &op.c, &op.e};
  for (std::size_t i = 0; i < n; ++i) {
    *parts[i] = unpacks ? result(list.items[i], element) : source(list.items[i], element);
  }
  op.d = unpacks ? source_at(1, type) : result_at(0, type);
  const Handler h = unpacks ? &op_unpack : &op_pack;
  emit({h, h}, op);
  return true;
}

// A register may be wider than the type it is converted from or to.
bool FunctionDecoder::decode_convert(Form& form) {
  Selection packed;
  if (select_packed_convert(form, packed)) return emit_selected(packed);
  if (operands_.size() < 2 || operands_.size() > 3) return false;
  if (operands_[0].kind == Operand::Kind::sink) return false;
  const auto d = register_of(operands_[0]);
  if (!d || d->type == Type::pred) return false;
  const auto a = register_of(operands_[1]);
  Selection s;
  if (operands_.size() == 2) {
    Form probe = form;
    if (!instruction_set().convert(probe, s, register_bytes(d->type),
                                   a ? register_bytes(a->type) : 0)) {
      return false;
    }
    form = probe;
    Op op{.d = d->offset, .imm = s.imm, .aux = s.aux};
    op.a = a ? a->offset : source_at(1, s.operands[1]);
    if (a && register_bytes(a->type) < register_bytes(s.operands[1])) return false;
    if (register_bytes(d->type) < register_bytes(s.operands[0])) return false;
    emit(s.handlers, op);
    const bool is_index = is_integer(s.operands[0]) && is_integer(s.operands[1]) && a &&
                          register_bytes(a->type) == bytes_of(s.operands[1]) &&
                          register_bytes(d->type) == bytes_of(s.operands[0]) &&
                          bytes_of(s.operands[0]) >= 4 && bytes_of(s.operands[1]) >= 4 &&
                          form.opcode().find(".sat") == std::string_view::npos;
    if (is_index) {
      watch({.kind = SiteKind::index,
             .type = s.operands[1],
             .row_bytes = static_cast<std::uint8_t>(register_bytes(d->type)),
             .step = IndexStep::copy});
    } else if (a && register_bytes(a->type) == bytes_of(s.operands[1]) &&
               register_bytes(d->type) == bytes_of(s.operands[0])) {
      watch_conversion(s.operands[0], s.operands[1], 1);
    }
    return true;
  }
  // cvt.rn.f16x2.f32 d, a, b
  if (!instruction_set().half(form, s)) return false;
  emit(s.handlers, {.d = result_at(0, s.operands[0]),
                    .a = source_at(1, s.operands[1]),
                    .b = source_at(2, s.operands[2]),
                    .imm = s.imm,
                    .aux = s.aux});
  const bool is_short = form.opcode().find(".bf16x2") != std::string_view::npos;
  watch_conversion(is_short ? Type::bf16x2 : Type::f16x2, s.operands[1], 2);
  return true;
}

// setp.lt.and.f32 p|q, a, b, c
bool FunctionDecoder::decode_compare(Form& form) {
  Selection s;
  if (!instruction_set().compare(form, s)) return false;
  const bool combines = s.operands[3] == Type::pred;
  if (operands_.size() != (combines ? 4U : 3U)) return false;
  Op op{.imm = s.imm, .aux = s.aux};
  Operand first = operands_[0];
  first.second = {};
  op.d = result(first, s.operands[0]);
  if (!operands_[0].second.empty()) {
    op.e = result({.word = operands_[0].second}, s.operands[0]);
  }
  op.a = source_at(1, s.operands[1]);
  op.b = source_at(2, s.operands[2]);
  if (combines) {
    op.c = source_at(3, Type::pred);
    if (operands_[3].negated) op.aux |= 0x100;
  }
  emit(s.handlers, op);
  if (!combines && op.e == kNowhere && is_float(s.operands[1]) && is_ordered(form.opcode())) {
    watch({.kind = SiteKind::comparison, .type = s.operands[1]});
  }
  return true;
}

// cvta.space.u64 d, a and cvta.to.space.u64 d, a
bool FunctionDecoder::decode_address(Form& form) {
  const bool to = form.take("to");
  std::uint64_t window = 0;
  if (form.take("shared") || form.take("shared::cta") || form.take("shared::cluster")) {
    window = kSharedWindow;
  } else if (form.take("local")) {
    window = kLocalWindow;
  } else if (form.take("param") || form.take("param::entry")) {
    window = kParamWindow;
  } else if (!form.take("global") && !form.take("const")) {
    return false;
  }
  if (form.take_type() != Type::u64 || operands_.size() != 2) return false;
  Op op{.d = result_at(0, Type::u64), .a = source_at(1, Type::u64)};
  op.imm = static_cast<std::int64_t>(window);
  op.e = 8;
  if (window == 0) {
    emit(instruction_set().move(8), op);
  } else {
    const Handler h = to ? &op_window_subtract : &op_window_add;
    emit({h, h}, op);
  }
  return true;
}

bool FunctionDecoder::decode_isspacep(Form& form) {
  std::uint64_t window = 0;
  Handler handler = &op_isspacep;
  if (form.take("shared") || form.take("shared::cta") || form.take("shared::cluster")) {
    window = kSharedWindow;
  } else if (form.take("local")) {
    window = kLocalWindow;
  } else if (form.take("param") || form.take("param::entry")) {
    window = kParamWindow;
  } else if (form.take("const")) {
    handler = &op_is_constant;
  } else if (!form.take("global")) {
    return false;
  }
  if (operands_.size() != 2) return false;
  emit({handler, handler}, {.d = result_at(0, Type::pred),
                            .a = source_at(1, Type::u64),
                            .imm = static_cast<std::int64_t>(window)});
  return true;
}

}  // namespace assay::emulator
