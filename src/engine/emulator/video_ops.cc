#include "engine/emulator/video_ops.h"

#include <algorithm>

#include "engine/emulator/exact_values.h"
#include "engine/emulator/warp.h"

namespace assay::emulator {
namespace {

using U32 = std::uint32_t;

U32* row(Warp& w, U32 offset) { return reinterpret_cast<U32*>(w.rows + offset); }

// The lowest `bits` of v as a number.
std::int64_t widened(U32 v, unsigned bits, bool is_signed) {
  const U32 low = bits == 32 ? v : v & ((1U << bits) - 1);
  const bool negative = is_signed && (low >> (bits - 1) & 1U) != 0;
  return negative ? std::int64_t{low} - (std::int64_t{1} << bits) : std::int64_t{low};
}

std::int64_t part_of(U32 v, unsigned part, bool is_signed) {
  return widened(v >> (part >> 8), part & 0xFFU, is_signed);
}

std::int64_t clamped(std::int64_t v, unsigned bits, bool is_signed) {
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  return std::clamp(v, low, low + (std::int64_t{1} << bits) - 1);
}

// Further up than a word all that is left of a number is its sign and zeros.
std::int64_t shifted_left(std::int64_t v, unsigned by) {
  constexpr auto kBeyond = std::int64_t{1} << 62;
  if (by < 30) return v * (std::int64_t{1} << by);
  if (v == 0) return 0;
  const Exact whole = static_cast<Exact>(v) << by;
  if (whole < kBeyond && whole > -kBeyond) return static_cast<std::int64_t>(whole);
  const std::int64_t low = static_cast<std::int64_t>(whole & 0xFFFF'FFFF);
  return v < 0 ? low - kBeyond : low + kBeyond;
}

bool holds(VideoCompare what, std::int64_t a, std::int64_t b) {
  switch (what) {
    case VideoCompare::equal:
      return a == b;
    case VideoCompare::not_equal:
      return a != b;
    case VideoCompare::less:
      return a < b;
    case VideoCompare::at_most:
      return a <= b;
    case VideoCompare::greater:
      return a > b;
    case VideoCompare::at_least:
      break;
  }
  return a >= b;
}

std::int64_t combine(const VideoForm& f, std::int64_t a, std::int64_t b) {
  switch (f.operation) {
    case VideoOperation::add:
      return a + b;
    case VideoOperation::subtract:
      return a - b;
    case VideoOperation::average:  // halves are rounded away from zero
      return a + b >= 0 ? (a + b + 1) >> 1 : (a + b) >> 1;
    case VideoOperation::distance:
      return a < b ? b - a : a - b;
    case VideoOperation::minimum:
      return std::min(a, b);
    case VideoOperation::maximum:
      return std::max(a, b);
    case VideoOperation::shift_left:
    case VideoOperation::shift_right: {
      const auto wide = static_cast<U32>(b);
      const U32 by = (f.flags & kWrapShift) != 0 ? wide & 31U : std::min(wide, 32U);
      return f.operation == VideoOperation::shift_left ? shifted_left(a, by) : a >> by;
    }
    case VideoOperation::compare:
      return holds(static_cast<VideoCompare>(f.detail), a, b) ? 1 : 0;
    case VideoOperation::multiply_add:
      break;
  }
  return 0;
}

// a * b + c, scaled down. Signed as soon as anything in it is.
U32 multiply_add(const VideoForm& f, std::int64_t a, std::int64_t b, U32 c_bits) {
  const bool is_signed = (f.flags & (kSignedA | kSignedB | kMinusProduct | kMinusC)) != 0;
  const std::int64_t c = widened(c_bits, 32, is_signed);
  Exact sum = static_cast<Exact>(a) * b;
  if ((f.flags & kMinusProduct) != 0) sum = -sum;
  sum += (f.flags & kMinusC) != 0 ? -c : c;
  if ((f.flags & kPlusOne) != 0) sum += 1;
  sum >>= f.detail;
  if ((f.flags & kSaturate) != 0) {
    const Exact low = is_signed ? -(Exact{1} << 31) : 0;
    sum = std::clamp(sum, low, low + 0xFFFF'FFFF);
  }
  return static_cast<U32>(sum);
}

std::int64_t with_c(VideoSecond second, std::int64_t v, std::int64_t c) {
  switch (second) {
    case VideoSecond::add:
      return v + c;
    case VideoSecond::minimum:
      return std::min(v, c);
    case VideoSecond::maximum:
      return std::max(v, c);
    case VideoSecond::none:
      break;
  }
  return v;
}

U32 word(const VideoForm& f, U32 written, U32 a, U32 b, U32 c) {
  const std::int64_t x = part_of(a, f.a_select, (f.flags & kSignedA) != 0);
  const std::int64_t y = part_of(b, f.b_select, (f.flags & kSignedB) != 0);
  if (f.operation == VideoOperation::multiply_add) return multiply_add(f, x, y, c);
  const bool is_signed = (f.flags & kSignedResult) != 0;
  const unsigned bits = written & 0xFFU;
  std::int64_t v = combine(f, x, y);
  if ((f.flags & kSaturate) != 0) v = clamped(v, bits, is_signed);
  v = with_c(f.second, v, widened(c, 32, is_signed));
  if (bits == 32) return static_cast<U32>(v);
  const U32 mask = ((1U << bits) - 1) << (written >> 8);
  return (static_cast<U32>(v) << (written >> 8) & mask) | (c & ~mask);
}

U32 parts(const VideoForm& f, U32 shape, U32 a, U32 b, U32 c) {
  const unsigned bits = shape & 0xFFU;
  const bool is_signed = (f.flags & kSignedResult) != 0;
  const std::uint64_t pair = std::uint64_t{b} << 32 | a;
  U32 packed = 0;
  U32 sum = c;
  for (unsigned i = 0; i < 32 / bits; ++i) {
    const U32 x = static_cast<U32>(pair >> ((f.a_select >> 4 * i & 7U) * bits));
    const U32 y = static_cast<U32>(pair >> ((f.b_select >> 4 * i & 7U) * bits));
    std::int64_t v = combine(f, widened(x, bits, (f.flags & kSignedA) != 0),
                             widened(y, bits, (f.flags & kSignedB) != 0));
    if ((f.flags & kSaturate) != 0) v = clamped(v, bits, is_signed);
    const bool chosen = (shape >> 8 >> i & 1U) != 0;
    if (chosen) sum += static_cast<U32>(v);
    const U32 part = chosen ? static_cast<U32>(v) : c >> (i * bits);
    packed |= (part & ((1U << bits) - 1)) << (i * bits);
  }
  return f.second == VideoSecond::add ? sum : packed;
}

template <auto F>
void each_lane(Warp& w, const Op& op) {
  const auto f = std::bit_cast<VideoForm>(op.imm);
  for (U32 m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const U32 c = op.c == kNowhere ? 0 : row(w, op.c)[k];
    row(w, op.d)[k] = F(f, op.aux, row(w, op.a)[k], row(w, op.b)[k], c);
  }
}

}  // namespace

void op_video_word(Warp& w, const Op& op) { each_lane<word>(w, op); }
void op_video_parts(Warp& w, const Op& op) { each_lane<parts>(w, op); }

}  // namespace assay::emulator
