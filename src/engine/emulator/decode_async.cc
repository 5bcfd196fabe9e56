// Copies that run beside the threads, and the barriers they report to.
#include <algorithm>

#include "engine/emulator/async_ops.h"
#include "engine/emulator/atomic_ops.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"
#include "engine/emulator/mbarrier_ops.h"

namespace assay::emulator {
namespace {

bool take_shared(Form& form) {
  return form.take("shared::cta") || form.take("shared::cluster") || form.take("shared");
}

}  // namespace

bool FunctionDecoder::decode_async_copy(Form& form) {
  const bool reduces = form.take("reduce");
  if (!form.take("async")) return false;
  if (reduces) return form.take("bulk") && decode_bulk_copy(form, true);
  if (form.take("mbarrier")) return decode_async_arrive(form);
  if (form.take("bulk")) return decode_bulk_copy(form, false);
  if (form.take("commit_group")) {
    emit({&op_async_commit, &op_async_commit}, {});
    return operands_.empty();
  }
  if (form.take("wait_all")) {
    emit_async_wait(kAllCopies);
    return operands_.empty();
  }
  if (form.take("wait_group")) {
    if (operands_.size() != 1 || operands_[0].kind != Operand::Kind::constant) return false;
    emit_async_wait(static_cast<std::uint32_t>(
        std::min<std::uint64_t>(operands_[0].constant.integer, kAllCopies - 1)));
    return true;
  }
  if (!form.take("ca") && !form.take("cg")) return false;
  if (!take_shared(form) || !form.take("global")) return false;
  take_cache_hints(form);
  if (operands_.size() < 3 || operands_.size() > 5) return false;
  Op to;
  Op from;
  Space shared = Space::shared;
  Space global = Space::global;
  AddressClass from_class = AddressClass::slow;
  if (!wide_address(operands_[0], shared, to)) return false;
  if (!memory_operand(operands_[1], global, from, from_class)) return false;
  if (operands_[2].kind != Operand::Kind::constant) return false;
  const std::uint64_t bytes = operands_[2].constant.integer;
  if (bytes != 4 && bytes != 8 && bytes != 16) return false;
  const std::uint32_t to_offset = constant_row(8, static_cast<std::uint64_t>(to.imm));
  Op op{.d = to.a, .a = from.a, .b = to_offset, .imm = from.imm};
  op.aux = static_cast<std::uint32_t>(bytes);
  if (operands_.size() > 3) {
    const auto p = register_of(operands_[3]);
    if (p && p->type == Type::pred) {
      op.c = unless(*p, static_cast<std::uint32_t>(bytes));
    } else if (!p || register_bytes(p->type) == 4) {
      op.c = source_at(3, Type::u32);
    }
  }
  emit({&op_async_copy, &op_async_copy}, op);
  watch({.kind = SiteKind::other_access});
  return true;
}

void FunctionDecoder::emit_async_wait(std::uint32_t groups_left) {
  Op op;
  op.aux = groups_left;
  emit({&op_async_wait, &op_async_wait}, op);
}

// A row of `value`, of zero in lanes for which the predicate holds.
std::uint32_t FunctionDecoder::unless(const Symbol& predicate, std::uint32_t value) {
  const std::uint32_t row = allocate_row(Type::u32);
  const Handlers move = instruction_set().move(4);
  const std::uint32_t outer = guard_;
  guard_ = kNowhere;
  emit(move, {.d = row, .a = constant_row(4, value)});
  guard_ = predicate.offset;
  emit(move, {.d = row, .a = constant_row(4, 0)});
  guard_ = outer;
  return row;
}

// cp.async.mbarrier.arrive{.noinc}.shared.b64 [a]: the thread's copies arrive now. Without .noinc
// the arrival is added to what is pending and taken off again.
bool FunctionDecoder::decode_async_arrive(Form& form) {
  if (!form.take("arrive")) return false;
  const bool counts = form.take("noinc");
  Space space = take_space(form);
  if (form.take_type() != Type::b64 || operands_.size() != 1) return false;
  Op op;
  if (!wide_address(operands_[0], space, op)) return false;
  op.aux = static_cast<std::uint32_t>(space) | static_cast<std::uint32_t>(BarrierWord::arrive) << 8;
  emit_async_wait(kAllCopies);
  if (counts) {
    emit({&op_mbarrier, &op_mbarrier}, op);
    watch({.kind = SiteKind::atomic, .space = space, .type = Type::b64, .orders = true});
  }
  return true;
}

// An address with its offset added, as a row: bulk copies have two of them and a barrier.
std::uint32_t FunctionDecoder::address_row(const Operand& operand, Space space) {
  Op op;
  if (!wide_address(operand, space, op)) {
    unfit();
    return kNowhere;
  }
  if (op.imm == 0) return op.a;
  const std::uint32_t row = allocate_row(Type::u64);
  emit({&op_window_add, &op_window_add}, {.d = row, .a = op.a, .imm = op.imm, .e = 8});
  return row;
}

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [d], [s], n, [barrier] and
// cp.async.bulk.global.shared::cta.bulk_group [d], [s], n; cp.reduce.async.bulk likewise with an
// operation and a type at its end. Tensors (TMA) are not known.
bool FunctionDecoder::decode_bulk_copy(Form& form, bool reduces) {
  if (form.take("commit_group")) {
    emit({&op_nothing, &op_nothing}, {});
    return operands_.empty();
  }
  if (form.take("wait_group")) {
    form.take("read");
    emit({&op_nothing, &op_nothing}, {});
    return operands_.size() == 1;
  }
  if (form.take("prefetch")) {  // tensors have more modifiers
    if (!form.take("L2") || !form.take("global")) return false;
    take_cache_hints(form);
    emit({&op_nothing, &op_nothing}, {});
    return operands_.size() == 2 || operands_.size() == 3;
  }
  const Space to = form.take_next() == "global" ? Space::global : Space::shared;
  const std::string_view source = form.take_next();
  const Space from = source == "global" ? Space::global : Space::shared;
  if (source != "global" && source != "shared::cta") return false;
  const bool counted = form.take("mbarrier::complete_tx::bytes");
  if (!counted && !form.take("bulk_group")) return false;
  const bool hinted = form.take("L2::cache_hint");
  if ((to == Space::shared) != counted || (to == Space::global && from == Space::global)) {
    return false;
  }
  AtomicForm atomic;
  if (reduces && (!select_atomic(form, atomic) || atomic.combine == nullptr)) return false;
  if (operands_.size() != (counted ? 4U : 3U) + (hinted ? 1U : 0U)) return false;
  Op op{.d = address_row(operands_[0], to), .a = address_row(operands_[1], from)};
  op.b = source_at(2, Type::u32);
  if (counted) op.c = address_row(operands_[3], Space::shared);
  op.aux = static_cast<std::uint32_t>(to) | static_cast<std::uint32_t>(from) << 8 |
           bytes_of(atomic.type) << 16;
  op.imm = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(atomic.combine));
  emit({&op_bulk_copy, &op_bulk_copy}, op);
  watch({.kind = SiteKind::other_access, .orders = counted});
  return true;
}

// mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 state, [a], bytes …
bool FunctionDecoder::decode_mbarrier(Form& form) {
  if (form.take("pending_count")) {
    if (form.take_type() != Type::b64 || operands_.size() != 2) return false;
    emit({&op_mbarrier_pending, &op_mbarrier_pending},
         {.d = result_at(0, Type::b32), .a = source_at(1, Type::b64)});
    return true;
  }
  const bool tests = form.take("test_wait") || form.take("try_wait");
  const bool by_parity = form.take("parity");
  struct Name {
    std::string_view text{};
    BarrierWord what = BarrierWord::init;
  };
  constexpr Name kNames[] = {{"init", BarrierWord::init},
                             {"inval", BarrierWord::invalidate},
                             {"arrive", BarrierWord::arrive},
                             {"arrive_drop", BarrierWord::arrive_drop},
                             {"expect_tx", BarrierWord::expect_bytes},
                             {"complete_tx", BarrierWord::complete_bytes}};
  const Name* known = nullptr;
  for (const Name& n : kNames) {
    if (!tests && known == nullptr && form.take(n.text)) known = &n;
  }
  if (!tests && known == nullptr) return false;
  const bool expects =
      known != nullptr && known->what != BarrierWord::expect_bytes && form.take("expect_tx");
  form.take("noComplete");
  take_ordering(form);
  Space space = take_space(form);
  if (form.take_type() != Type::b64) return false;
  if (tests) return emit_mbarrier_test(space, by_parity);
  return emit_mbarrier(space, static_cast<std::uint32_t>(known->what), expects);
}

// try_wait may name how long it would like to sleep.
bool FunctionDecoder::emit_mbarrier_test(Space space, bool by_parity) {
  if (operands_.size() != 3 && operands_.size() != 4) return false;
  Op op;
  if (!wide_address(operands_[1], space, op)) return false;
  op.d = result_at(0, Type::pred);
  op.b = source_at(2, by_parity ? Type::u32 : Type::b64);
  op.aux = static_cast<std::uint32_t>(space) | (by_parity ? 1U << 16 : 0U);
  emit({&op_mbarrier_test, &op_mbarrier_test}, op);
  watch({.kind = SiteKind::atomic, .space = space, .type = Type::b64, .orders = true});
  return true;
}

bool FunctionDecoder::emit_mbarrier(Space space, std::uint32_t what, bool expects) {
  const auto word = static_cast<BarrierWord>(what);
  const bool arrives = word == BarrierWord::arrive || word == BarrierWord::arrive_drop;
  std::size_t i = 0;
  Op op;
  if (arrives && !operands_.empty() && operands_[0].kind != Operand::Kind::memory) {
    const bool wanted = operands_[0].kind != Operand::Kind::sink && operands_[0].word != "_";
    if (wanted) op.d = result_at(0, Type::b64);
    i = 1;
  }
  if (i >= operands_.size() || !wide_address(operands_[i], space, op)) return false;
  ++i;
  const bool has_number = i < operands_.size();
  if (has_number) {
    const std::uint32_t number = source_at(i++, Type::u32);
    (expects ? op.c : op.b) = number;
  }
  if (i != operands_.size()) return false;
  if (has_number && word == BarrierWord::invalidate) return false;
  if (!has_number && !arrives && word != BarrierWord::invalidate) return false;
  if (expects && !has_number) return false;
  op.aux = static_cast<std::uint32_t>(space) | what << 8;
  emit({&op_mbarrier, &op_mbarrier}, op);
  // Only init may find anything there.
  watch({.kind = word == BarrierWord::init ? SiteKind::other_access : SiteKind::atomic,
         .space = space,
         .type = Type::b64,
         .orders = true});
  return true;
}

}  // namespace assay::emulator
