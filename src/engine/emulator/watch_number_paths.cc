// The ways of a NaN or an infinity out of the registers it was made in: to memory, where it is
// told, to local memory and back, to other lanes, through products of matrices and atomics.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/number_natures.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

bool is_local(Space space, std::uint64_t address) {
  return space == Space::local ||
         (space == Space::generic && address - kLocalWindow < kWindowBytes);
}

// Of an address that a lane sees in its local memory, of this element.
std::uint64_t local_key(const Warp& w, unsigned lane, std::uint64_t address, unsigned offset) {
  const std::uint64_t at = (address & (kWindowBytes - 1)) + offset;
  return std::uint64_t{w.index} << 48 | std::uint64_t{lane} << 40 | (at & 0xFF'FFFF'FFFF);
}

bool is_number(Type t) { return is_float(t) || t == Type::f16x2 || t == Type::bf16x2; }

// Bits as they are, not a conversion of integers.
bool is_copy(const WatchedSite& site) {
  return site.step == IndexStep::copy && bytes_of(site.type) == site.row_bytes;
}

Type type_of(Element e) {
  switch (e) {
    case Element::f16:
      return Type::f16x2;
    case Element::bf16:
      return Type::bf16x2;
    case Element::tf32:
    case Element::f32:
      return Type::f32;
    case Element::f64:
      return Type::f64;
    default:
      return Type::none;
  }
}

}  // namespace

void Watch::check_stored(Warp& w, const Op& op, const WatchedSite& site) {
  NumberOrigins& origins = w.block->watch_state()->numbers;
  if (origins.empty() && !origins.has_local()) return;
  const std::array<std::uint32_t, 4> rows{op.d, op.b, op.c, op.e};
  const bool narrow = site.address == AddressClass::shared32;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t address =
        bits_held(w, op.a, k, narrow ? 4 : 8) + static_cast<std::uint64_t>(op.imm);
    for (unsigned i = 0; i < site.elements; ++i) {
      const std::uint64_t held = bits_held(w, rows[i], k, site.row_bytes);
      const NumberOrigin origin = origins.find(w.rows + rows[i], k, held);
      if (!narrow && is_local(site.space, address)) {
        origins.put_in_local(local_key(w, k, address, i * bytes_of(site.type)), held, origin);
      } else if (origin.is_known()) {
        tell_number(w, k, origin);
      }
    }
  }
}

// An atomic's operands: what is added, what is swapped in.
void Watch::check_swapped_in(Warp& w, const Op& op, const WatchedSite& site) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  if (origins.empty() || is_at_mbarrier()) return;
  for (const std::uint32_t row : {op.b, op.c}) {
    for (std::uint32_t m = row != kNowhere ? w.active : 0; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t held = bits_held(w, row, k, bytes_of(site.type));
      const NumberOrigin origin = origins.find(w.rows + row, k, held);
      if (origin.is_known()) tell_number(w, k, origin);
    }
  }
}

// A load may write the register that its address comes from.
void Watch::note_local_addresses(Warp& w, const Op& op, const WatchedSite& site) {
  if (!w.block->watch_state()->numbers.has_local()) return;
  if (site.address == AddressClass::shared32) return;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    number_addresses_[k] = bits_held(w, op.a, k, 8) + static_cast<std::uint64_t>(op.imm);
  }
}

// What the loaded rows held before is gone.
void Watch::note_loaded(Warp& w, const Op& op, const WatchedSite& site) {
  NumberOrigins& origins = w.block->watch_state()->numbers;
  if (origins.empty() && !origins.has_local()) return;
  const std::array<std::uint32_t, 4> rows{op.d, op.b, op.c, op.e};
  for (unsigned i = 0; i < site.elements; ++i) {
    if (!origins.empty()) origins.forget(w.rows + rows[i], w.active);
    if (!origins.has_local() || site.address == AddressClass::shared32) continue;
    for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      if (!is_local(site.space, number_addresses_[k])) continue;
      const std::uint64_t held = bits_held(w, rows[i], k, site.row_bytes);
      const std::uint64_t key = local_key(w, k, number_addresses_[k], i * bytes_of(site.type));
      const NumberOrigin origin = origins.in_local(key, held);
      if (origin.is_known()) origins.set(w.rows + rows[i], k, held, origin);
    }
  }
}

// `before`: what each lane had; `from`: whose each has now.
void Watch::shuffled(Warp& w, const Op& op, const std::array<std::uint32_t, 32>& before,
                     const std::array<std::uint8_t, 32>& from) {
  shuffle_doubts(w, op, from);
  if (!wanted_.numbers || w.block->watch_state() == nullptr) return;
  w.block->watch_state()->exact.carry(w.rows + op.a, w.rows + op.d, w.active, before, from);
  NumberOrigins& origins = w.block->watch_state()->numbers;
  if (origins.empty()) return;
  std::array<NumberOrigin, 32> brought{};
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    brought[k] = origins.find(w.rows + op.a, from[k], before[from[k]]);
  }
  origins.forget(w.rows + op.d, w.active);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t held = bits_held(w, op.d, k, 4);
    if (brought[k].is_known() && held == before[from[k]]) {
      origins.set(w.rows + op.d, k, held, brought[k]);
    }
  }
}

// One verdict for all elements: every one of the result is made of many.
void Watch::note_product(Warp& w, const Op& op) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  const MatrixProduct& p = launch_.text.products[op.aux];
  NumberSources& all = sources_[0];
  all = {};
  for (const Fragment* const f : {&p.a, &p.b, &p.c}) {
    const Type type = type_of(f->element);
    if (type == Type::none) continue;
    for (const std::uint32_t row : f->rows) {
      for (unsigned k = 0; k < 32; ++k) {
        const std::uint64_t held = bits_held(w, row, k, f->register_bytes());
        all.add(nature_of(held, type), origins, w.rows + row, k, held);
      }
    }
  }
}

void Watch::check_product(Warp& w, const Op& op) {
  if (w.active != kAllLanes) return;  // it waits for the rest of the warp
  NumberOrigins& origins = w.block->watch_state()->numbers;
  const Fragment& d = launch_.text.products[op.aux].d;
  const Type type = type_of(d.element);
  if (type == Type::none) return;
  for (const std::uint32_t row : d.rows) {
    if (!origins.empty()) origins.forget(w.rows + row, kAllLanes);
    for (unsigned k = 0; k < 32; ++k) {
      const std::uint64_t held = bits_held(w, row, k, d.register_bytes());
      const NumberOrigin origin = sources_[0].result(nature_of(held, type), current_pc_);
      if (origin.is_known()) origins.set(w.rows + row, k, held, origin);
    }
  }
}

void Watch::check_stored_matrix(Warp& w, const Op& op) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  const std::string text = origins.empty() ? "" : launch_.text.instruction_at(current_pc_);
  if (text.find("wmma.store") == std::string::npos) return;
  const Fragment& stored = launch_.text.transfers[op.aux].fragment;
  for (const std::uint32_t row : stored.rows) {
    for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const std::uint64_t held = bits_held(w, row, k, stored.register_bytes());
      const NumberOrigin origin = origins.find(w.rows + row, k, held);
      if (origin.is_known()) tell_number(w, k, origin);
    }
  }
}

// A sum in memory leaves the range without any register showing it.
void Watch::look_at_sums(Warp& w, const Op& op, const WatchedSite& site, bool is_before) {
  const unsigned bytes = bytes_of(site.type);
  if (is_before) finite_sums_ = 0;
  for (std::uint32_t m = is_before ? w.active : w.active & finite_sums_; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    if (is_before)
      number_addresses_[k] = bits_held(w, op.a, k, 8) + static_cast<std::uint64_t>(op.imm);
    const std::byte* const p = host_address(w, site.space, k, number_addresses_[k], bytes, true);
    if (p == nullptr) continue;
    std::uint64_t held = 0;
    std::memcpy(&held, p, bytes);
    const Nature nature = nature_of(held, site.type);
    if (is_before) {
      const bool was_finite = nature == Nature::finite &&
                              nature_of(bits_held(w, op.b, k, bytes), site.type) == Nature::finite;
      finite_sums_ |= static_cast<std::uint32_t>(was_finite) << k;
    } else if (nature != Nature::finite) {
      tell_number(w, k, {.pc = current_pc_, .is_nan = nature == Nature::nan});
      return;
    }
  }
}

void Watch::numbers_before(Warp& w, const Op& op, const WatchedSite& site) {
  switch (site.kind) {
    case SiteKind::load:
      return note_local_addresses(w, op, site);
    case SiteKind::store:
      return check_stored(w, op, site);
    case SiteKind::atomic:
      if (is_number(site.type)) look_at_sums(w, op, site, true);
      return check_swapped_in(w, op, site);
    case SiteKind::other_access:
      return check_stored_matrix(w, op);
    case SiteKind::number:
      return is_copy(site) ? note_copies(w, op, site) : note_sources(w, op, site);
    case SiteKind::index:
      if (is_copy(site)) note_copies(w, op, site);
      return;
    case SiteKind::product:
      return note_product(w, op);
    default:
      return;
  }
}

void Watch::numbers_after(Warp& w, const Op& op, const WatchedSite& site) {
  switch (site.kind) {
    case SiteKind::load:
      return note_loaded(w, op, site);
    case SiteKind::atomic:
      if (is_number(site.type)) look_at_sums(w, op, site, false);
      return;
    case SiteKind::number:
      return is_copy(site) ? copy_origins(w, op, site) : check_result(w, op, site);
    case SiteKind::index:
      if (is_copy(site)) copy_origins(w, op, site);
      return;
    case SiteKind::product:
      return check_product(w, op);
    case SiteKind::comparison:
      return check_comparison(w, op, site);
    default:
      return;
  }
}

}  // namespace assay::emulator
