// Every pattern is recognised in every dtype that can show it, and none is seen in noise: fp8,
// narrow integers and bool have few values, so chance gives many of them.
#include <cmath>
#include <cstring>
#include <functional>

#include "engine/judge/comparison.h"
#include "engine/judge/poison.h"
#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using test::bytes_of;

constexpr std::size_t kRows = 32;
constexpr std::size_t kColumns = 48;
constexpr std::size_t kCount = kRows * kColumns;
const std::vector<std::int64_t> kShape{kRows, kColumns};

// Numbers that every numeric dtype holds exactly, that differ by more than any default tolerance,
// and whose negative and double (where there is one) are held too: 1.5 × 2^k and 2^k would be
// within a quarter in float8_e5m2, so only powers of two; odd ones for integers.
double plain_value(DType dtype, std::uint64_t seed, std::size_t i) {
  const auto dice = philox(seed, i, 21);
  if (dtype == DType::boolean) return static_cast<double>(dice[0] % 2);
  const double sign =
      dice[0] % 2 == 0 || (contract::is_integer(dtype) && !contract::is_signed_integer(dtype)) ? 1
                                                                                               : -1;
  if (contract::is_integer(dtype)) return sign * static_cast<double>(1 + dice[1] % 60);
  return sign * std::ldexp(1.0, static_cast<int>(dice[1] % 10) - 4);
}

struct Tensor {
  DType dtype = DType::float32;
  std::vector<double> parts{};  // two for each complex element
  [[nodiscard]] std::size_t width() const { return contract::is_complex(dtype) ? 2 : 1; }
};

Tensor wanted(DType dtype, std::uint64_t seed = 5) {
  Tensor tensor{.dtype = dtype};
  for (std::size_t i = 0; i < kCount * tensor.width(); ++i) {
    tensor.parts.push_back(plain_value(contract::component(dtype), seed, i));
  }
  return tensor;
}

std::string pattern_of(const Tensor& want, const Tensor& got) {
  const Comparison result =
      compare(bytes_of(want.parts, want.dtype), bytes_of(got.parts, got.dtype), want.dtype, kShape,
              default_tolerance(want.dtype).value);
  REQUIRE(!result.equal);
  return result.pattern;
}

// Element `to` of `got` becomes element `from` of `want`.
void copy_element(const Tensor& want, std::size_t from, Tensor& got, std::size_t to) {
  for (std::size_t k = 0; k < want.width(); ++k) {
    got.parts[to * got.width() + k] = want.parts[from * want.width() + k];
  }
}

// Wrong at each chosen element, by no relation to what belongs there.
Tensor spoilt(const Tensor& want, const std::function<bool(std::size_t)>& chosen) {
  Tensor got = want;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (!chosen(i)) continue;
    for (std::size_t k = 0; k < want.width(); ++k) {
      double& part = got.parts[i * want.width() + k];
      const double old = part;
      for (std::uint64_t seed = 100; part == old; ++seed) {
        part = want.dtype == DType::boolean
                   ? 1 - old
                   : plain_value(contract::component(want.dtype), seed, i + k * kCount);
      }
    }
  }
  return got;
}

bool has_values(DType dtype) { return dtype != DType::boolean; }

// What a claim about places begins with; narrow types are right by chance here and there.
bool tells(const std::string& pattern, const std::string& claim) {
  return pattern == claim || pattern.ends_with("; " + claim) || pattern.starts_with(claim + " (");
}

}  // namespace

TEST_CASE("places are named in every dtype") {
  const auto row = [](std::size_t i) { return i / kColumns; };
  const auto column = [](std::size_t i) { return i % kColumns; };
  const std::vector<std::pair<std::string, std::function<bool(std::size_t)>>> planted{
      {"only rows ≥ 30: the tail is not handled", [&](auto i) { return row(i) >= 30; }},
      {"only row 31, the last", [&](auto i) { return row(i) == 31; }},
      {"only elements ≥ 1500: the tail is not handled", [&](auto i) { return i >= 1500; }},
      {"only elements < 100", [&](auto i) { return i < 100; }},
      {"only row 7", [&](auto i) { return row(i) == 7; }},
      {"only rows 3 to 5", [&](auto i) { return row(i) >= 3 && row(i) <= 5; }},
      {"only column 13", [&](auto i) { return column(i) == 13; }},
      {"only columns ≥ 40", [&](auto i) { return column(i) >= 40; }},
      {"every 16th column, from column 15", [&](auto i) { return column(i) % 16 == 15; }},
      {"every 4th row, from row 1", [&](auto i) { return row(i) % 4 == 1; }},
      {"every 7th element, from element 3", [&](auto i) { return i % 7 == 3; }}};
  for (const DType dtype : contract::all_dtypes()) {
    for (const auto& [claim, chosen] : planted) {
      const Tensor want = wanted(dtype);
      const std::string pattern = pattern_of(want, spoilt(want, chosen));
      INFO(contract::name(dtype) << ": " << claim << " was told as: " << pattern);
      CHECK(tells(pattern, claim));
    }
  }
}

TEST_CASE("outputs not written, of zeros and of one constant are named in every dtype") {
  constexpr Secret kSecret{.low = 3, .high = 4};
  for (const DType dtype : contract::all_dtypes()) {
    INFO(contract::name(dtype));
    const Tensor want = wanted(dtype);
    const auto bytes = bytes_of(want.parts, dtype);
    const std::uint32_t word = poison_word(dtype, kSecret, 0);
    std::vector<std::byte> got(bytes.size());
    fill_pattern(got, word);
    const auto tolerance = default_tolerance(dtype).value;
    CHECK(compare(bytes, got, dtype, kShape, tolerance, word).pattern ==
          "output never written (poison)");
    std::copy_n(bytes.begin(), bytes.size() / 2, got.begin());
    CHECK(compare(bytes, got, dtype, kShape, tolerance, word).pattern ==
          "output never written (poison) from element 768");

    Tensor zeros = want;
    zeros.parts.assign(zeros.parts.size(), 0);
    CHECK(pattern_of(want, zeros) == "all zero: output never written");
    if (!has_values(dtype)) continue;
    Tensor constant = want;
    for (std::size_t i = 0; i < constant.parts.size(); ++i) {
      constant.parts[i] = i % constant.width() == 0 ? 96 : 0;
    }
    CHECK(pattern_of(want, constant) == (contract::is_complex(dtype)
                                             ? "the constant 96+0i at every wrong element"
                                             : "the constant 96 at every wrong element"));
  }
}

TEST_CASE("NaN is named in every dtype that has one") {
  for (const DType dtype : contract::all_dtypes()) {
    if (!contract::is_floating(dtype) && !contract::is_complex(dtype)) continue;
    INFO(contract::name(dtype));
    const Tensor want = wanted(dtype);
    Tensor got = want;
    got.parts.assign(got.parts.size(), std::nan(""));
    CHECK(pattern_of(want, got) == "NaN everywhere");
    for (std::size_t i = 0; i < 1000; ++i) copy_element(want, i, got, i);
    CHECK(pattern_of(want, got) == "NaN from element 1000");
  }
}

TEST_CASE("a flipped sign and a factor are named in every dtype that can show them") {
  for (const DType dtype : contract::all_dtypes()) {
    INFO(contract::name(dtype));
    const Tensor want = wanted(dtype);
    const bool is_unsigned = contract::is_integer(dtype) && !contract::is_signed_integer(dtype);
    Tensor got = want;
    if (has_values(dtype) && !is_unsigned) {
      for (double& part : got.parts) part = -part;
      CHECK(pattern_of(want, got) == "sign flipped");
    }
    got = want;
    if (has_values(dtype)) {
      for (double& part : got.parts) part = 2 * part;
      CHECK(pattern_of(want, got) == "constant factor 2");
    }
  }
}

TEST_CASE("moved values are named in every dtype with values to tell apart") {
  for (const DType dtype : contract::all_dtypes()) {
    if (!has_values(dtype)) continue;
    const Tensor want = wanted(dtype);
    const auto moved = [&](const std::function<std::ptrdiff_t(std::ptrdiff_t)>& source) {
      Tensor got = want;
      for (std::ptrdiff_t i = 0; i < std::ptrdiff_t{kCount}; ++i) {
        const std::ptrdiff_t from = source(i);
        if (from < 0 || from >= std::ptrdiff_t{kCount}) continue;
        copy_element(want, static_cast<std::size_t>(from), got, static_cast<std::size_t>(i));
      }
      return pattern_of(want, got);
    };
    INFO(contract::name(dtype));
    CHECK(moved([](std::ptrdiff_t i) {
            return i % std::ptrdiff_t{kRows} * std::ptrdiff_t{kColumns} + i / std::ptrdiff_t{kRows};
          }) == "transposed");
    CHECK(moved([](std::ptrdiff_t i) {
            return i - 1;
          }).starts_with("shifted by 1: each value stands 1 element later"));
    CHECK(moved([](std::ptrdiff_t i) {
            return i + 2;
          }).starts_with("shifted by 2: each value stands 2 elements earlier"));
    CHECK(moved([](std::ptrdiff_t i) {
            return i - std::ptrdiff_t{kColumns};
          }).starts_with("off by one row: each value stands one row later"));
  }
}

TEST_CASE("noise is explained in no dtype") {
  std::uint64_t cases = 0;
  for (const DType dtype : contract::all_dtypes()) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Tensor want = wanted(dtype, seed + 1000);
      const std::uint64_t among = seed % 3 == 0 ? 100 : seed % 3 == 1 ? 10 : 2;
      const Tensor got =
          spoilt(want, [&](std::size_t i) { return philox(seed, i, 22)[0] % among == 0; });
      if (got.parts == want.parts) continue;
      ++cases;
      INFO(contract::name(dtype) << " seed " << seed);
      CHECK(pattern_of(want, got) == "");
    }
  }
  CHECK(cases > 1000);
}
