// What a watch makes of numbers: divisions by zero, and which instruction makes the first NaN and
// the first infinity that gets to memory or decides. One that is made and taken back is nobody's
// business: the exponential in a sigmoid, a quotient that is thrown away.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/number_natures.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

template <class T>
bool are_finite(const std::byte* row, unsigned count, T exponent) {
  T found = 0;
  for (unsigned i = 0; i < count; ++i) {
    T bits = 0;
    std::memcpy(&bits, row + i * sizeof bits, sizeof bits);
    found = static_cast<T>(found | static_cast<T>((bits & exponent) == exponent));
  }
  return found == 0;
}

// Whether all lanes' are, those that are not active too: mostly so, and seen at once.
bool is_finite_row(const Warp& w, std::uint32_t row, Type type) {
  const std::byte* const p = w.rows + row;
  switch (type) {
    case Type::f64:
      return are_finite<std::uint64_t>(p, 32, 0x7FF0'0000'0000'0000);
    case Type::f32:
      return are_finite<std::uint32_t>(p, 32, 0x7F80'0000);
    case Type::f16:
    case Type::f16x2:
      return are_finite<std::uint16_t>(p, type == Type::f16 ? 32 : 64, 0x7C00);
    case Type::bf16:
    case Type::bf16x2:
      return are_finite<std::uint16_t>(p, type == Type::bf16 ? 32 : 64, 0x7F80);
    default:
      return true;
  }
}

// Neither a value that is followed nor a constant that is none. The same before and after.
bool copies_nothing(const Warp& w, const NumberOrigins& origins, const Op& op,
                    const WatchedSite& site) {
  if (!origins.empty()) return false;
  const bool a = (site.constants & 1U) == 0 || is_finite_row(w, op.a, site.type);
  const bool b = (site.constants & 2U) == 0 || is_finite_row(w, op.b, site.type);
  return a && b;
}

}  // namespace

void Watch::check_division(Warp& w, const Op& op, const WatchedSite& site) {
  const unsigned bytes = bytes_of(site.type);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    if (bits_held(w, op.b, k, bytes) != 0) continue;
    bool fresh = false;
    Finding& f = add({FindingKind::division_by_zero, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = "Integer division by zero by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

// A constant that a library's function answers with, told by what stands beside it: log(0) takes
// its infinity past x * inf + inf, pow()'s result leaves the range of its exponent at 152.
bool Watch::answers_for_a_function(std::uint32_t pc) {
  const auto [at, fresh] = answering_.try_emplace(pc, false);
  if (!fresh) return at->second;
  const Module::Text& text = launch_.text;
  constexpr std::uint32_t kBeside = 10;
  const std::uint32_t begin = pc > kBeside ? pc - kBeside : 0;
  const auto end = std::min<std::uint32_t>(pc + kBeside, static_cast<std::uint32_t>(code_.size()));
  for (std::uint32_t i = begin; i < end && !at->second; ++i) {
    const std::string beside = text.instruction_at(i);
    const std::size_t last = beside.rfind(", ");
    const std::size_t second =
        last == 0 || last == std::string::npos ? std::string::npos : beside.rfind(", ", last - 1);
    const bool multiplies = beside.starts_with("fma.rn.f") && second != std::string::npos &&
                            beside.substr(second + 2, last - second - 2) == beside.substr(last + 2);
    at->second = multiplies || beside.find("0f43180000") != std::string::npos;
  }
  return at->second;
}

// What a copy, a choice or a constant brings.
void Watch::note_copies(Warp& w, const Op& op, const WatchedSite& site) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  if (copies_nothing(w, origins, op, site)) return;
  const std::array<std::uint32_t, 2> rows{op.a, op.b};
  for (unsigned i = 0; i < 2; ++i) {
    const bool is_constant = (site.constants >> i & 1U) != 0;
    for (std::uint32_t m = i < site.elements ? w.active : 0; m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      CopiedNumber& c = copied_[i].at(k);
      c = {.held = bits_held(w, rows[i], k, site.row_bytes)};
      if (!is_constant) {
        if (!origins.empty()) c.origin = origins.find(w.rows + rows[i], k, c.held);
        continue;
      }
      const Nature nature = nature_of(c.held, site.type);
      const bool is_answer =
          nature == Nature::nan ||
          (nature == Nature::infinite && site.elements == 2 && answers_for_a_function(current_pc_));
      if (is_answer) c.origin = {.pc = current_pc_, .is_nan = nature == Nature::nan};
    }
  }
}

void Watch::copy_origins(Warp& w, const Op& op, const WatchedSite& site) {
  NumberOrigins& origins = w.block->watch_state()->numbers;
  if (copies_nothing(w, origins, op, site)) return;
  std::uint32_t others = w.active;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t held = bits_held(w, op.d, k, site.row_bytes);
    for (unsigned i = 0; i < site.elements; ++i) {
      const CopiedNumber& c = copied_[i].at(k);
      if (!c.origin.is_known() || c.held != held) continue;
      origins.set(w.rows + op.d, k, held, c.origin);
      others &= ~(1U << k);
      break;
    }
  }
  if (others != 0 && !origins.empty()) origins.forget(w.rows + op.d, others);
}

void Watch::note_sources(Warp& w, const Op& op, const WatchedSite& site) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  const std::array<std::uint32_t, 3> rows{op.a, op.b, op.c};
  const Type type = site.from != Type::none ? site.from : site.type;
  bool are_finite = true;
  for (unsigned i = 0; i < site.elements; ++i) {
    are_finite = are_finite && is_finite_row(w, rows[i], type);
  }
  if (are_finite) {
    sources_.fill({});
    return;
  }
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    NumberSources& s = sources_.at(k);
    s = {};
    for (unsigned i = 0; i < site.elements; ++i) {
      const std::uint64_t held = bits_held(w, rows[i], k, bytes_of(type));
      s.add(nature_of(held, type), origins, w.rows + rows[i], k, held);
    }
  }
}

void Watch::check_result(Warp& w, const Op& op, const WatchedSite& site) {
  NumberOrigins& origins = w.block->watch_state()->numbers;
  if (is_finite_row(w, op.d, site.type)) {
    if (!origins.empty()) origins.forget(w.rows + op.d, w.active);
    return;
  }
  std::uint32_t unknown = 0;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const std::uint64_t held = bits_held(w, op.d, k, bytes_of(site.type));
    const Nature nature = nature_of(held, site.type);
    const NumberOrigin origin = sources_.at(k).result(nature, current_pc_);
    const bool is_pair = site.type == Type::f16x2 || site.type == Type::bf16x2;
    if (is_pair && origin.pc == current_pc_) {
      tell_number(w, k, origin);  // what becomes of its halves is not followed
    } else if (origin.is_known() && !is_pair && !is_told(origin)) {
      origins.set(w.rows + op.d, k, held, origin);
      continue;
    }
    unknown |= 1U << k;
  }
  if (unknown != 0 && !origins.empty()) origins.forget(w.rows + op.d, unknown);
}

void Watch::tell_number(Warp& w, unsigned lane, NumberOrigin origin, bool decides) {
  // Only the first of each kind: the rest follows from it.
  bool& seen = origin.is_nan ? seen_nan_ : seen_infinity_;
  const FindingKind kind = origin.is_nan ? FindingKind::not_a_number : FindingKind::infinity;
  if (seen && !is_known({kind, origin.pc, lane, current_pc_})) return;
  seen = true;
  bool fresh = false;
  Finding& f = add({kind, origin.pc, lane, current_pc_}, w, fresh);
  if (!fresh) return;
  f.message = std::string(origin.is_nan ? "First NaN" : "First infinity") + " made of " +
              (origin.of_infinities ? "numbers" : "finite numbers") + " by thread " +
              text_of(f.thread) + " in block " + text_of(f.block);
  if (f.other_where.line > 0 && f.other_where.line != f.where.line) {
    f.message +=
        decides ? ", which a comparison decides by at line " : ", which gets to memory at line ";
    f.message += std::to_string(f.other_where.line);
  } else if (decides) {
    f.message += ", which a comparison decides by";
  }
}

}  // namespace assay::emulator
