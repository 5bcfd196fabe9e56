// Branches, calls, barriers, warp-wide operations, and the table of everything.
#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/heap_ops.h"

namespace assay::emulator {

bool FunctionDecoder::decode_branch(Form& form) {
  form.take("uni");
  if (operands_.size() != 1 || operands_[0].kind != Operand::Kind::word) return false;
  scopes_.back().fixups.push_back(
      {text_.code.size(), -1, operands_[0].word, static_cast<int>(site_.ptx_line)});
  const Handler h = guard_ == kNowhere ? &op_branch : &op_branch_if;
  emit_unguarded({h, h}, {});
  return true;
}

bool FunctionDecoder::decode_branch_table(Form& form) {
  form.take("uni");
  if (!form.take("idx") || operands_.size() != 2) return false;
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    const auto table = scopes_[i].tables.find(operands_[1].word);
    if (table == scopes_[i].tables.end()) continue;
    emit_unguarded({&op_branch_table, &op_branch_table},
                   {.a = source_at(0, Type::u32), .aux = table->second});
    return true;
  }
  return false;
}

bool FunctionDecoder::slots(const Operand& list, std::vector<FormalSlot>& out) {
  if (list.kind != Operand::Kind::list) return false;
  for (const Operand& o : list.items) {
    if (o.kind == Operand::Kind::sink) {
      out.push_back({allocate_words(16), 16, 4});
      continue;
    }
    if (o.kind == Operand::Kind::constant) {
      const bool is_double = o.constant.is_float && o.constant.float_bits != 32;
      const Type type = is_double ? Type::f64 : o.constant.is_float ? Type::f32 : Type::b64;
      out.push_back({source(o, type), register_bytes(type), register_bytes(type)});
      continue;
    }
    const auto s = o.kind == Operand::Kind::word ? find_symbol(o.word) : std::nullopt;
    if (!s || s->type == Type::pred) return false;
    if (s->kind == SymbolKind::frame_param) {
      out.push_back({s->offset, s->bytes, 4});
    } else if (s->kind == SymbolKind::reg) {
      out.push_back({s->offset, register_bytes(s->type), register_bytes(s->type)});
    } else {
      return false;
    }
  }
  return true;
}

// call (results), function, (arguments) [, prototype]
bool FunctionDecoder::decode_call(Form& form) {
  form.take("uni");
  CallSite call;
  std::size_t i = 0;
  if (i < operands_.size() && operands_[i].kind == Operand::Kind::list) {
    if (!slots(operands_[i++], call.results)) return false;
  }
  if (i >= operands_.size() || operands_[i].kind != Operand::Kind::word) return false;
  const Operand& callee = operands_[i++];
  if (i < operands_.size() && !slots(operands_[i], call.arguments)) return false;
  Op op{.aux = static_cast<std::uint32_t>(text_.calls.size())};
  Handler handler = &op_call;
  if (const auto r = register_of(callee)) {
    if (r->type == Type::pred || register_bytes(r->type) != 8) return false;
    op.a = r->offset;
  } else {
    const auto f = text_.program.function_index.find(std::string(callee.word));
    if (f == text_.program.function_index.end()) return false;
    if (callee.word == "vprintf") {
      handler = &op_vprintf;
    } else if (callee.word == "__assertfail") {
      handler = &op_assertfail;
    } else if (callee.word == "malloc") {
      handler = &op_malloc;
    } else if (callee.word == "free") {
      handler = &op_free;
    } else if (!text_.program.functions[f->second].has_body ||
               text_.program.functions[f->second].is_entry) {
      return false;
    } else {
      call.function = static_cast<std::int32_t>(f->second);
      function_.references.push_back(static_cast<std::uint32_t>(f->second));
    }
  }
  text_.calls.push_back(std::move(call));
  emit_control({handler, handler}, op);
  return true;
}

// barrier.cluster.arrive and .wait of a cluster that is one block: waiting meets the others. Its
// address space has one block's shared memory in it.
bool FunctionDecoder::decode_cluster(Form& form) {
  if (text_.program.has_clusters) return false;
  if (form.base() == "barrier") {
    const bool waits = form.take("wait");
    if ((!waits && !form.take("arrive")) || !operands_.empty()) return false;
    take_ordering(form);
    form.take("aligned");
    if (waits) {
      emit_control({&op_barrier, &op_barrier}, {.a = constant_row(4, 0), .aux = kClusterBarrier});
    } else {
      emit({&op_nothing, &op_nothing}, {});
    }
    return true;
  }
  const bool is_narrow = form.take("shared::cluster");
  const Type type = form.take_type();
  if (type != Type::u32 && type != Type::u64) return false;
  if (form.base() == "mapa") {
    if (operands_.size() != 3) return false;
    source_at(2, Type::u32);
    emit(instruction_set().move(register_bytes(type)),
         {.d = result_at(0, type), .a = source_at(1, type)});
    return true;
  }
  if (operands_.size() != 2) return false;
  source_at(1, is_narrow && type == Type::u32 ? Type::u32 : Type::u64);
  emit(instruction_set().move(4), {.d = result_at(0, Type::u32), .a = constant_row(4, 0)});
  return true;
}

// bar.sync a{, b}; barrier.cta.sync …; bar.red.popc d, a{, b}, p; bar.warp.sync m
bool FunctionDecoder::decode_barrier(Form& form) {
  if (form.take("cluster")) return decode_cluster(form);
  const bool is_warp = form.take("warp");
  form.take("cta");
  form.take("aligned");
  if (is_warp) {
    if (!form.take("sync") || operands_.size() != 1) return false;
    emit_control({&op_warp_barrier, &op_warp_barrier}, {.a = source_at(0, Type::u32)});
    return true;
  }
  BarrierKind kind = BarrierKind::sync;
  Op op;
  std::size_t i = 0;
  std::size_t end = operands_.size();
  if (form.take("red")) {
    const bool popc = form.take("popc");
    if (!popc && !form.has("and") && !form.has("or")) return false;
    kind = popc               ? BarrierKind::popc
           : form.take("and") ? BarrierKind::conjunction
                              : BarrierKind::disjunction;
    if (kind == BarrierKind::disjunction) form.take("or");
    const Type type = form.take_type();
    if (type != (popc ? Type::u32 : Type::pred) || end < 3) return false;
    op.d = result_at(i++, type);
    op.c = source_at(--end, Type::pred);
    if (operands_[end].negated) op.aux |= 0x100;
  } else if (form.take("arrive")) {
    kind = BarrierKind::arrive;
    if (end != 2) return false;
  } else if (!form.take("sync")) {
    return false;
  }
  if (end <= i || end - i > 2) return false;
  op.aux |= static_cast<std::uint32_t>(kind);
  op.a = source_at(i, Type::u32);
  if (end - i == 2) op.b = source_at(i + 1, Type::u32);
  emit_control({&op_barrier, &op_barrier}, op);
  return true;
}

// d|p of shfl and match: a predicate beside the result, or none.
void FunctionDecoder::paired_results(Op& op) {
  Operand first = operands_[0];
  const std::string_view second = first.second;
  first.second = {};
  op.d = result(first, Type::b32);
  op.target = second.empty() ? kNowhere : result({.word = second}, Type::pred);
}

bool FunctionDecoder::decode_shuffle(Form& form) {
  Handlers handlers;
  for (const std::string_view mode : {"up", "down", "bfly", "idx"}) {
    if (form.take(mode)) handlers = shuffle_handlers(mode);
  }
  if (handlers.full == nullptr || form.take_type() != Type::b32 || operands_.size() != 5) {
    return false;
  }
  Op op;
  paired_results(op);
  op.a = source_at(1, Type::b32);
  op.b = source_at(2, Type::b32);
  op.c = source_at(3, Type::b32);
  op.e = source_at(4, Type::b32);
  emit_control(handlers, op);
  return true;
}

bool FunctionDecoder::decode_vote(Form& form) {
  Vote kind = Vote::all;
  if (form.take("any"))
    kind = Vote::any;
  else if (form.take("uni"))
    kind = Vote::uniform;
  else if (form.take("ballot"))
    kind = Vote::ballot;
  else if (!form.take("all"))
    return false;
  const Type type = form.take_type();
  if (type != (kind == Vote::ballot ? Type::b32 : Type::pred) || operands_.size() != 3) {
    return false;
  }
  Op op;
  op.d = result_at(0, type);
  op.c = source_at(1, Type::pred);
  op.aux = operands_[1].negated ? 1 : 0;
  op.e = source_at(2, Type::b32);
  emit_control(vote_handlers(kind), op);
  return true;
}

bool FunctionDecoder::decode_match(Form& form) {
  const bool all = form.take("all");
  if (!all && !form.take("any")) return false;
  const Type type = form.take_type();
  if ((type != Type::b32 && type != Type::b64) || operands_.size() != 3) return false;
  Op op;
  paired_results(op);
  op.a = source_at(1, type);
  op.e = source_at(2, Type::b32);
  emit_control(match_handlers(all, bytes_of(type)), op);
  return true;
}

bool FunctionDecoder::decode_redux(Form& form) {
  Type type = Type::none;
  const Handlers handlers = redux_handlers(form, type);
  if (handlers.full == nullptr || operands_.size() != 3) return false;
  Op op;
  op.d = result_at(0, type);
  op.a = source_at(1, type);
  op.e = source_at(2, Type::b32);
  emit_control(handlers, op);
  return true;
}

bool FunctionDecoder::decode_elect() {
  Operand first = operands_[0];
  const std::string_view second = first.second;
  first.second = {};
  if (second.empty() || operands_.size() != 2) return false;
  Op op;
  if (first.kind != Operand::Kind::sink && first.word != "_") op.d = result(first, Type::b32);
  op.c = result({.word = second}, Type::pred);
  op.e = source_at(1, Type::b32);
  emit_control({&op_elect, &op_elect}, op);
  return true;
}

// shfl, vote, match, redux, elect: each has a member mask in op.e
bool FunctionDecoder::decode_warp(Form& form) {
  const std::string_view base = form.base();
  if (base == "activemask") {
    if (form.take_type() != Type::b32 || operands_.size() != 1) return false;
    emit({&op_activemask, &op_activemask}, {.d = result_at(0, Type::b32)});
    return true;
  }
  if (!form.take("sync") || operands_.empty()) return false;
  if (base == "shfl") return decode_shuffle(form);
  if (base == "vote") return decode_vote(form);
  if (base == "match") return decode_match(form);
  if (base == "redux") return decode_redux(form);
  return base == "elect" && decode_elect();
}

// Instructions without a result, or whose result needs no thought.
bool FunctionDecoder::decode_simple(Form& form) {
  const std::string_view base = form.base();
  if (base == "ret" || base == "exit") {
    form.take("uni");
    const Handler h = base == "ret" ? &op_return : &op_exit;
    emit_unguarded({h, h}, {});
    return operands_.empty();
  }
  if (base == "trap" || base == "brkpt") {
    emit({&op_trap, &op_trap}, {});
    return operands_.empty();
  }
  if (base == "nanosleep") {
    emit({&op_nanosleep, &op_nanosleep}, {});
    return form.take_type() == Type::u32 && operands_.size() == 1;
  }
  if (base == "membar" || base == "fence") {
    for (const std::string_view m : {"sc",
                                     "acq_rel",
                                     "acquire",
                                     "release",
                                     "cta",
                                     "cluster",
                                     "gpu",
                                     "gl",
                                     "sys",
                                     "proxy",
                                     "async",
                                     "alias",
                                     "async.global",
                                     "async::generic",
                                     "global",
                                     "shared::cta",
                                     "sync_restrict",
                                     "async.shared::cta",
                                     "shared::cluster",
                                     "mbarrier_init",
                                     "sync_restrict::shared::cta",
                                     "sync_restrict::shared::cluster"}) {
      form.take(m);
    }
    emit({&op_fence, &op_fence}, {});
    return operands_.empty();
  }
  if (base == "createpolicy") {  // a hint to caches: any value does
    const std::string_view opcode = form.opcode();
    form = Form(opcode.substr(0, opcode.find('.')));
    Op op{.d = result_at(0, Type::b64), .a = constant_row(8, 0)};
    emit(instruction_set().move(8), op);
    return true;
  }
  if (base == "prefetch" || base == "discard" || base == "prefetchu" || base == "applypriority" ||
      base == "pmevent" || base == "griddepcontrol" || base == "setmaxnreg") {
    const std::string_view opcode = form.opcode();
    form = Form(opcode.substr(0, opcode.find('.')));  // no modifier changes anything
    emit({&op_nothing, &op_nothing}, {});
    return true;
  }
  return false;
}

// alloca.u64 d, bytes{, align}; stacksave.u64 d; stackrestore.u64 a
bool FunctionDecoder::decode_stack(Form& form) {
  const std::string_view base = form.base();
  if (form.take_type() != Type::u64) return false;
  if (base == "alloca") {
    if (operands_.size() < 2 || operands_.size() > 3) return false;
    if (operands_.size() == 3 && operands_[2].constant.integer > 16) return false;
    emit({&op_alloca, &op_alloca}, {.d = result_at(0, Type::u64), .a = source_at(1, Type::u64)});
    return true;
  }
  if (operands_.size() != 1) return false;
  if (base == "stacksave") {
    emit({&op_stack_save, &op_stack_save}, {.d = result_at(0, Type::u64)});
  } else {
    emit({&op_stack_restore, &op_stack_restore}, {.a = source_at(0, Type::u64)});
  }
  return true;
}

bool FunctionDecoder::decode_instruction(Form& form) {
  const std::string_view base = form.base();
  if (base == "ld" || base == "ldu") return decode_load_store(form, true);
  if (base == "st") return decode_load_store(form, false);
  if (base == "mov") return decode_move(form);
  if (base == "cvt") return decode_convert(form);
  if (base == "setp" || base == "set") return decode_compare(form);
  if (base == "bra") return decode_branch(form);
  if (base == "brx") return decode_branch_table(form);
  if (base == "call") return decode_call(form);
  if (base == "bar" || base == "barrier") return decode_barrier(form);
  if (base == "mapa" || base == "getctarank") return decode_cluster(form);
  if (base == "cvta") return decode_address(form);
  if (base == "isspacep") return decode_isspacep(form);
  if (base == "atom") return decode_atomic(form, true);
  if (base == "red") return decode_atomic(form, false);
  if (base == "cp") return decode_async_copy(form);
  if (base == "tex") return decode_texture(form);
  if (base == "mbarrier") return decode_mbarrier(form);
  if (base == "alloca" || base == "stacksave" || base == "stackrestore") return decode_stack(form);
  if (base == "mma" || base == "wmma" || base == "ldmatrix" || base == "stmatrix" ||
      base == "movmatrix") {
    return decode_matrix(form);
  }
  if (base == "lop3" && (form.has("or") || form.has("and"))) return decode_lop3_predicate(form);
  if (base == "shfl" || base == "vote" || base == "match" || base == "redux" || base == "elect" ||
      base == "activemask") {
    return decode_warp(form);
  }
  if (!base.empty() && base.front() == 'v') return decode_video(form);
  return decode_simple(form) || decode_selected(form);
}

}  // namespace assay::emulator
