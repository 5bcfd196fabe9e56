// What a watch makes of numbers: divisions by zero, the first NaN and the first infinity.
#include <algorithm>
#include <array>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

void Watch::check_division(Warp& w, const Op& op, const WatchedSite& site) {
  const unsigned bytes = bytes_of(site.type);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::uint64_t divisor = 0;
    std::memcpy(&divisor, w.rows + op.b + k * bytes, bytes);
    if (divisor != 0) continue;
    bool fresh = false;
    Finding& f = add({FindingKind::division_by_zero, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = "Integer division by zero by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

namespace {

enum class Nature : std::uint8_t { finite, infinite, nan };

template <class Bits>
Nature nature_of(Bits bits, unsigned fraction_bits) {
  const unsigned exponent_bits = sizeof(Bits) * 8 - 1 - fraction_bits;
  const Bits fraction = bits & ((Bits{1} << fraction_bits) - 1);
  const Bits largest = (Bits{1} << exponent_bits) - 1;
  if ((bits >> fraction_bits & largest) != largest) return Nature::finite;
  return fraction == 0 ? Nature::infinite : Nature::nan;
}

template <class Bits>
Bits bits_at(const Warp& w, std::uint32_t row, unsigned lane) {
  Bits bits = 0;
  std::memcpy(&bits, w.rows + row + lane * sizeof bits, sizeof bits);
  return bits;
}

// Of a pair the worse one; an integer is finite.
Nature nature_at(const Warp& w, std::uint32_t row, unsigned lane, Type type) {
  const auto pair = [&](unsigned fraction_bits) {
    const auto bits = bits_at<std::uint32_t>(w, row, lane);
    return std::max(nature_of<std::uint32_t>((bits & 0xFFFFU) << 16, fraction_bits + 16),
                    nature_of<std::uint32_t>(bits & 0xFFFF'0000U, fraction_bits + 16));
  };
  const auto half = [&](unsigned fraction_bits) {
    const std::uint32_t bits = bits_at<std::uint16_t>(w, row, lane);
    return nature_of<std::uint32_t>(bits << 16, fraction_bits + 16);
  };
  switch (type) {
    case Type::f64:
      return nature_of(bits_at<std::uint64_t>(w, row, lane), 52);
    case Type::f32:
      return nature_of(bits_at<std::uint32_t>(w, row, lane), 23);
    case Type::f16:
      return half(10);
    case Type::bf16:
      return half(7);
    case Type::f16x2:
      return pair(10);
    case Type::bf16x2:
      return pair(7);
    default:
      return Nature::finite;
  }
}

}  // namespace

void Watch::note_sources(Warp& w, const Op& op, const WatchedSite& site) {
  finite_sources_ = 0;
  const std::array<std::uint32_t, 3> rows{op.a, op.b, op.c};
  const Type type = site.from != Type::none ? site.from : site.type;
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    bool finite = true;
    for (unsigned i = 0; i < site.elements; ++i) {
      finite = finite && nature_at(w, rows[i], k, type) == Nature::finite;
    }
    finite_sources_ |= static_cast<std::uint32_t>(finite) << k;
  }
}

void Watch::check_result(Warp& w, const Op& op, const WatchedSite& site) {
  for (std::uint32_t m = w.active & finite_sources_; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const Nature nature = nature_at(w, op.d, k, site.type);
    if (nature != Nature::finite) tell_number(w, k, nature == Nature::nan);
  }
}

void Watch::tell_number(Warp& w, unsigned lane, bool is_nan) {
  // Only the first of each kind: the rest follows from it.
  bool& seen = is_nan ? seen_nan_ : seen_infinity_;
  const FindingKind kind = is_nan ? FindingKind::not_a_number : FindingKind::infinity;
  if (seen && (findings_.empty() || !is_known({kind, current_pc_, lane, current_pc_}))) return;
  seen = true;
  bool fresh = false;
  Finding& f = add({kind, current_pc_, lane, current_pc_}, w, fresh);
  if (!fresh) return;
  f.message = std::string(is_nan ? "First NaN" : "First infinity") +
              " made of finite numbers by thread " + text_of(f.thread) + " in block " +
              text_of(f.block);
}

}  // namespace assay::emulator
