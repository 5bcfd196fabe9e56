// Loads, stores, atomics and asynchronous copies.
#include <array>

#include "engine/emulator/atomic_ops.h"
#include "engine/emulator/control_ops.h"
#include "engine/emulator/decoder.h"

namespace assay::emulator {
namespace {

struct SpaceName {
  std::string_view text{};
  Space space = Space::generic;
};
constexpr SpaceName kSpaces[] = {{"global", Space::global},      {"shared", Space::shared},
                                 {"shared::cta", Space::shared}, {"shared::cluster", Space::shared},
                                 {"local", Space::local},        {"const", Space::constant},
                                 {"param", Space::param},        {"param::entry", Space::param},
                                 {"param::func", Space::param}};

// Triton writes a vector of one: `ld.global.b32 { %r1 }, [...]`.
const Operand& without_braces(const Operand& operand) {
  const bool is_single = operand.kind == Operand::Kind::list && operand.items.size() == 1;
  return is_single ? operand.items.front() : operand;
}

// Elements of a .func's parameter lie inside it, each in whole words or inside one.
bool fits_words(std::int64_t offset, unsigned bytes, unsigned elements, std::uint32_t size) {
  const std::uint64_t end = static_cast<std::uint64_t>(offset) + std::uint64_t{bytes} * elements;
  return offset % bytes == 0 && end <= ((std::uint64_t{size} + 3) & ~std::uint64_t{3});
}

}  // namespace

// Hints about caches change no value.
void take_cache_hints(Form& form) {
  constexpr std::string_view kHints[] = {"ca",
                                         "cg",
                                         "cs",
                                         "lu",
                                         "cv",
                                         "wb",
                                         "wt",
                                         "nc",
                                         "level::cache_hint",
                                         "L2::cache_hint",
                                         "L2::64B",
                                         "L2::128B",
                                         "L2::256B",
                                         "L1::evict_normal",
                                         "L1::evict_unchanged",
                                         "L1::evict_first",
                                         "L1::evict_last",
                                         "L1::no_allocate",
                                         "L2::evict_normal",
                                         "L2::evict_first",
                                         "L2::evict_last"};
  for (const std::string_view h : kHints) form.take(h);
}

bool is_ordering(const Form& form) {
  return form.has("acquire") || form.has("release") || form.has("acq_rel");
}

bool take_ordering(Form& form) {
  bool synchronising = false;
  for (const std::string_view o :
       {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}) {
    synchronising |= form.take(o);
  }
  form.take("weak");
  for (const std::string_view scope : {"cta", "cluster", "gpu", "sys"}) form.take(scope);
  return synchronising;
}

Space take_space(Form& form) {
  for (const SpaceName& s : kSpaces) {
    if (form.take(s.text)) return s.space;
  }
  return Space::generic;
}

// Sets op.a and op.imm, and how the address is to be read.
bool FunctionDecoder::memory_operand(const Operand& operand, Space& space, Op& op,
                                     AddressClass& address) {
  if (operand.kind != Operand::Kind::memory) return false;
  op.imm = static_cast<std::int64_t>(operand.constant.integer);
  address = AddressClass::slow;
  const auto symbol = operand.word.empty() ? std::nullopt : find_symbol(operand.word);
  if (space == Space::param && symbol && symbol->kind != SymbolKind::reg) {
    const bool direct = symbol->kind == SymbolKind::kernel_param;
    if (!direct && symbol->kind != SymbolKind::frame_param) return false;
    if (op.imm < 0 || op.imm > symbol->bytes) return false;
    op.a = direct ? 0 : symbol->offset;
    if (direct) op.imm += symbol->offset;
    address = direct ? AddressClass::kernel_params : AddressClass::frame_words;
    return true;
  }
  unsigned address_bytes = 8;
  if (operand.word.empty()) {
    op.a = constant_row(8, 0);
  } else if (symbol && symbol->kind == SymbolKind::reg) {
    address_bytes = register_bytes(symbol->type);
    if (symbol->type == Type::pred || address_bytes < 4) return false;
    op.a = symbol->offset;
  } else {
    const bool narrow = space == Space::shared;
    address_bytes = narrow ? 4 : 8;
    op.a = symbol_address(operand.word, 0, narrow ? Type::u32 : Type::u64);
    if (op.a == kNowhere) return false;
  }
  const bool by_table =
      space == Space::global || space == Space::generic || space == Space::constant;
  if (space == Space::shared) {
    address = address_bytes == 4 ? AddressClass::shared32 : AddressClass::shared64;
  } else if (by_table && address_bytes == 8) {
    address = AddressClass::table;
  } else if (address_bytes == 4) {
    if (by_table) return false;
    // Local and parameter addresses in 32-bit registers: widened first.
    const std::uint32_t wide = allocate_row(Type::u64);
    emit({&op_window_add, &op_window_add}, {.d = wide, .a = op.a, .imm = 0, .e = 4});
    op.a = wide;
  }
  return true;
}

// A load may follow an earlier one, which then keeps what it finds.
Handlers FunctionDecoder::load_handlers(MemoryForm form, std::string_view base, Op& op) {
  if (moves_words(form) && !base.empty()) {
    const AnchoredLoads::Access load{
        .base = base, .form = form, .imm = op.imm, .pc = text_.code.size()};
    if (const auto leader = anchored_loads_.leader_of(load, guard_ == kNowhere)) {
      form.anchor = AnchorRole::keeps;
      const Handlers keeping = instruction_set().load(form);
      Op& first = text_.code[leader->pc];
      first.full = keeping.full;
      first.masked = keeping.masked;
      first.aux = with_anchor(first.aux, form.anchor);
      first.target = static_cast<std::uint32_t>(leader->anchor);
      op.target = first.target;
      form.anchor = AnchorRole::follows;
      op.aux = with_anchor(op.aux, form.anchor);
    }
  }
  return instruction_set().load(form);
}

// The rows of an access's elements, of one size; 0: they do not fit.
unsigned FunctionDecoder::data_rows(const Operand& data, bool is_load, const MemoryForm& memory,
                                    Op& op) {
  const std::array<std::uint32_t*, 4> slots{&op.d, &op.b, &op.c, &op.e};
  const bool is_list = data.kind == Operand::Kind::list;
  const auto element = [&](unsigned i) -> const Operand& { return is_list ? data.items[i] : data; };
  unsigned row_bytes = 0;
  for (unsigned i = 0; i < memory.elements; ++i) {
    const auto r = register_of(element(i));
    if (!r) continue;
    if (r->type == Type::pred) return 0;
    if (row_bytes != 0 && row_bytes != register_bytes(r->type)) return 0;
    row_bytes = register_bytes(r->type);
    *slots[i] = r->offset;
  }
  if (row_bytes == 0) row_bytes = register_bytes(memory.type);
  if (row_bytes < register_bytes(memory.type)) return 0;
  const Type row_type = row_bytes == 2 ? Type::b16 : row_bytes == 4 ? Type::b32 : Type::b64;
  for (unsigned i = 0; i < memory.elements; ++i) {
    const Operand& o = element(i);
    if (*slots[i] != kNowhere) continue;
    if (is_load) {
      if (o.kind != Operand::Kind::sink) return 0;
      *slots[i] = allocate_row(row_type);
    } else {
      const Type as = o.constant.is_float ? memory.type : row_type;
      *slots[i] = source(o, register_bytes(as) == row_bytes ? as : row_type);
    }
  }
  return row_bytes;
}

bool FunctionDecoder::decode_load_store(Form& form, bool is_load) {
  Space space = take_space(form);
  MemoryForm memory;
  const bool orders = is_ordering(form);
  memory.synchronising = take_ordering(form);
  take_cache_hints(form);
  form.take("unified");
  unsigned elements = form.take("v2") ? 2 : form.take("v4") ? 4 : 1;
  memory.type = form.take_type();
  if (memory.type == Type::b128 && elements == 1 && operands_.size() > 1) {
    memory.type = Type::b64;  // two of them
    elements = 2;
    Operand& wide = operands_[is_load ? 0 : 1];
    wide = halves(wide);
  }
  memory.elements = elements;
  if (memory.type == Type::none || memory.type == Type::pred || bits_of(memory.type) > 64) {
    return false;
  }
  // A cache policy may follow.
  if (operands_.size() < 2 || operands_.size() > 3) return false;
  const Operand& address = operands_[is_load ? 1 : 0];
  const Operand& data = without_braces(operands_[is_load ? 0 : 1]);
  const bool is_list = data.kind == Operand::Kind::list;
  if ((elements > 1) != is_list || (is_list && data.items.size() != elements)) return false;
  Op op;
  if (!memory_operand(address, space, op, memory.address)) return false;
  memory.row_bytes = data_rows(data, is_load, memory, op);
  if (memory.row_bytes == 0) return false;
  if (memory.address == AddressClass::frame_words &&
      !fits_words(op.imm, bytes_of(memory.type), elements, find_symbol(address.word)->bytes)) {
    return false;
  }
  op.aux = memory_aux(elements, static_cast<std::uint8_t>(space));
  const Handlers h =
      is_load ? load_handlers(memory, address.word, op) : instruction_set().store(memory);
  if (h.full == nullptr) return false;
  emit(h, op);
  const bool in_frame =
      memory.address == AddressClass::kernel_params || memory.address == AddressClass::frame_words;
  if (!in_frame) {
    watch({.kind = is_load ? SiteKind::load : SiteKind::store,
           .space = space,
           .address = memory.address,
           .type = memory.type,
           .elements = static_cast<std::uint8_t>(elements),
           .row_bytes = static_cast<std::uint8_t>(memory.row_bytes),
           .synchronising = memory.synchronising,
           .orders = orders});
  }
  return true;
}

// atom.global.add.v4.f32 {…}, [a], {…}: the elements are atomic, the vector is not.
bool FunctionDecoder::decode_atomic_vector(const AtomicForm& atomic, Space space, unsigned elements,
                                           bool returns) {
  const std::size_t first = returns ? 1 : 0;
  if (operands_.size() < first + 2 || operands_.size() > first + 3 || atomic.has_second) {
    return false;
  }
  const Operand values = operands_[first + 1];
  const auto is_vector = [&](const Operand& o) {
    return o.kind == Operand::Kind::list && o.items.size() == elements;
  };
  if (!is_vector(values) || (returns && !is_vector(operands_[0]))) return false;
  Op op;
  if (!wide_address(operands_[first], space, op)) return false;
  op.aux = memory_aux(1, static_cast<std::uint8_t>(space));
  for (unsigned i = 0; i < elements; ++i) {
    if (returns) op.d = result(operands_[0].items[i], atomic.type);
    op.b = source(values.items[i], atomic.type);
    emit({atomic.handler, atomic.handler}, op);
    watch({.kind = SiteKind::atomic, .space = space, .type = atomic.type});
    op.imm += bytes_of(atomic.type);
  }
  return true;
}

// atom.space.op.type d, [a], b, c; red.space.op.type [a], b
bool FunctionDecoder::decode_atomic(Form& form, bool returns) {
  const bool orders = is_ordering(form);
  take_ordering(form);
  Space space = take_space(form);
  take_cache_hints(form);
  const unsigned elements = form.take("v2") ? 2 : form.take("v4") ? 4 : form.take("v8") ? 8 : 1;
  AtomicForm atomic;
  if (!select_atomic(form, atomic)) return false;
  if (elements > 1) return decode_atomic_vector(atomic, space, elements, returns);
  const std::size_t first = returns ? 1 : 0;
  const std::size_t needed = first + 2 + (atomic.has_second ? 1U : 0U);
  if (operands_.size() < needed || operands_.size() > needed + 1) return false;
  Op op;
  if (!wide_address(operands_[first], space, op)) return false;
  if (returns) op.d = result_at(0, atomic.type);
  op.b = source_at(first + 1, atomic.type);
  if (atomic.has_second) op.c = source_at(first + 2, atomic.type);
  op.aux = memory_aux(1, static_cast<std::uint8_t>(space));
  emit({atomic.handler, atomic.handler}, op);
  watch({.kind = SiteKind::atomic, .space = space, .type = atomic.type, .orders = orders});
  return true;
}

}  // namespace assay::emulator
