#include "engine/judge/mismatch_pattern.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "engine/judge/elements.h"

namespace assay::judge {
namespace {

using contract::DType;
using Value = std::complex<double>;

constexpr std::uint64_t kFewest = 8;  // mismatches below which a fitted relation proves nothing

bool is_nan(const Value& v) { return std::isnan(v.real()) || std::isnan(v.imag()); }
bool is_finite(const Value& v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); }

Value got_at(const Mismatches& m, std::uint64_t i) { return element_value(m.got, i, m.dtype); }
Value want_at(const Mismatches& m, std::uint64_t i) { return element_value(m.want, i, m.dtype); }

double unit_roundoff(DType dtype) {
  switch (contract::component(dtype)) {
    case DType::float64:
      return 0x1p-52;
    case DType::float32:
      return 0x1p-23;
    case DType::float16:
      return 0x1p-10;
    case DType::bfloat16:
      return 0x1p-7;
    case DType::float8_e4m3fn:
      return 0x1p-3;
    case DType::float8_e5m2:
      return 0x1p-2;
    default:
      return 0;
  }
}

// Whether a relation's prediction accounts for the wrong value: within the tolerance (or a few
// roundings), and much nearer than what was expected there.
bool accounts_for(const Mismatches& m, const Value& prediction, const Value& got,
                  const Value& want) {
  if (!is_finite(prediction) || !is_finite(got)) return false;
  const double residual = std::abs(got - prediction);
  const double scale = std::abs(prediction);
  const double roundings = 4 * unit_roundoff(m.dtype) * scale;
  const double allowed = std::max(m.tolerance.atol + m.tolerance.rtol * scale, roundings);
  if (residual > allowed) return false;
  return !is_finite(want) || residual <= 0.1 * std::abs(got - want);
}

// How many mismatches a claim holds for, of those it speaks about.
struct Share {
  std::uint64_t held = 0;
  std::uint64_t of = 0;
  [[nodiscard]] bool enough() const { return of > 0 && 10 * held >= 9 * of; }
};

// Counts over all mismatches; gives up as soon as nine in ten are out of reach, or most of the
// first hundreds fail. `holds` returns nothing for a mismatch that the claim does not speak about.
template <typename Holds>
Share share_of(const Mismatches& m, Holds holds) {
  Share share;
  const std::uint64_t most_failures = m.mismatches / 10;
  for (std::uint64_t i = 0; i < m.elements(); ++i) {
    if (!m.mismatched[i]) continue;
    const std::optional<bool> verdict = holds(i);
    if (!verdict) continue;
    ++share.of;
    share.held += *verdict ? 1 : 0;
    const std::uint64_t failures = share.of - share.held;
    if (failures > most_failures || (failures > 128 && failures > share.held)) {
      return {.held = 0, .of = share.of};
    }
  }
  return share;
}

std::string stated(const Share& share, const std::string& sentence) {
  if (share.held == share.of) return sentence;
  return sentence + " (" + std::to_string(share.held) + " of " + std::to_string(share.of) +
         " mismatches)";
}

struct ValuePattern {
  enum class Kind { none, poison, nan, zero, other };
  Kind kind = Kind::none;
  Share share{};
  std::string text{};
};

bool holds_poison(const Mismatches& m, std::uint64_t i) {
  const std::size_t size = contract::size_bytes(m.dtype);
  for (std::size_t k = 0; k < size; ++k) {
    const std::uint64_t offset = i * size + k;
    if (m.got[offset] != static_cast<std::byte>(*m.poison >> (8 * (offset % 4)))) return false;
  }
  return true;
}

std::optional<ValuePattern> poison_pattern(const Mismatches& m) {
  if (!m.poison) return std::nullopt;
  const Share share =
      share_of(m, [&](std::uint64_t i) -> std::optional<bool> { return holds_poison(m, i); });
  // One byte may hold the pattern by chance; eight do not.
  if (!share.enough() || (contract::size_bytes(m.dtype) == 1 && share.held < kFewest)) {
    return std::nullopt;
  }
  return ValuePattern{ValuePattern::Kind::poison, share, "never written (poison)"};
}

std::optional<ValuePattern> nan_pattern(const Mismatches& m) {
  const Share share =
      share_of(m, [&](std::uint64_t i) -> std::optional<bool> { return is_nan(got_at(m, i)); });
  if (!share.enough()) return std::nullopt;
  return ValuePattern{ValuePattern::Kind::nan, share, "NaN"};
}

// Every wrong element has one and the same value. Nothing for bool, where wrong means the other
// value.
std::optional<ValuePattern> constant_pattern(const Mismatches& m) {
  if (m.mismatches < 4 || (m.dtype == DType::boolean && m.mismatches < 32)) return std::nullopt;
  const auto first = static_cast<std::uint64_t>(
      std::find(m.mismatched.begin(), m.mismatched.end(), true) - m.mismatched.begin());
  const Value constant = got_at(m, first);
  const Share share =
      share_of(m, [&](std::uint64_t i) -> std::optional<bool> { return got_at(m, i) == constant; });
  if (!share.enough()) return std::nullopt;
  if (constant == Value{0, 0}) {
    return ValuePattern{ValuePattern::Kind::zero, share, "zero at every wrong element"};
  }
  return ValuePattern{
      ValuePattern::Kind::other, share,
      "the constant " + element_text(m.got, first, m.dtype) + " at every wrong element"};
}

// The mismatch whose expected value is the largest finite one: where a factor shows most exactly.
std::optional<std::uint64_t> largest_want(const Mismatches& m) {
  std::optional<std::uint64_t> best;
  double magnitude = 0;
  for (std::uint64_t i = 0; i < m.elements(); ++i) {
    if (!m.mismatched[i]) continue;
    const Value want = want_at(m, i);
    if (!is_finite(want) || !is_finite(got_at(m, i))) continue;
    if (std::abs(want) > magnitude) {
      magnitude = std::abs(want);
      best = i;
    }
  }
  return best;
}

template <typename Predict>
Share relation_share(const Mismatches& m, Predict predict) {
  return share_of(m, [&](std::uint64_t i) -> std::optional<bool> {
    const Value want = want_at(m, i);
    return accounts_for(m, predict(want), got_at(m, i), want);
  });
}

std::optional<ValuePattern> relation_pattern(const Mismatches& m) {
  if (m.mismatches < kFewest) return std::nullopt;
  auto found = [](const Share& share, std::string text) {
    return ValuePattern{ValuePattern::Kind::other, share, std::move(text)};
  };
  if (const Share share = relation_share(m, [](Value want) { return -want; }); share.enough()) {
    return found(share, "sign flipped");
  }
  const auto sample = largest_want(m);
  if (!sample) return std::nullopt;
  const double factor = (got_at(m, *sample) / want_at(m, *sample)).real();
  const Share scaled = relation_share(m, [&](Value want) { return want * factor; });
  if (scaled.enough()) return found(scaled, "constant factor " + number_text(factor));
  const Value offset = got_at(m, *sample) - want_at(m, *sample);
  const Share moved = relation_share(m, [&](Value want) { return want + offset; });
  if (moved.enough() && offset.imag() == 0) {
    return found(moved, "constant offset " + number_text(offset.real()));
  }
  return std::nullopt;
}

// Every wrong element holds the value that belongs at source(i); nothing where that is outside.
template <typename Source>
Share moved_share(const Mismatches& m, Source source) {
  return share_of(m, [&](std::uint64_t i) -> std::optional<bool> {
    const std::optional<std::uint64_t> from = source(i);
    if (!from) return std::nullopt;
    return accounts_for(m, want_at(m, *from), got_at(m, i), want_at(m, i));
  });
}

std::optional<ValuePattern> transposed_pattern(const Mismatches& m) {
  if (m.shape.size() < 2) return std::nullopt;
  const auto rows = static_cast<std::uint64_t>(m.shape[m.shape.size() - 2]);
  const auto columns = static_cast<std::uint64_t>(m.shape[m.shape.size() - 1]);
  if (rows < 2 || columns < 2) return std::nullopt;
  const std::uint64_t matrix = rows * columns;
  // The buffer read as columns × rows holds the expected matrix transposed.
  const Share share = moved_share(m, [&](std::uint64_t i) -> std::optional<std::uint64_t> {
    const std::uint64_t within = i % matrix;
    return i - within + (within % rows) * columns + within / rows;
  });
  if (!share.enough()) return std::nullopt;
  return ValuePattern{ValuePattern::Kind::other, share, "transposed"};
}

std::optional<ValuePattern> shifted_pattern(const Mismatches& m) {
  const auto n = static_cast<std::int64_t>(m.elements());
  const std::int64_t row = m.shape.size() >= 2 ? m.shape.back() : 0;
  std::vector<std::int64_t> shifts{1, -1};
  if (row > 1) shifts.insert(shifts.end(), {row, -row});
  for (std::int64_t k = 2; k <= 32; k = k < 8 ? k + 1 : 2 * k) {
    if (k != row) shifts.insert(shifts.end(), {k, -k});
  }
  for (const std::int64_t shift : shifts) {
    const Share share = moved_share(m, [&](std::uint64_t i) -> std::optional<std::uint64_t> {
      const std::int64_t from = static_cast<std::int64_t>(i) - shift;
      if (from < 0 || from >= n) return std::nullopt;
      return static_cast<std::uint64_t>(from);
    });
    if (!share.enough() || share.of < kFewest) continue;
    const std::string amount = std::to_string(std::abs(shift));
    const std::string direction = shift > 0 ? "later" : "earlier";
    std::string text = row > 1 && std::abs(shift) == row
                           ? "off by one row: each value stands one row " + direction
                           : "shifted by " + amount + ": each value stands " + amount + " element" +
                                 (amount == "1" ? " " : "s ") + direction;
    return ValuePattern{ValuePattern::Kind::other, share, std::move(text)};
  }
  return std::nullopt;
}

// Integers of 64 bits beyond 2^53 are rounded here: what they seem to have in common may not be.
bool are_exact(const Mismatches& m) {
  if (m.dtype != DType::int64 && m.dtype != DType::uint64) return true;
  const auto is_exact = [](const Value& value) { return std::abs(value.real()) < 0x1p53; };
  for (std::uint64_t i = 0; i < m.elements(); ++i) {
    if (m.mismatched[i] && !(is_exact(got_at(m, i)) && is_exact(want_at(m, i)))) return false;
  }
  return true;
}

ValuePattern value_pattern(const Mismatches& m) {
  if (!are_exact(m)) return poison_pattern(m).value_or(ValuePattern{});
  for (const auto& look : {poison_pattern, nan_pattern, constant_pattern}) {
    if (auto found = look(m)) return *std::move(found);
  }
  // Bool has too few values for a relation to mean anything.
  if (m.dtype == DType::boolean || m.mismatches < kFewest) return {};
  for (const auto& look : {relation_pattern, transposed_pattern, shifted_pattern}) {
    if (auto found = look(m)) return *std::move(found);
  }
  return {};
}

bool all_got_zero(const Mismatches& m) {
  for (std::uint64_t i = 0; i < m.elements(); ++i) {
    if (got_at(m, i) != Value{0, 0}) return false;
  }
  return true;
}

}  // namespace

std::string mismatch_pattern(const Mismatches& m) {
  if (m.elements() > kMaxExplainedElements) return "";
  const ValuePattern value = value_pattern(m);
  using Kind = ValuePattern::Kind;
  if (value.kind == Kind::zero && m.mismatches > 1 && all_got_zero(m)) {
    // Where there was poison, zeros are the kernel's own.
    return m.poison ? "all zero: the kernel wrote zeros" : "all zero: output never written";
  }
  const Position position = mismatch_position(m);
  const bool everywhere = position.kind == Position::Kind::everywhere;
  const bool tail = position.kind == Position::Kind::tail;
  if (value.kind == Kind::poison && value.share.held == value.share.of) {
    // An unwritten element of a narrow type may be right by chance: look at the buffer, not at the
    // mismatches.
    std::uint64_t from = m.elements();
    while (from > 0 && holds_poison(m, from - 1)) --from;
    if (from == 0) return "output never written (poison)";
    const auto before = m.mismatched.begin() + static_cast<std::ptrdiff_t>(from);
    if (std::find(m.mismatched.begin(), before, true) == before) {
      return "output never written (poison) from element " + std::to_string(from);
    }
  }
  if (value.kind == Kind::nan && value.share.held == value.share.of && (everywhere || tail)) {
    return everywhere ? "NaN everywhere" : "NaN from element " + std::to_string(position.from);
  }
  std::string text;
  switch (value.kind) {
    case Kind::none:
      break;
    case Kind::poison:
      text = "every wrong element was never written (poison)";
      break;
    case Kind::nan:
      text = "NaN at every wrong element";
      break;
    default:
      text = value.text;
      break;
  }
  if (!text.empty()) text = stated(value.share, text);
  if (!text.empty() && !position.text.empty()) text += "; ";
  return text + position.text;
}

}  // namespace assay::judge
