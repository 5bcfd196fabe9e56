// The comparator on any bits of any dtype, NaN and infinity included, against a decoder and a rule
// that are written here anew.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>

#include "engine/judge/comparison.h"
#include "engine/judge/philox.h"
#include "tests/catch.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using contract::Tolerance;
using Wide = long double;

// How a floating type lays out its bits.
struct Format {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;
  [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

std::optional<Format> format_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::complex128:
      return Format{11, 52};
    case DType::float32:
    case DType::complex64:
      return Format{8, 23};
    case DType::float16:
      return Format{5, 10};
    case DType::bfloat16:
      return Format{8, 7};
    case DType::float8_e4m3fn:
      return Format{4, 3, false};
    case DType::float8_e5m2:
      return Format{5, 2};
    default:
      return std::nullopt;
  }
}

Wide decoded(std::uint64_t bits, const Format& format) {
  const std::uint64_t top = (1ULL << format.exponent_bits) - 1;
  const std::uint64_t exponent = (bits >> format.mantissa_bits) & top;
  const std::uint64_t mantissa = bits & ((1ULL << format.mantissa_bits) - 1);
  const bool negative = (bits >> (format.mantissa_bits + format.exponent_bits)) & 1U;
  const bool all_ones = mantissa == (1ULL << format.mantissa_bits) - 1;
  Wide value = 0;
  if (exponent == top && format.has_infinity) {
    value = mantissa == 0 ? INFINITY : NAN;
  } else if (exponent == top && all_ones) {
    value = NAN;
  } else {
    const std::uint64_t leading = exponent == 0 ? 0 : 1ULL << format.mantissa_bits;
    const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - format.bias();
    value = std::ldexp(static_cast<Wide>(leading + mantissa), power - format.mantissa_bits);
  }
  return negative ? -value : value;
}

// An integer's value in long double, which holds 64 bits.
Wide integer(std::uint64_t bits, DType dtype) {
  const auto width = static_cast<int>(8 * contract::size_bytes(dtype));
  const bool is_negative = contract::is_signed_integer(dtype) && ((bits >> (width - 1)) & 1U) != 0;
  const Wide value = static_cast<Wide>(bits);
  return is_negative ? value - std::ldexp(Wide{1}, width) : value;
}

enum class Answer { right, wrong, close_call };

// A close call is one that the rounding of double may decide either way.
Answer within(Wide difference, Wide allowed) {
  if (std::fabs(difference - allowed) <= 1e-9L * (difference + allowed)) {
    return difference == allowed ? Answer::right : Answer::close_call;
  }
  return difference < allowed ? Answer::right : Answer::wrong;
}

Answer real_answer(Wide got, Wide want, const Tolerance& tolerance) {
  if (std::isnan(want)) return std::isnan(got) ? Answer::right : Answer::wrong;
  if (std::isnan(got)) return Answer::wrong;
  if (std::isinf(want) || std::isinf(got)) return got == want ? Answer::right : Answer::wrong;
  return within(std::fabs(got - want), tolerance.atol + tolerance.rtol * std::fabs(want));
}

Answer complex_answer(const std::array<Wide, 2>& got, const std::array<Wide, 2>& want,
                      const Tolerance& tolerance) {
  const bool is_finite = std::isfinite(got[0]) && std::isfinite(got[1]) && std::isfinite(want[0]) &&
                         std::isfinite(want[1]);
  if (is_finite) {
    return within(std::hypot(got[0] - want[0], got[1] - want[1]),
                  tolerance.atol + tolerance.rtol * std::hypot(want[0], want[1]));
  }
  const Answer real = real_answer(got[0], want[0], tolerance);
  return real == Answer::right ? real_answer(got[1], want[1], tolerance) : real;
}

std::uint64_t bits_at(const std::vector<std::byte>& bytes, std::size_t part, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + part * size, size);
  return bits;
}

Answer answer_of(const std::vector<std::byte>& got, const std::vector<std::byte>& want,
                 std::size_t i, DType dtype, const Tolerance& tolerance) {
  const std::size_t size = contract::size_bytes(contract::component(dtype));
  const auto format = format_of(dtype);
  if (contract::is_complex(dtype)) {
    const auto parts = [&](const std::vector<std::byte>& bytes) {
      return std::array<Wide, 2>{decoded(bits_at(bytes, 2 * i, size), *format),
                                 decoded(bits_at(bytes, 2 * i + 1, size), *format)};
    };
    return complex_answer(parts(got), parts(want), tolerance);
  }
  const auto value = [&](const std::vector<std::byte>& bytes) {
    const std::uint64_t bits = bits_at(bytes, i, size);
    return format ? decoded(bits, *format) : integer(bits, dtype);
  };
  return real_answer(value(got), value(want), tolerance);
}

// Random bits; the second tensor keeps some elements, moves some by a few steps, replaces the rest.
struct Pair {
  std::vector<std::byte> want{};
  std::vector<std::byte> got{};
};

Pair random_pair(DType dtype, std::size_t count, std::uint64_t seed) {
  const std::size_t size = contract::size_bytes(dtype);
  Pair pair{.want = std::vector<std::byte>(count * size), .got = {}};
  for (std::size_t i = 0; i < pair.want.size(); ++i) {
    pair.want[i] = static_cast<std::byte>(philox(seed, i, 7)[0] >> 24);
  }
  const std::size_t part = contract::size_bytes(contract::component(dtype));
  const auto format = format_of(dtype);
  for (std::size_t i = 0; i * part < pair.want.size() && format; ++i) {
    const auto dice = philox(seed, i, 8);
    if (dice[0] % 8 != 0) continue;
    // Random bits are seldom an infinity or a NaN: every eighth has its exponent full.
    std::uint64_t bits = bits_at(pair.want, i, part);
    bits |= ((1ULL << format->exponent_bits) - 1) << format->mantissa_bits;
    if (dice[0] % 16 == 0) bits &= ~((1ULL << format->mantissa_bits) - 1);
    std::memcpy(pair.want.data() + i * part, &bits, part);
  }
  pair.got = pair.want;
  for (std::size_t i = 0; i < count; ++i) {
    const auto dice = philox(seed, i, 9);
    if (dice[0] % 3 == 0) continue;
    std::byte* at = pair.got.data() + i * size;
    if (dice[0] % 3 == 1) {
      *at = static_cast<std::byte>(static_cast<unsigned>(*at) ^ (1U + dice[1] % 3));
    } else {
      std::memcpy(at, pair.want.data() + (dice[1] % count) * size, size);
    }
  }
  return pair;
}

const std::vector<Tolerance> kTolerances{{}, {.atol = 1e-3, .rtol = 0}, {.atol = 2, .rtol = 0.1}};

}  // namespace

TEST_CASE("any bits of any dtype are judged as an independent decoder and rule judge them") {
  constexpr std::size_t kCount = 600;
  std::uint64_t judged = 0;
  std::uint64_t close_calls = 0;
  for (const DType dtype : contract::all_dtypes()) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Tolerance& tolerance = kTolerances[seed % kTolerances.size()];
      INFO(contract::name(dtype) << " seed " << seed);
      const Pair pair = random_pair(dtype, kCount, seed);
      const std::vector<std::int64_t> one{1};
      const std::size_t size = contract::size_bytes(dtype);
      std::uint64_t wrong = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        const Answer answer = answer_of(pair.got, pair.want, i, dtype, tolerance);
        const auto element = [&](const std::vector<std::byte>& bytes) {
          return std::span(bytes).subspan(i * size, size);
        };
        const bool equal =
            compare(element(pair.want), element(pair.got), dtype, one, tolerance).equal;
        wrong += equal ? 0 : 1;
        ++judged;
        close_calls += answer == Answer::close_call ? 1 : 0;
        INFO("element " << i);
        if (answer != Answer::close_call) REQUIRE(equal == (answer == Answer::right));
      }
      const std::vector<std::int64_t> shape{kCount};
      REQUIRE(compare(pair.want, pair.got, dtype, shape, tolerance).mismatches == wrong);
    }
  }
  // Else nothing was proved.
  CHECK(close_calls * 1000 < judged);
}

TEST_CASE("steps between two numbers are counted one by one, in every type small enough") {
  for (const DType dtype :
       {DType::float8_e4m3fn, DType::float8_e5m2, DType::float16, DType::bfloat16}) {
    const Format format = *format_of(dtype);
    const int width = 1 + format.exponent_bits + format.mantissa_bits;
    // The type's finite numbers in order, both zeros one of them.
    std::vector<std::pair<Wide, std::uint64_t>> line;
    for (std::uint64_t bits = 0; bits < 1ULL << width; ++bits) {
      const Wide value = decoded(bits, format);
      const bool is_minus_zero = value == 0 && std::signbit(value);
      if (std::isfinite(value) && !is_minus_zero) line.emplace_back(value, bits);
    }
    std::sort(line.begin(), line.end());
    const std::size_t size = contract::size_bytes(dtype);
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
      const auto dice = philox(seed, 0, 11);
      const std::size_t a = dice[0] % line.size();
      const std::size_t b =
          seed % 2 == 0 ? dice[1] % line.size() : std::min(a + dice[1] % 5, line.size() - 1);
      if (a == b) continue;
      const auto bytes = [&](std::size_t at) {
        return std::as_bytes(std::span(&line[at].second, 1)).subspan(0, size);
      };
      const Comparison result =
          compare(bytes(a), bytes(b), dtype, std::vector<std::int64_t>{1}, {});
      INFO(contract::name(dtype) << " " << a << " " << b);
      REQUIRE(result.worst);
      CHECK(result.worst->ulp_error == (a > b ? a - b : b - a));
      CHECK(result.max_ulp_error == (a > b ? a - b : b - a));
    }
  }
}
