// What the generator promises: random access, ranges, distributions, exact constants and sequences.
#include "engine/judge/generator.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <vector>

#include "engine/judge/scalar_conversion.h"
#include "tests/catch.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using contract::InitKind;
using contract::Number;
using contract::TensorInit;

std::vector<std::byte> made(const TensorInit& init, DType dtype, std::size_t count,
                            Stream stream = {9, 1}, std::uint64_t last_dim = 10,
                            std::uint64_t first = 0) {
  std::vector<std::byte> out(count * contract::size_bytes(dtype));
  generate(init, dtype, last_dim, stream, first, out);
  return out;
}

template <typename T>
std::vector<T> as(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// The components of any floating or complex tensor as doubles.
std::vector<double> reals(const std::vector<std::byte>& bytes, DType dtype) {
  const DType part = contract::component(dtype);
  const std::size_t size = contract::size_bytes(part);
  std::vector<double> values(bytes.size() / size);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * size, size);
    values[i] = from_bits(bits, part);
  }
  return values;
}

double mean_of(const std::vector<double>& values) {
  long double sum = 0;
  for (const double v : values) sum += v;
  return static_cast<double>(sum / static_cast<long double>(values.size()));
}

double deviation_of(const std::vector<double>& values) {
  const long double mean = mean_of(values);
  long double sum = 0;
  for (const double v : values) sum += (v - mean) * (v - mean);
  return static_cast<double>(std::sqrt(sum / static_cast<long double>(values.size())));
}

// The greatest distance between the empirical and the given distribution function.
template <typename Cdf>
double kolmogorov(std::vector<double> values, Cdf cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    greatest =
        std::max({greatest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return greatest;
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

bool is_real(DType dtype) { return contract::is_floating(dtype); }

constexpr InitKind kKinds[] = {InitKind::randn,   InitKind::zeros, InitKind::ones,
                               InitKind::uniform, InitKind::full,  InitKind::arange};

}  // namespace

TEST_CASE("any part of a tensor has the same bytes as in the whole") {
  for (const DType dtype : contract::all_dtypes()) {
    for (const InitKind kind : kKinds) {
      INFO(contract::name(kind) << " " << contract::name(dtype));
      const TensorInit init{.kind = kind, .fill_value = std::int64_t{3}};
      const std::size_t size = contract::size_bytes(dtype);
      const auto whole = made(init, dtype, 5000);
      for (const std::size_t first : {0U, 1U, 2U, 3U, 5U, 1023U, 1024U, 1025U, 4997U}) {
        for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 1500U}) {
          if (first + count > 5000) continue;
          const auto part = made(init, dtype, count, {9, 1}, 10, first);
          CHECK(std::equal(part.begin(), part.end(),
                           whole.begin() + static_cast<std::ptrdiff_t>(first * size)));
        }
      }
    }
  }
}

TEST_CASE("elements beyond 2^32 are as good as the first") {
  const auto far = made({.kind = InitKind::randn}, DType::float32, 1000, {9, 1}, 10, 5000000003ULL);
  CHECK(far != made({.kind = InitKind::randn}, DType::float32, 1000, {9, 1}, 10,
                    5000000003ULL - (1ULL << 32)));
  CHECK(std::fabs(mean_of(reals(far, DType::float32))) < 0.2);
}

TEST_CASE("seeds and arguments give different values, the same seed the same") {
  const auto one = made({}, DType::float32, 64, {1, 0});
  CHECK(one == made({}, DType::float32, 64, {1, 0}));
  CHECK(one != made({}, DType::float32, 64, {2, 0}));
  CHECK(one != made({}, DType::float32, 64, {1, 1}));
  const Secret secret{.low = 1, .high = 2};
  std::set<std::pair<std::uint64_t, std::uint64_t>> streams;
  for (std::uint32_t trial = 0; trial < 20; ++trial) {
    for (std::size_t arg = 0; arg < 20; ++arg) {
      const Stream unseeded = trial_stream(secret, std::nullopt, arg, trial);
      streams.emplace(unseeded.seed, unseeded.id);
    }
  }
  CHECK(streams.size() == 400);
  CHECK(trial_seed(secret, 5, 1) != trial_seed({.low = 1, .high = 3}, 5, 1));
}

TEST_CASE("randn is standard normal in every floating dtype") {
  constexpr std::size_t kCount = 200000;
  for (const DType dtype : contract::all_dtypes()) {
    if (!is_real(dtype)) continue;
    INFO(contract::name(dtype));
    const auto values = reals(made({}, dtype, kCount), dtype);
    const bool coarse = contract::size_bytes(dtype) == 1;
    CHECK(std::fabs(mean_of(values)) < 0.01);
    CHECK(std::fabs(deviation_of(values) - 1) < (coarse ? 0.02 : 0.006));
    if (!coarse && dtype != DType::bfloat16) CHECK(kolmogorov(values, normal_cdf) < 0.005);
    long double fourth = 0;
    long double lag = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      fourth += std::pow(values[i], 4);
      if (i > 0) lag += values[i] * values[i - 1];
    }
    CHECK(std::fabs(static_cast<double>(fourth / kCount) - 3) < (coarse ? 0.3 : 0.1));
    CHECK(std::fabs(static_cast<double>(lag / kCount)) < 0.01);
  }
}

TEST_CASE("mean and std count independently, and 0 is a value") {
  const auto standard = reals(made({}, DType::float64, 1000), DType::float64);
  const auto scaled = reals(made({.std = 0.02}, DType::float64, 1000), DType::float64);
  const auto moved = reals(made({.mean = 5.0}, DType::float64, 1000), DType::float64);
  for (std::size_t i = 0; i < standard.size(); ++i) {
    CHECK(scaled[i] == standard[i] * 0.02);
    CHECK(moved[i] == standard[i] + 5.0);
  }
  for (const double v : reals(made({.mean = 3.0, .std = 0.0}, DType::float16, 100), DType::float16))
    CHECK(v == 3.0);
}

TEST_CASE("complex randn has the variance of its modulus, its mean on the real axis") {
  for (const DType dtype : {DType::complex64, DType::complex128}) {
    const auto parts = reals(made({.mean = 2.0, .std = 3.0}, dtype, 100000), dtype);
    std::vector<double> real;
    std::vector<double> imaginary;
    for (std::size_t i = 0; i < parts.size(); i += 2) {
      real.push_back(parts[i]);
      imaginary.push_back(parts[i + 1]);
    }
    CHECK(std::fabs(mean_of(real) - 2) < 0.03);
    CHECK(std::fabs(mean_of(imaginary)) < 0.03);
    CHECK(std::fabs(deviation_of(real) - 3 / std::sqrt(2.0)) < 0.03);
    CHECK(std::fabs(deviation_of(imaginary) - 3 / std::sqrt(2.0)) < 0.03);
  }
}

TEST_CASE("uniform floats stay within [low, high) after rounding, in every dtype") {
  for (const DType dtype : contract::all_dtypes()) {
    if (!is_real(dtype) && !contract::is_complex(dtype)) continue;
    for (const auto& [low, high] : std::vector<std::pair<double, double>>{
             {0, 1}, {-1, 0}, {-0.5, 0.5}, {0.1, 0.3}, {-448, 448}, {1, 1.0625}, {1e-3, 1.0}}) {
      INFO(contract::name(dtype) << " [" << low << ", " << high << ")");
      const auto values =
          reals(made({.kind = InitKind::uniform, .low = low, .high = high}, dtype, 50000), dtype);
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      // The dtype may have no value but low's neighbourhood in so narrow a range.
      if (to_bits(low, contract::component(dtype)) != to_bits(high, contract::component(dtype))) {
        CHECK(*most < high);
      }
      CHECK(*least >= low);
    }
  }
}

TEST_CASE("uniform floats are uniform") {
  for (const DType dtype : {DType::float64, DType::float32, DType::float16}) {
    const auto values =
        reals(made({.kind = InitKind::uniform, .low = -2.0, .high = 6.0}, dtype, 200000), dtype);
    CHECK(std::fabs(mean_of(values) - 2) < 0.03);
    CHECK(kolmogorov(values, [](double x) { return (x + 2) / 8; }) < 0.005);
  }
  const auto huge = reals(
      made({.kind = InitKind::uniform, .low = -1.7e308, .high = 1.7e308}, DType::float64, 1000),
      DType::float64);
  for (const double v : huge) CHECK(std::isfinite(v));
  CHECK(deviation_of([&] {
          std::vector<double> scaled;
          for (const double v : huge) scaled.push_back(v / 1.7e308);
          return scaled;
        }()) > 0.5);
}

TEST_CASE("uniform integers reach both ends, equally often") {
  for (const DType dtype : contract::all_dtypes()) {
    if (!contract::is_integer(dtype)) continue;
    INFO(contract::name(dtype));
    std::map<std::uint64_t, int> counts;
    const auto bytes = made({.kind = InitKind::uniform}, dtype, 101000);
    const std::size_t size = contract::size_bytes(dtype);
    for (std::size_t i = 0; i < 101000; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + i * size, size);
      ++counts[value];
    }
    CHECK(counts.size() == 101);
    CHECK(counts.begin()->first == 0);
    CHECK(counts.rbegin()->first == 100);
    for (const auto& [value, count] : counts) CHECK(std::abs(count - 1000) < 200);
  }
  const auto narrow = as<std::int8_t>(
      made({.kind = InitKind::uniform, .low = std::int64_t{-3}, .high = std::int64_t{-1}},
           DType::int8, 3000));
  CHECK(std::set<int>(narrow.begin(), narrow.end()) == std::set<int>{-3, -2, -1});
  const TensorInit all{.kind = InitKind::uniform,
                       .low = std::numeric_limits<std::int64_t>::min(),
                       .high = std::numeric_limits<std::int64_t>::max()};
  const auto wide = as<std::int64_t>(made(all, DType::int64, 1000));
  CHECK(std::count_if(wide.begin(), wide.end(), [](auto v) { return v < 0; }) > 400);
  CHECK(std::set<std::int64_t>(wide.begin(), wide.end()).size() == 1000);
}

TEST_CASE("randn of integers takes the whole range, of 64-bit ones a million") {
  const auto bytes = as<std::uint8_t>(made({}, DType::uint8, 20000));
  CHECK(std::set<int>(bytes.begin(), bytes.end()).size() == 256);
  const auto words = as<std::int32_t>(made({}, DType::int32, 20000));
  const auto [least, most] = std::minmax_element(words.begin(), words.end());
  CHECK(*least < -2140000000);
  CHECK(*most > 2140000000);
  const auto longs = as<std::int64_t>(made({}, DType::int64, 200000));
  const auto [low, high] = std::minmax_element(longs.begin(), longs.end());
  CHECK((*low >= -1000000 && *low < -999900));
  CHECK((*high <= 1000000 && *high > 999900));
  const auto unsigned_longs = as<std::uint64_t>(made({}, DType::uint64, 100000));
  CHECK(*std::max_element(unsigned_longs.begin(), unsigned_longs.end()) <= 1000000);
  const auto bools = as<std::uint8_t>(made({}, DType::boolean, 100000));
  const auto ones = std::count(bools.begin(), bools.end(), 1);
  CHECK(ones + std::count(bools.begin(), bools.end(), 0) == 100000);
  CHECK(std::abs(ones - 50000) < 1000);
}

TEST_CASE("randn of integers with mean or std is a rounded normal within the type") {
  const auto values = as<std::int8_t>(made({.mean = 100.0, .std = 50.0}, DType::int8, 10000));
  CHECK(*std::max_element(values.begin(), values.end()) == 127);
  const auto wide = as<std::int32_t>(made({.std = 1000.0}, DType::int32, 100000));
  const std::vector<double> reals_of_wide(wide.begin(), wide.end());
  CHECK(std::fabs(mean_of(reals_of_wide)) < 15);
  CHECK(std::fabs(deviation_of(reals_of_wide) - 1000) < 10);
  for (const auto v : as<std::uint16_t>(made({.mean = 7.0, .std = 0.0}, DType::uint16, 10)))
    CHECK(v == 7);
}

TEST_CASE("constants are exact in every dtype") {
  for (const DType dtype : contract::all_dtypes()) {
    INFO(contract::name(dtype));
    for (const std::byte b : made({.kind = InitKind::zeros}, dtype, 2000)) CHECK(b == std::byte{0});
    const auto ones = made({.kind = InitKind::ones}, dtype, 3);
    const auto full = made({.kind = InitKind::full, .fill_value = std::int64_t{1}}, dtype, 3);
    CHECK(ones == full);
    if (contract::is_complex(dtype)) {
      CHECK(reals(ones, dtype) == std::vector<double>{1, 0, 1, 0, 1, 0});
    } else if (is_real(dtype)) {
      CHECK(reals(ones, dtype) == std::vector<double>{1, 1, 1});
    } else {
      CHECK(ones[0] == std::byte{1});
    }
  }
  const Number large = std::int64_t{9007199254740993};
  CHECK(as<std::int64_t>(made({.kind = InitKind::full, .fill_value = large}, DType::int64, 1))[0] ==
        9007199254740993);
  const Number largest = ~0ULL;
  CHECK(as<std::uint64_t>(
            made({.kind = InitKind::full, .fill_value = largest}, DType::uint64, 1))[0] == ~0ULL);
  const Number nan = std::nan("");
  CHECK(std::isnan(
      as<float>(made({.kind = InitKind::full, .fill_value = nan}, DType::float32, 1))[0]));
  CHECK(as<std::uint8_t>(made({.kind = InitKind::full, .fill_value = 0.5}, DType::boolean, 1))[0] ==
        1);
}

TEST_CASE("arange repeats along the last dimension") {
  const auto floats = as<float>(
      made({.kind = InitKind::arange, .start = 1.5, .step = 0.5}, DType::float32, 7, {}, 3));
  CHECK(floats == std::vector<float>{1.5F, 2.0F, 2.5F, 1.5F, 2.0F, 2.5F, 1.5F});
  CHECK(as<std::int16_t>(made({.kind = InitKind::arange, .step = std::int64_t{-2}}, DType::int16, 5,
                              {}, 4)) == std::vector<std::int16_t>{0, -2, -4, -6, 0});
  CHECK(as<std::uint8_t>(made({.kind = InitKind::arange, .start = std::int64_t{254}}, DType::uint8,
                              4, {}, 4)) == std::vector<std::uint8_t>{254, 255, 0, 1});
  CHECK(as<std::int32_t>(made({.kind = InitKind::arange, .step = 0.5}, DType::int32, 4, {}, 4)) ==
        std::vector<std::int32_t>{0, 0, 1, 1});
  CHECK(as<std::uint8_t>(made({.kind = InitKind::arange}, DType::boolean, 3, {}, 3)) ==
        std::vector<std::uint8_t>{0, 1, 1});
  CHECK(reals(made({.kind = InitKind::arange}, DType::complex64, 3, {}, 2), DType::complex64) ==
        std::vector<double>{0, 0, 1, 0, 0, 0});
}

TEST_CASE("a spec is filled by its data, else its init, else randn") {
  contract::TensorSpec spec{.shape = {2, 3}, .dtype = DType::uint8};
  std::vector<std::byte> out(6);
  judge::generate(spec, {1, 2}, out);
  CHECK(out == made({}, DType::uint8, 6, {1, 2}));
  spec.init = TensorInit{.kind = InitKind::arange};
  judge::generate(spec, {1, 2}, out);
  CHECK(as<std::uint8_t>(out) == std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2});
  spec.data = contract::TensorData{.bytes = "abcdef"};
  judge::generate(spec, {1, 2}, out);
  CHECK(std::memcmp(out.data(), "abcdef", 6) == 0);
  std::vector<std::byte> wrong(5);
  CHECK_THROWS(judge::generate(spec, {1, 2}, wrong));
  contract::TensorSpec scalar{.dtype = DType::float32,
                              .init = TensorInit{.kind = InitKind::arange, .start = 4.0}};
  std::vector<std::byte> one(4);
  judge::generate(scalar, {}, one);
  CHECK(as<float>(one)[0] == 4.0F);
  contract::TensorSpec empty{.shape = {0}, .dtype = DType::float32};
  judge::generate(empty, {}, std::span<std::byte>{});
}

TEST_CASE("a tensor made by many threads is the one that a single thread makes") {
  for (const auto kind :
       {contract::InitKind::randn, contract::InitKind::uniform, contract::InitKind::arange}) {
    for (const auto dtype : {contract::DType::float32, contract::DType::float64,
                             contract::DType::int8, contract::DType::complex64}) {
      contract::TensorSpec spec;
      spec.shape = {3, 171'113};  // no slice ends where a block of the generator does
      spec.dtype = dtype;
      spec.init = contract::TensorInit{.kind = kind};
      std::vector<std::byte> together(spec.contiguous_bytes());
      std::vector<std::byte> alone(spec.contiguous_bytes());
      judge::generate(spec, {5, 6}, together);
      judge::generate(*spec.init, dtype, 171'113, {5, 6}, 0, alone);
      CHECK(together == alone);
    }
  }
}
