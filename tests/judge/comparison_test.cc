// The comparator's verdict and figures, against a plain computation in long double.
#include "engine/judge/comparison.h"

#include <chrono>
#include <cmath>
#include <complex>
#include <limits>

#include "engine/judge/strided.h"
#include "engine/judge/weak_oracle.h"
#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using contract::Tolerance;
using test::bytes_of;
using test::noise;

constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Comparison compared(const std::vector<double>& want, const std::vector<double>& got, DType dtype,
                    Tolerance tolerance = {}) {
  const std::size_t parts = contract::is_complex(dtype) ? 2 : 1;
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(want.size() / parts)};
  return compare(bytes_of(want, dtype), bytes_of(got, dtype), dtype, shape, tolerance);
}

// As read back from the bytes.
double stored(double value, DType dtype) {
  return contract::is_floating(dtype) ? from_bits(to_bits(value, dtype), dtype) : value;
}

}  // namespace

TEST_CASE("verdict, count, worst and maxima agree with a plain computation, in every real dtype") {
  for (const DType dtype : contract::all_dtypes()) {
    if (contract::is_complex(dtype) || dtype == DType::boolean) continue;
    const bool integer = contract::is_integer(dtype);
    const bool is_unsigned = integer && !contract::is_signed_integer(dtype);
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      INFO(contract::name(dtype) << " seed " << seed);
      auto want = noise(500, seed, 50);
      auto got = want;
      const auto error = noise(500, seed + 100, 1);
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (is_unsigned) want[i] = std::fabs(want[i]);
        got[i] = want[i] + error[i] * (i % 7 == 0 ? 8 : 0.01) * (1 + std::fabs(want[i]) / 50);
        if (is_unsigned) got[i] = std::fabs(got[i]);
        if (integer) {
          want[i] = std::trunc(want[i]);
          got[i] = std::trunc(got[i]);
        }
      }
      const Tolerance tolerance =
          integer && seed % 2 == 0 ? Tolerance{} : Tolerance{.atol = 0.5, .rtol = 0.01};
      const Comparison result = compared(want, got, dtype, tolerance);

      std::uint64_t mismatches = 0;
      long double max_abs = 0;
      long double max_rel = 0;
      long double worst_excess = -1;
      std::uint64_t worst = 0;
      std::vector<std::uint64_t> positions;
      for (std::size_t i = 0; i < want.size(); ++i) {
        const long double w = stored(want[i], dtype);
        const long double g = stored(got[i], dtype);
        const long double difference = std::fabs(g - w);
        max_abs = std::max(max_abs, difference);
        if (w != 0) max_rel = std::max(max_rel, difference / std::fabs(w));
        const long double excess = difference - (tolerance.atol + tolerance.rtol * std::fabs(w));
        if (excess <= 0) continue;
        ++mismatches;
        positions.push_back(i);
        if (excess > worst_excess) {
          worst_excess = excess;
          worst = i;
        }
      }
      REQUIRE(result.mismatches == mismatches);
      REQUIRE(result.equal == (mismatches == 0));
      REQUIRE(result.elements == 500);
      CHECK(result.max_abs_error == Approx(static_cast<double>(max_abs)).epsilon(1e-12));
      CHECK(result.max_rel_error == Approx(static_cast<double>(max_rel)).epsilon(1e-12));
      REQUIRE(result.worst.has_value() == (mismatches > 0));
      if (mismatches > 0) CHECK(result.worst->position == worst);
      REQUIRE(result.first.size() == std::min<std::size_t>(10, positions.size()));
      for (std::size_t k = 0; k < result.first.size(); ++k)
        CHECK(result.first[k].position == positions[k]);
    }
  }
}

TEST_CASE("NaN is right only where NaN is wanted, infinity only where the same is") {
  for (const DType dtype :
       {DType::float64, DType::float32, DType::float16, DType::bfloat16, DType::float8_e5m2}) {
    const Tolerance loose{.atol = 1e9, .rtol = 1e9};
    CHECK(compared({kNaN, kInf, -kInf, 1}, {kNaN, kInf, -kInf, 1}, dtype).equal);
    CHECK(compared({kNaN}, {-kNaN}, dtype).equal);
    for (const auto& [want, got] : std::vector<std::pair<double, double>>{{kNaN, 1},
                                                                          {1, kNaN},
                                                                          {kInf, -kInf},
                                                                          {kInf, 1},
                                                                          {1, kInf},
                                                                          {kNaN, kInf},
                                                                          {kInf, kNaN}}) {
      const Comparison result = compared({0, want}, {0, got}, dtype, loose);
      CHECK(result.mismatches == 1);
      CHECK(std::isinf(result.worst->abs_error));
      CHECK(!result.worst->ulp_error);
      CHECK(result.max_abs_error == 0);
      CHECK(result.nan_mismatches == (std::isnan(want) || std::isnan(got) ? 1 : 0));
      CHECK(result.nan_mismatches + result.infinity_mismatches == 1);
    }
  }
  CHECK(compared({0.0}, {-0.0}, DType::float32).equal);
}

TEST_CASE("a distance beyond double's range is none of a misplaced infinity") {
  const Comparison result = compared({1e308, 1}, {-1e308, 1}, DType::float64);
  CHECK(result.mismatches == 1);
  CHECK(result.infinity_mismatches + result.nan_mismatches == 0);
  CHECK(std::isinf(result.max_abs_error));
  CHECK(result.max_ulp_error > 0);
}

TEST_CASE("integers of 64 bits are compared exactly, beyond what double can tell apart") {
  const std::vector<std::int64_t> want{9007199254740993, std::numeric_limits<std::int64_t>::min()};
  const std::vector<std::int64_t> got{9007199254740992, std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::int64_t> shape{2};
  const Comparison result = compare(std::as_bytes(std::span(want)), std::as_bytes(std::span(got)),
                                    DType::int64, shape, {});
  CHECK(result.mismatches == 2);
  CHECK(result.first[0].got == "9007199254740992");
  CHECK(result.first[0].want == "9007199254740993");
  CHECK(result.first[0].abs_error == 1);
  CHECK(result.worst->position == 1);
  CHECK(result.worst->abs_error == 0x1p64);
  const std::vector<std::uint64_t> large{~0ULL};
  const std::vector<std::uint64_t> less{~0ULL - 1};
  CHECK(compare(std::as_bytes(std::span(large)), std::as_bytes(std::span(less)), DType::uint64,
                std::vector<std::int64_t>{1}, {})
            .mismatches == 1);
}

TEST_CASE("bool is exact, and a byte that is no bool is wrong") {
  CHECK(compared({0, 1, 1}, {0, 1, 1}, DType::boolean).equal);
  const Comparison result = compared({0, 1, 1}, {1, 1, 2}, DType::boolean);
  CHECK(result.mismatches == 2);
  CHECK(result.first[0].got == "true");
  CHECK(result.first[1].got == "2");
}

TEST_CASE("complex numbers are compared by modulus, their NaN and infinity by component") {
  for (const DType dtype : {DType::complex64, DType::complex128}) {
    const Tolerance tolerance{.atol = 0, .rtol = 0.1};
    CHECK(compared({3, 4}, {3.25, 4.25}, dtype, tolerance).equal);
    CHECK(compared({3, 4}, {3.5, 4.0625}, dtype, tolerance).mismatches == 1);
    CHECK(compared({kNaN, 1}, {kNaN, 1}, dtype, tolerance).equal);
    CHECK(compared({kNaN, 1}, {kNaN, 2}, dtype, tolerance).mismatches == 1);
    CHECK(compared({kNaN, 1}, {1, kNaN}, dtype, tolerance).mismatches == 1);
    CHECK(compared({kInf, 1}, {-kInf, 1}, dtype, tolerance).mismatches == 1);
    const Comparison result = compared({1, 2, 3, -4}, {1, 2, 0, -4}, dtype);
    CHECK(result.worst->position == 1);
    CHECK(result.worst->abs_error == 3);
    CHECK(result.worst->rel_error == 0.6);
    CHECK(result.worst->want == "3-4i");
  }
}

TEST_CASE("a bad element is told by its index, texts and steps") {
  std::vector<double> want(24, 1.0);
  auto got = want;
  got[17] = 1.5;
  const std::vector<std::int64_t> shape{2, 3, 4};
  const Comparison result = compare(bytes_of(want, DType::float32), bytes_of(got, DType::float32),
                                    DType::float32, shape, {});
  CHECK(*result.worst == BadElement{.index = {1, 1, 1},
                                    .position = 17,
                                    .got = "1.5",
                                    .want = "1",
                                    .abs_error = 0.5,
                                    .rel_error = 0.5,
                                    .ulp_error = 1U << 22});
  CHECK(result.max_ulp_error == 1U << 22);
  const Comparison tenth = compared({0.1}, {0.2}, DType::float32);
  CHECK(tenth.worst->want == "0.1");
  CHECK(compared({-1e-45}, {1e-45}, DType::float32).worst->ulp_error == 2U);
  CHECK(compared({0}, {1}, DType::float16).worst->rel_error == kInf);
}

TEST_CASE("0-d tensors and tensors without elements compare") {
  const auto one = bytes_of({1}, DType::float32);
  CHECK(compare(one, one, DType::float32, {}, {}).equal);
  CHECK(compare(one, bytes_of({2}, DType::float32), DType::float32, {}, {}).worst->index.empty());
  const std::vector<std::int64_t> empty{3, 0};
  CHECK(compare({}, {}, DType::float32, empty, {}).equal);
  CHECK_THROWS_AS(compare(one, {}, DType::float32, {}, {}), std::invalid_argument);
}

TEST_CASE("the tolerance in force is the output's, the caller's or the dtype's, and says which") {
  CHECK(default_tolerance(DType::float32).value == Tolerance{.atol = 1e-5, .rtol = 1.3e-6});
  CHECK(default_tolerance(DType::bfloat16).value == Tolerance{.atol = 1e-5, .rtol = 1.6e-2});
  for (const DType dtype : contract::all_dtypes()) {
    const auto standard = default_tolerance(dtype);
    CHECK(standard.source.find(contract::name(dtype)) != std::string::npos);
    const bool exact = contract::is_integer(dtype) || dtype == DType::boolean;
    CHECK(exact == (standard.value == Tolerance{}));
  }
  const auto mixed = tolerance_in_force(DType::float32, contract::ToleranceRequest{.atol = 0.0},
                                        {.atol = 1, .rtol = 2});
  CHECK(mixed.value == Tolerance{.atol = 0, .rtol = 2});
  CHECK(mixed.source == "atol: the output's tolerance; rtol: the request");
  CHECK(tolerance_in_force(DType::int8, std::nullopt, {}).source == "default for int8 (exact)");
  CHECK(tolerance_in_force(DType::int8, std::nullopt, {.atol = 1, .rtol = 0}).source ==
        "the request");
}

TEST_CASE("a change of an input is seen bit for bit") {
  auto before = bytes_of({1, -0.0, 3}, DType::float32);
  auto after = before;
  CHECK(!input_mutated(before, after));
  after[7] ^= std::byte{0x80};  // -0 → 0: equal as numbers
  CHECK(input_mutated(before, after)->first_byte == 7);
  CHECK(input_mutated(before, after)->count_bytes == 1);
  CHECK(!input_mutated({}, {}));
  CHECK_THROWS(input_mutated(before, {}));
}

TEST_CASE("strided tensors are gathered and scattered without touching their gaps") {
  for (const auto& [shape, strides] :
       std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>{
           {{3, 4}, {4, 1}},
           {{3, 4}, {1, 3}},
           {{3, 4}, {10, 2}},
           {{2, 3, 2}, {1, 20, 7}},
           {{5}, {3}},
           {{0, 3}, {3, 1}}}) {
    contract::TensorSpec spec{.shape = shape, .strides = strides, .dtype = DType::int16};
    std::vector<std::byte> elements(spec.contiguous_bytes());
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(i + 1);
    std::vector<std::byte> buffer(spec.buffer_bytes(), std::byte{0xEE});
    scatter(spec, elements, buffer);
    std::vector<std::byte> back(elements.size());
    gather(spec, buffer, back);
    CHECK(back == elements);
    const auto untouched =
        static_cast<std::size_t>(std::count(buffer.begin(), buffer.end(), std::byte{0xEE}));
    CHECK(untouched == buffer.size() - elements.size());
  }
  contract::TensorSpec plain{.shape = {2}, .dtype = DType::int8};
  std::vector<std::byte> wrong(3);
  CHECK_THROWS(gather(plain, wrong, wrong));
}

TEST_CASE("a weak oracle is told by the answer that would pass") {
  const std::vector<std::int64_t> shape{64};
  auto answers = [&](const std::vector<double>& want, Tolerance tolerance,
                     const std::vector<double>& input = {}) {
    const auto expected = bytes_of(want, DType::float32);
    const auto in = bytes_of(input, DType::float32);
    std::vector<TensorView> inputs;
    if (!input.empty()) inputs.push_back({.name = "x", .shape = shape, .bytes = in});
    std::string found;
    for (const WeakOracle& weak : weak_oracle(
             {.name = "y", .shape = {static_cast<std::int64_t>(want.size())}, .bytes = expected},
             inputs, tolerance)) {
      found += std::string(name(weak.answer)) + " ";
      CHECK(weak.message.find("'y'") != std::string::npos);
    }
    return found;
  };
  CHECK(answers(noise(64, 1), {.atol = 1e-5, .rtol = 1e-5}).empty());
  CHECK(answers(noise(64, 1, 0.001), {.atol = 1e-2, .rtol = 0}) == "zeros ");
  std::vector<double> nearly(64, 5.0);
  nearly[3] = 5.01;
  CHECK(answers(nearly, {.atol = 1e-2, .rtol = 0}) == "constant mean ");
  CHECK(answers(nearly, {.atol = 0.006, .rtol = 0}) == "constant ");
  CHECK(answers(noise(64, 1), {.atol = 1e-5, .rtol = 0}, noise(64, 1)) == "input_copy ");
  CHECK(answers(noise(64, 1), {.atol = 1e-5, .rtol = 0}, noise(64, 2)).empty());
  CHECK(answers({3.0}, {.atol = 0, .rtol = 0}).empty());
  // A kernel that fails everywhere agrees with a reference that does.
  std::vector<double> undefined(64, kNaN);
  CHECK(answers(undefined, {}) == "not_numbers ");
  undefined[5] = 3;
  CHECK(answers(undefined, {}) == "not_numbers ");
  CHECK(answers(std::vector<double>(64, std::numeric_limits<double>::infinity()), {}) ==
        "not_numbers ");
  for (std::size_t i = 0; i < 32; ++i) undefined[2 * i] = static_cast<double>(i);
  CHECK(answers(undefined, {}).empty());
}

TEST_CASE("a weak oracle is told for integers, bool and complex too") {
  const std::vector<std::int64_t> shape{16};
  for (const DType dtype :
       {DType::int8, DType::uint64, DType::boolean, DType::complex64, DType::bfloat16}) {
    const std::size_t parts = contract::is_complex(dtype) ? 2 : 1;
    std::vector<double> ones(16 * parts, 0);
    for (std::size_t i = 0; i < ones.size(); i += parts) ones[i] = 1;
    const auto expected = bytes_of(ones, dtype);
    const auto found =
        weak_oracle({.name = "y", .dtype = dtype, .shape = shape, .bytes = expected}, {}, {});
    REQUIRE(found.size() == 2);
    CHECK(found[0].answer == WeakAnswer::constant);
    const std::vector<std::byte> zeros(expected.size());
    const auto none =
        weak_oracle({.name = "y", .dtype = dtype, .shape = shape, .bytes = zeros}, {}, {});
    REQUIRE(none.size() == 1);
    CHECK(none[0].answer == WeakAnswer::zeros);
  }
}
