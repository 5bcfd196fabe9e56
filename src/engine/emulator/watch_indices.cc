// What a watch makes of index arithmetic: 32-bit sums, products and shifts that wrapped before they
// addressed memory. A value is followed through add, sub, mul, mad, shl, neg, mov, cvt and choices
// only: what is masked, divided, shifted right or taken modulo wraps on purpose (hashes, generators
// of random numbers, rings). And it is told only if the access is outside of all memory, or if the
// address without wrapping is inside some: then another element was read than the one meant.
#include "engine/emulator/block.h"
#include "engine/emulator/unwrapped.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

// Nobody's index; the product of two that are below still fits.
constexpr Exact kBeyond = Exact{1} << 63;

Exact read_signed(std::uint64_t v, unsigned bytes) {
  return bytes == 4 ? Exact{static_cast<std::int32_t>(v)} : Exact{static_cast<std::int64_t>(v)};
}

// A constant is what its text says; an address has no sign, its sums are modulo 2^64.
Exact read_unsigned(std::uint64_t v, unsigned bytes, bool is_constant) {
  return bytes == 4 && !is_constant ? Exact{static_cast<std::uint32_t>(v)} : read_signed(v, bytes);
}

// Made 64 bits wide: here the instruction says how it reads its source.
void widen(ExactValue& v, std::uint64_t held, bool with_sign) {
  const Exact used =
      with_sign ? Exact{static_cast<std::int32_t>(held)} : Exact{static_cast<std::uint32_t>(held)};
  const bool is_meant = used == v.as_signed || used == v.as_unsigned;
  const Exact exact = is_meant ? used : with_sign ? v.as_signed : v.as_unsigned;
  const std::uint32_t pc = is_meant ? kNowhere : with_sign ? v.signed_pc : v.unsigned_pc;
  v = {.as_signed = exact,
       .as_unsigned = exact,
       .signed_pc = pc,
       .unsigned_pc = pc,
       .index = exact,
       .became = static_cast<std::int64_t>(used)};
}

Exact applied(IndexStep step, Exact a, Exact b, Exact c) {
  switch (step) {
    case IndexStep::none:
    case IndexStep::copy:
    case IndexStep::least:  // what was chosen comes as a copy
    case IndexStep::most:
      break;
    case IndexStep::negate:
      return -a;
    case IndexStep::add:
      return a + b;
    case IndexStep::subtract:
      return a - b;
    case IndexStep::multiply:
      return a * b;
    case IndexStep::multiply_add:
      return a * b + c;
    case IndexStep::shift:
      return a * (Exact{1} << static_cast<unsigned>(b));
  }
  return a;
}

// Whether all lanes' values of 4 or 8 bytes are below a power of two; negative ones are not.
bool are_below(const Warp& w, std::uint32_t row, unsigned bytes, unsigned power) {
  std::uint64_t bits = 0;
  for (unsigned k = 0; k < 32; ++k) bits |= bits_held(w, row, k, bytes);
  return bits >> power == 0;
}

bool is_choice(const WatchedSite& site) {
  return site.selects_index() || site.step == IndexStep::least || site.step == IndexStep::most;
}

// Whether a choice between two takes its first source.
bool takes_first(Warp& w, const Op& op, const WatchedSite& site, unsigned lane) {
  if (site.selects_index()) return (predicate(w, op.c) >> lane & 1U) != 0;
  const std::uint64_t a = bits_held(w, op.a, lane, site.row_bytes);
  const std::uint64_t b = bits_held(w, op.b, lane, site.row_bytes);
  const bool is_less = is_signed(site.type)
                           ? read_signed(a, site.row_bytes) < read_signed(b, site.row_bytes)
                           : a < b;
  return a == b || is_less == (site.step == IndexStep::least);
}

// Of 32-bit numbers of which none is followed: sources so small that nothing can wrap, in any of
// the lanes. Mostly so, and seen at once.
bool cannot_wrap(const Warp& w, const Op& op, const WatchedSite& site) {
  if (is_choice(site)) {
    return site.constants == 0 || (are_below(w, op.a, 4, 31) && are_below(w, op.b, 4, 31));
  }
  switch (site.step) {
    case IndexStep::copy:
      return are_below(w, op.a, 4, 31);
    case IndexStep::add:
      return are_below(w, op.a, 4, 30) && are_below(w, op.b, 4, 30);
    case IndexStep::multiply:
      return are_below(w, op.a, 4, 15) && are_below(w, op.b, 4, 15);
    case IndexStep::multiply_add:
      return are_below(w, op.a, 4, 15) && are_below(w, op.b, 4, 15) &&
             are_below(w, op.c, site.row_bytes, 30 + (site.row_bytes - 4U) * 8);
    case IndexStep::shift:
      return are_below(w, op.a, 4, 23) && are_below(w, op.b, 4, 3);
    default:
      return false;
  }
}

bool is_followed(Exact v) { return v < kBeyond && v > -kBeyond; }

// "-1", "4294967296"
std::string exact_text(Exact v) {
  if (v < 0) return "-" + exact_text(-v);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(v % 10)));
    v /= 10;
  } while (v != 0);
  return digits;
}

}  // namespace

ExactValue Watch::exact_source(Warp& w, const WatchedSite& site, std::uint32_t row, unsigned lane,
                               unsigned source) {
  const bool is_addend = source == 2 && site.step == IndexStep::multiply_add;
  const unsigned bytes = is_addend ? site.row_bytes : bytes_of(site.type);
  const std::uint64_t held = bits_held(w, row, lane, bytes);
  const ExactValue* const known = w.block->watch_state()->exact.find(w.rows + row, lane, held);
  const bool is_constant = (site.constants >> source & 1U) != 0;
  ExactValue v = known != nullptr
                     ? *known
                     : ExactValue{.as_signed = read_signed(held, bytes),
                                  .as_unsigned = read_unsigned(held, bytes, is_constant)};
  if (bytes < site.row_bytes) widen(v, held, is_signed(site.type));
  return v;
}

// Before the instruction, which may write what it reads.
void Watch::note_index(Warp& w, const Op& op, const WatchedSite& site) {
  index_lanes_ = 0;
  // Wide sums begin nothing: only what came from a wrapped one is followed.
  const bool narrow = bytes_of(site.type) == 4;
  const ExactValues& exact = w.block->watch_state()->exact;
  const std::array<std::uint32_t, 3> rows{op.a, op.b, op.c};
  bool are_unknown = true;
  for (unsigned i = 0; i < site.elements && !exact.empty(); ++i) {
    are_unknown = are_unknown && !exact.may_hold(w.rows + rows[i]);
  }
  if (are_unknown && (!narrow || cannot_wrap(w, op, site))) return;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::array<ExactValue, 3> v{};
    if (is_choice(site)) {
      const unsigned chosen = takes_first(w, op, site, k) ? 0 : 1;
      v[0] = exact_source(w, site, rows[chosen], k, chosen);
    } else {
      for (unsigned i = 0; i < site.elements; ++i) v[i] = exact_source(w, site, rows[i], k, i);
    }
    if (site.step == IndexStep::shift) {
      const auto n = static_cast<std::uint32_t>(bits_held(w, op.b, k, 4));
      if (n >= 8 * bytes_of(site.type)) continue;
      v[1] = {.as_signed = n, .as_unsigned = n};
    }
    ExactValue& r = index_values_[k];
    r = {};
    r.as_signed = applied(site.step, v[0].as_signed, v[1].as_signed, v[2].as_signed);
    r.as_unsigned = applied(site.step, v[0].as_unsigned, v[1].as_unsigned, v[2].as_unsigned);
    if (!is_followed(r.as_signed) || !is_followed(r.as_unsigned)) continue;
    for (unsigned i = 0; i < site.elements; ++i) {
      if (r.signed_pc == kNowhere) r.signed_pc = v[i].signed_pc;
      if (r.unsigned_pc == kNowhere) r.unsigned_pc = v[i].unsigned_pc;
      if (v[i].is_exact()) continue;
      r.index = v[i].index;
      r.became = v[i].became;
    }
    index_lanes_ |= 1U << k;
  }
}

void Watch::check_index(Warp& w, const Op& op, const WatchedSite& site) {
  ExactValues& exact = w.block->watch_state()->exact;
  const std::byte* const row = w.rows + op.d;
  if (index_lanes_ == 0) {
    if (!exact.empty()) exact.forget(row, w.active);
    return;
  }
  const unsigned bytes = site.row_bytes;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    ExactValue& v = index_values_[k];
    const std::uint64_t held = bits_held(w, op.d, k, bytes);
    if ((index_lanes_ >> k & 1U) != 0) {
      const auto fits = [&](Exact e, Exact r) {
        return bytes == 4 ? e == r : static_cast<std::uint64_t>(e) == held;
      };
      // What wraps here began here; what no longer differs is forgotten.
      const auto origin = [&](bool is_exact, std::uint32_t earlier) {
        if (is_exact) return kNowhere;
        return earlier != kNowhere || bytes == 8 ? earlier : current_pc_;
      };
      v.signed_pc = origin(fits(v.as_signed, read_signed(held, bytes)), v.signed_pc);
      v.unsigned_pc = origin(fits(v.as_unsigned, read_unsigned(held, bytes, false)), v.unsigned_pc);
      if (!v.is_exact()) {
        if (!exact.set(row, k, held, v)) too_many_indices_ = true;
        continue;
      }
    }
    if (!exact.empty()) exact.forget(row, 1U << k);
  }
}

void Watch::check_address(Warp& w, const Op& op, const WatchedSite& site) {
  ExactValues& exact = w.block->watch_state()->exact;
  if (exact.empty() || site.address == AddressClass::shared32) return;
  if (site.space != Space::global && site.space != Space::generic) return;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t held = bits_held(w, op.a, k, 8);
    const ExactValue* const v = exact.find(w.rows + op.a, k, held);
    if (v == nullptr || v->signed_pc == kNowhere) continue;
    const std::uint64_t address = held + static_cast<std::uint64_t>(op.imm);
    const Exact meant = v->as_signed + op.imm;
    const std::int32_t there = w.table->find(address, site.bytes());
    const bool is_meant_inside =
        meant > 0 && meant >> 63 == 0 &&
        w.table->find(static_cast<std::uint64_t>(meant), site.bytes()) >= 0;
    if (there >= 0 && !is_meant_inside) continue;
    tell_wrapped(w, site,
                 {.space = Space::global,
                  .lane = k,
                  .address = address,
                  .bytes = site.bytes(),
                  .write = site.kind == SiteKind::store},
                 *v);
  }
}

void Watch::tell_wrapped(Warp& w, const WatchedSite& site, const MemoryTouch& touch,
                         const ExactValue& v) {
  bool fresh = false;
  Finding& f = add({FindingKind::index_wrapped, current_pc_, touch.lane, v.signed_pc}, w, fresh);
  if (!fresh) return;
  const std::int32_t there = w.table->find(touch.address, touch.bytes);
  const Object* const meant = unwrapped(*w.table, touch.address, touch.bytes).object;
  const Object* const o = there >= 0         ? w.objects + there
                          : meant != nullptr ? meant
                                             : w.table->nearest(touch.address);
  f.access_bytes = bytes_of(site.type);
  if (o != nullptr) {
    f.buffer = o->name;
    f.buffer_offset_bytes = static_cast<std::int64_t>(touch.address - o->begin);
  }
  std::string place = there >= 0 ? "" : " outside of all memory,";
  if (o != nullptr)
    place += (there >= 0 ? " of " : " ") + element_text(f) + (there >= 0 ? "" : ",");
  f.message = "Index arithmetic wrapped at line " + std::to_string(f.other_where.line) + ": " +
              exact_text(v.index) + " does not fit 32 bits and became " + std::to_string(v.became) +
              ", the index of the " +
              (site.kind == SiteKind::atomic ? "atomic"
               : touch.write                 ? "write"
                                             : "read") +
              place + " by thread " + text_of(f.thread) + " in block " + text_of(f.block);
}

}  // namespace assay::emulator
