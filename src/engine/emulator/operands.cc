// Operands: from text to register rows. Constants and special registers are rows as well, set when
// a frame is made, so that handlers know only rows.
#include <array>
#include <bit>

#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"

namespace assay::emulator {
namespace {

struct SpecialName {
  std::string_view text{};
  Special special = Special::zero;
};
constexpr std::array kSpecials{
    SpecialName{"%tid.x", Special::tid_x},
    SpecialName{"%tid.y", Special::tid_y},
    SpecialName{"%tid.z", Special::tid_z},
    SpecialName{"%ntid.x", Special::ntid_x},
    SpecialName{"%ntid.y", Special::ntid_y},
    SpecialName{"%ntid.z", Special::ntid_z},
    SpecialName{"%ctaid.x", Special::ctaid_x},
    SpecialName{"%ctaid.y", Special::ctaid_y},
    SpecialName{"%ctaid.z", Special::ctaid_z},
    SpecialName{"%nctaid.x", Special::nctaid_x},
    SpecialName{"%nctaid.y", Special::nctaid_y},
    SpecialName{"%nctaid.z", Special::nctaid_z},
    SpecialName{"%laneid", Special::laneid},
    SpecialName{"%warpid", Special::warpid},
    SpecialName{"%nwarpid", Special::nwarpid},
    SpecialName{"%smid", Special::smid},
    SpecialName{"%nsmid", Special::nsmid},
    SpecialName{"%gridid", Special::gridid},
    SpecialName{"%lanemask_eq", Special::lanemask_eq},
    SpecialName{"%lanemask_le", Special::lanemask_le},
    SpecialName{"%lanemask_lt", Special::lanemask_lt},
    SpecialName{"%lanemask_ge", Special::lanemask_ge},
    SpecialName{"%lanemask_gt", Special::lanemask_gt},
    SpecialName{"%dynamic_smem_size", Special::dynamic_smem_size},
    SpecialName{"%total_smem_size", Special::total_smem_size},
    SpecialName{"%reserved_smem_offset_begin", Special::reserved_begin},
    SpecialName{"%reserved_smem_offset_end", Special::reserved_end},
    SpecialName{"%reserved_smem_offset_cap", Special::reserved_bytes},
    SpecialName{"%reserved_smem_offset_0", Special::reserved_begin},
    SpecialName{"%reserved_smem_offset_1", Special::reserved_begin},
    // No clusters: every block is a cluster of its own.
    SpecialName{"%cluster_ctaid.x", Special::zero},
    SpecialName{"%cluster_ctaid.y", Special::zero},
    SpecialName{"%cluster_ctaid.z", Special::zero},
    SpecialName{"%cluster_nctaid.x", Special::one},
    SpecialName{"%cluster_nctaid.y", Special::one},
    SpecialName{"%cluster_nctaid.z", Special::one},
    SpecialName{"%cluster_ctarank", Special::zero},
    SpecialName{"%cluster_nctarank", Special::one},
    SpecialName{"%clusterid.x", Special::ctaid_x},
    SpecialName{"%clusterid.y", Special::ctaid_y},
    SpecialName{"%clusterid.z", Special::ctaid_z},
    SpecialName{"%nclusterid.x", Special::nctaid_x},
    SpecialName{"%nclusterid.y", Special::nctaid_y},
    SpecialName{"%nclusterid.z", Special::nctaid_z},
    SpecialName{"%is_explicit_cluster", Special::zero},
    SpecialName{"%aggr_smem_size", Special::total_smem_size},
    // Where the blocks of a grid meet (cooperative groups).
    SpecialName{"%envreg1", Special::grid_workspace_high},
    SpecialName{"%envreg2", Special::grid_workspace_low},
};

}  // namespace

Operand FunctionDecoder::parse_operand(int depth) {
  Lexer& lexer = reader_.lexer();
  Operand o;
  if (depth > 8) {
    reader_.fail("operand nested too deeply");
    return o;
  }
  if (lexer.peek().is('{') || lexer.peek().is('(')) {
    const char closing = lexer.next().text.front() == '{' ? '}' : ')';
    o.kind = Operand::Kind::list;
    while (!reader_.failed() && !lexer.peek().is(closing)) {
      o.items.push_back(parse_operand(depth + 1));
      if (!lexer.take(',')) break;
    }
    reader_.expect(closing);
    return o;
  }
  if (lexer.take('[')) {
    o.kind = Operand::Kind::memory;
    if (lexer.peek().kind == TokenKind::word) o.word = lexer.next().text;
    if (o.word.empty()) {
      o.constant = reader_.constant_expression();
    } else if (lexer.take('+') || lexer.peek().is('-')) {
      o.constant = reader_.constant_expression();
    }
    while (!reader_.failed() && lexer.take(',')) o.items.push_back(parse_operand(depth + 1));
    reader_.expect(']');
    return o;
  }
  if (lexer.peek().is('!')) {
    lexer.next();
    o.negated = true;
  }
  if (lexer.peek().is('-')) {
    const Token sign = lexer.next();
    o.minus = lexer.peek().kind == TokenKind::word && lexer.peek().text.front() == '%';
    if (!o.minus) lexer.rewind(sign);
  }
  if (lexer.peek().kind == TokenKind::word) {
    o.word = lexer.next().text;
    if (o.word == "_") o.kind = Operand::Kind::sink;
    if (lexer.take('|')) o.second = reader_.expect_word("a register");
    if (lexer.take('+')) o.constant = reader_.constant_expression();  // symbol + offset
    return o;
  }
  o.kind = Operand::Kind::constant;
  o.constant = reader_.constant_expression();
  return o;
}

// False: not the operands of any instruction we know; the statement was skipped.
bool FunctionDecoder::parse_operands() {
  Lexer& lexer = reader_.lexer();
  while (!reader_.failed() && !lexer.peek().is(';')) {
    operands_.push_back(parse_operand(0));
    if (!lexer.take(',') && !lexer.peek().is(';')) {
      reader_.fail("expected ',' or ';'");
    }
    if (operands_.size() > 64) reader_.fail("too many operands");
  }
  reader_.expect(';');
  return !reader_.failed();
}

std::optional<FunctionDecoder::Symbol> FunctionDecoder::find_symbol(std::string_view name) {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    Scope& scope = scopes_[i];
    if (const auto found = scope.symbols.find(name); found != scope.symbols.end()) {
      Symbol& s = found->second;
      if (s.kind == SymbolKind::reg && s.offset == kNowhere) {
        s.offset = allocate_row(s.type);
        note_register(found->first, s);
      }
      note_last_use(name, s);
      return s;
    }
    // %r12 may be of the range %r<…> or %r1<…>: every split of the trailing digits.
    for (std::size_t at = digits; at < name.size(); ++at) {
      const auto range = scope.ranges.find(name.substr(0, at));
      if (range == scope.ranges.end() || name.size() - at > 9) continue;
      std::uint64_t n = 0;
      for (const char c : name.substr(at)) n = n * 10 + static_cast<std::uint64_t>(c - '0');
      if (n >= range->second.count || (name[at] == '0' && name.size() - at > 1)) continue;
      const Symbol s{.kind = SymbolKind::reg,
                     .type = range->second.type,
                     .offset = register_row(name, range->second.type),
                     .may_share = range->second.type != Type::pred};
      scope.symbols[name] = s;
      note_register(name, s);
      note_last_use(name, s);
      return s;
    }
  }
  return std::nullopt;
}

std::uint64_t FunctionDecoder::immediate_bits(const Constant& c, Type type) {
  const unsigned bits = bits_of(type);
  if (!c.is_float) {
    if (type == Type::f32) {
      return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int64_t>(c.integer)));
    }
    if (type == Type::f64) {
      return std::bit_cast<std::uint64_t>(
          static_cast<double>(static_cast<std::int64_t>(c.integer)));
    }
    return c.integer;
  }
  if (c.float_bits == bits) return c.integer;
  if (bits == 64) return std::bit_cast<std::uint64_t>(c.number);
  return std::bit_cast<std::uint32_t>(static_cast<float>(c.number));
}

std::uint32_t FunctionDecoder::special_register(std::string_view name, Type type) {
  const unsigned bytes = register_bytes(type);
  for (const SpecialName& s : kSpecials) {
    if (s.text != name) continue;
    if (text_.program.has_clusters && name.find("cluster") != name.npos) return kNowhere;
    if (name.starts_with("%reserved")) text_.program.asks_for_reserved = true;
    const auto [at, fresh] = special_rows_.try_emplace({s.special, bytes}, 0U);
    if (fresh) {
      at->second = allocate_row(type);
      function_.specials.push_back({.offset = at->second,
                                    .special = s.special,
                                    .lane_bytes = static_cast<std::uint8_t>(bytes)});
    }
    return at->second;
  }
  // What the driver or a profiler would set, and nobody did.
  const bool unset = name.starts_with("%envreg") || name.starts_with("%pm");
  if (unset) return constant_row(bytes, 0);
  Handler read = nullptr;
  if (name == "%globaltimer_lo") read = &op_globaltimer_low;
  if (name == "%globaltimer_hi") read = &op_globaltimer_high;
  if (name == "%clock" || name == "%clock_hi") read = &op_clock32;
  if (name == "%clock64") read = &op_clock64;
  if (name == "%globaltimer") read = &op_globaltimer;
  if (read == nullptr || bytes != (name == "%clock64" || name == "%globaltimer" ? 8U : 4U)) {
    return kNowhere;
  }
  const std::uint32_t row = allocate_row(type);
  emit({read, read}, {.d = row});
  return row;
}

std::int32_t FunctionDecoder::shared_variable(const Variable& v) {
  // A body's own variables may share a name with another body's.
  const std::string key = v.name;
  const auto index = static_cast<std::uint32_t>(text_.shared.size());
  const bool module_scope = text_.program.variable_index.contains(key);
  if (module_scope) {
    const auto [at, fresh] = module_.shared_index.try_emplace(key, index);
    if (!fresh) return static_cast<std::int32_t>(at->second);
  }
  text_.shared.push_back({.name = v.name,
                          .size_bytes = v.unsized ? 0 : v.size_bytes,
                          .align_bytes = v.align_bytes,
                          .dynamic = v.unsized});
  return static_cast<std::int32_t>(index);
}

// The address of a variable or function as a constant row.
std::uint32_t FunctionDecoder::symbol_address(std::string_view name, std::int64_t addend,
                                              Type type) {
  const unsigned bytes = register_bytes(type);
  const auto offset = static_cast<std::uint64_t>(addend);
  if (bytes < 4) return kNowhere;
  std::int32_t shared = -1;
  if (const auto s = find_symbol(name)) {
    if (s->kind == SymbolKind::shared) {
      shared = static_cast<std::int32_t>(s->offset);
    } else if (s->kind == SymbolKind::kernel_param) {
      return constant_row(bytes, s->offset + offset);
    } else if (s->kind == SymbolKind::local) {
      // Where a thread's stack is depends on how deep the call is.
      const std::uint32_t row = allocate_row(type);
      emit({&op_local_address, &op_local_address},
           {.d = row, .imm = static_cast<std::int64_t>(s->offset + offset), .aux = bytes});
      return row;
    } else {
      return kNowhere;  // a parameter of a .func has no address
    }
  } else if (const auto v = text_.program.variable_index.find(std::string(name));
             v != text_.program.variable_index.end()) {
    const Variable& variable = text_.program.variables[v->second];
    if (variable.space != Space::shared) {
      return bytes == 8 ? constant_row(8, variable.address + offset) : kNowhere;
    }
    shared = shared_variable(variable);
  } else if (const auto f = text_.program.function_index.find(std::string(name));
             f != text_.program.function_index.end() && bytes == 8) {
    function_.references.push_back(static_cast<std::uint32_t>(f->second));
    return constant_row(8, kFunctionBase + 16 * f->second);
  }
  if (shared < 0) return kNowhere;
  function_.shared_references.push_back(static_cast<std::uint32_t>(shared));
  return constant_row(bytes, offset, shared);
}

std::optional<FunctionDecoder::Symbol> FunctionDecoder::register_of(const Operand& operand) {
  if (operand.kind != Operand::Kind::word) return std::nullopt;
  auto s = find_symbol(operand.word);
  if (!s || s->kind != SymbolKind::reg) return std::nullopt;
  if (operand.half != 0) {
    if (s->type != Type::b128) return std::nullopt;
    s->type = Type::b64;
    s->offset += (operand.half - 1) * 32 * register_bytes(Type::b64);
  }
  return s;
}

std::uint32_t FunctionDecoder::source(const Operand& operand, Type type) {
  std::uint32_t row = kNowhere;
  if (operand.minus) {
    unfit();
    return row;
  }
  if (operand.kind == Operand::Kind::constant) {
    if (type == Type::pred) return constant_row(0, operand.constant.integer);
    return constant_row(register_bytes(type), immediate_bits(operand.constant, type));
  }
  if (operand.kind == Operand::Kind::word) {
    if (const auto r = register_of(operand)) {
      const bool fits = (r->type == Type::pred) == (type == Type::pred) &&
                        register_bytes(r->type) == register_bytes(type);
      if (fits) row = r->offset;
    } else if (operand.word == "WARP_SZ") {
      row = constant_row(register_bytes(type), 32);
    } else if (operand.word.front() == '%') {
      row = type == Type::pred ? kNowhere : special_register(operand.word, type);
    } else if (type != Type::pred) {
      row = symbol_address(operand.word, static_cast<std::int64_t>(operand.constant.integer), type);
    }
  }
  if (row == kNowhere) unfit();
  return row;
}

std::uint32_t FunctionDecoder::result(const Operand& operand, Type type) {
  if (operand.kind == Operand::Kind::sink) return allocate_row(type);
  const auto r = register_of(operand);
  const bool fits = r && (r->type == Type::pred) == (type == Type::pred) &&
                    register_bytes(r->type) == register_bytes(type);
  if (!fits) {
    unfit();
    return kNowhere;
  }
  return r->offset;
}

std::uint32_t FunctionDecoder::source_at(std::size_t i, Type type) {
  if (i < operands_.size()) return source(operands_[i], type);
  unfit();
  return kNowhere;
}

std::uint32_t FunctionDecoder::result_at(std::size_t i, Type type) {
  if (i < operands_.size()) return result(operands_[i], type);
  unfit();
  return kNowhere;
}

}  // namespace assay::emulator
