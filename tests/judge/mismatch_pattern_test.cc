// What the mismatches have in common: planted patterns are named, noise is not explained.
#include <cmath>
#include <functional>
#include <map>
#include <string>

#include "engine/judge/comparison.h"
#include "engine/judge/poison.h"
#include "tests/catch.h"
#include "tests/judge/tensors.h"

namespace {

using namespace assay;
using namespace assay::judge;
using contract::DType;
using test::bytes_of;
using test::noise;

constexpr Secret kSecret{.low = 3, .high = 4};
using Shape = std::vector<std::int64_t>;

std::size_t product(const Shape& shape) {
  std::size_t n = 1;
  for (const auto extent : shape) n *= static_cast<std::size_t>(extent);
  return n;
}

// Expected values that any two of differ by far more than the tolerance, in every dtype used here.
std::vector<double> wanted(const Shape& shape, DType dtype, std::uint64_t seed = 1) {
  auto values = noise(product(shape), seed, dtype == DType::int32 ? 1e6 : 100);
  for (double& v : values) {
    if (dtype == DType::int32) v = std::trunc(v);
    if (std::fabs(v) < 1) v = 1;
  }
  return values;
}

// The pattern told for an output that `spoil` made of the expected one.
std::string pattern_of(const Shape& shape, DType dtype,
                       const std::function<void(std::vector<double>&)>& spoil,
                       std::uint64_t seed = 1) {
  const auto want = wanted(shape, dtype, seed);
  auto got = want;
  spoil(got);
  const Comparison result = compare(bytes_of(want, dtype), bytes_of(got, dtype), dtype, shape,
                                    default_tolerance(dtype).value);
  REQUIRE(!result.equal);
  return result.pattern;
}

// As above; `written` says which elements the kernel wrote, all of them rightly.
std::string unwritten_pattern(const Shape& shape, DType dtype,
                              const std::function<bool(std::size_t)>& written) {
  const auto want = bytes_of(wanted(shape, dtype), dtype);
  const std::uint32_t word = poison_word(dtype, kSecret, 0);
  std::vector<std::byte> got(want.size());
  fill_pattern(got, word);
  const std::size_t size = contract::size_bytes(dtype);
  for (std::size_t i = 0; i < want.size() / size; ++i) {
    if (written(i)) std::memcpy(got.data() + i * size, want.data() + i * size, size);
  }
  return compare(want, got, dtype, shape, default_tolerance(dtype).value, word).pattern;
}

const std::vector<DType> kDTypes{DType::float64, DType::float32, DType::float16, DType::bfloat16,
                                 DType::int32};

}  // namespace

TEST_CASE("outputs that were never written are named, all of them or their tail") {
  for (const DType dtype : kDTypes) {
    INFO(contract::name(dtype));
    CHECK(unwritten_pattern({1000}, dtype, [](auto) { return false; }) ==
          "output never written (poison)");
    CHECK(unwritten_pattern({1000}, dtype, [](auto i) { return i < 960; }) ==
          "output never written (poison) from element 960");
    CHECK(unwritten_pattern({1000}, dtype, [](auto i) { return i < 100; }) ==
          "output never written (poison) from element 100");
    CHECK(unwritten_pattern({40, 30}, dtype, [](auto i) { return i % 30 != 29; }) ==
          "every wrong element was never written (poison); only column 29");
  }
  CHECK(unwritten_pattern({1000}, DType::int8, [](auto) { return false; }) ==
        "output never written (poison)");
  CHECK(unwritten_pattern({1000}, DType::int8, [](auto i) { return i < 512; }) ==
        "output never written (poison) from element 512");
}

TEST_CASE("one side of the diagonal is told, and half of a region is no region") {
  for (const DType dtype : kDTypes) {
    INFO(contract::name(dtype));
    const auto where = [](auto is_wrong) {
      return [is_wrong](std::vector<double>& got) {
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (is_wrong(i / 32 % 32, i % 32)) got[i] = 0;
        }
      };
    };
    const auto told = [&](auto is_wrong) {
      return pattern_of({2, 32, 32}, dtype, where(is_wrong));
    };
    const std::string zero = "zero at every wrong element; only ";
    CHECK(told([](auto r, auto c) { return c > r; }) == zero + "above the diagonal");
    CHECK(told([](auto r, auto c) { return c >= r; }) == zero + "on and above the diagonal");
    CHECK(told([](auto r, auto c) { return c < r; }) == zero + "below the diagonal");
    CHECK(told([](auto r, auto c) { return c == r; }) == zero + "the diagonal");
    CHECK(told([](auto r, auto c) { return (r * 7 + c * 11) % 13 < 6; }) ==
          "zero at every wrong element");
  }
}

TEST_CASE("an output of zeros is told as such") {
  for (const DType dtype : kDTypes) {
    CHECK(pattern_of({500}, dtype, [](auto& got) { got.assign(got.size(), 0); }) ==
          "all zero: output never written");
    CHECK(pattern_of({500}, dtype, [](auto& got) { std::fill(got.begin() + 448, got.end(), 0); }) ==
          "zero at every wrong element; only elements ≥ 448: the tail is not handled");
  }
}

TEST_CASE("zeros over poison were written: nobody is told that they were not") {
  for (const DType dtype : kDTypes) {
    const auto want = bytes_of(wanted({500}, dtype), dtype);
    const std::vector<std::byte> zeros(want.size());
    const auto result = compare(want, zeros, dtype, Shape{500}, default_tolerance(dtype).value,
                                poison_word(dtype, kSecret, 0));
    CHECK(result.pattern == "all zero: the kernel wrote zeros");
  }
}

TEST_CASE("NaN is told with the element where it begins") {
  for (const DType dtype : kDTypes) {
    if (dtype == DType::int32) continue;
    CHECK(pattern_of({500}, dtype, [](auto& got) {
            std::fill(got.begin() + 300, got.end(), std::nan(""));
          }) == "NaN from element 300");
    CHECK(pattern_of({500}, dtype, [](auto& got) { got.assign(got.size(), std::nan("")); }) ==
          "NaN everywhere");
    CHECK(pattern_of({500}, dtype, [](auto& got) { got[3] = got[77] = got[400] = std::nan(""); }) ==
          "NaN at every wrong element");
  }
}

TEST_CASE("a factor, an offset and a flipped sign are told with their figure") {
  for (const DType dtype : kDTypes) {
    INFO(contract::name(dtype));
    auto each = [](auto change) {
      return [change](std::vector<double>& got) {
        for (double& v : got) v = change(v);
      };
    };
    CHECK(pattern_of({400}, dtype, each([](double v) { return -v; })) == "sign flipped");
    CHECK(pattern_of({400}, dtype, each([](double v) { return 2 * v; })) == "constant factor 2");
    CHECK(pattern_of({400}, dtype, each([](double) { return 7; })) ==
          "the constant 7 at every wrong element");
    if (dtype == DType::int32) {
      CHECK(pattern_of({400}, dtype, each([](double v) { return v + 3; })) == "constant offset 3");
    }
  }
  CHECK(pattern_of({64, 64}, DType::float32, [](auto& got) {
          for (std::size_t i = 0; i < got.size(); ++i) {
            if (i % 64 == 5) got[i] = -got[i];
          }
        }) == "sign flipped; only column 5");
}

TEST_CASE("a claim that holds for most mismatches states its share") {
  CHECK(pattern_of({400}, DType::float32, [](auto& got) {
          for (double& v : got) v = -v;
          for (std::size_t i = 0; i < 20; ++i) got[i * 19] = 1000 + static_cast<double>(i * i);
        }) == "sign flipped (380 of 400 mismatches)");
}

TEST_CASE("a tail, a head and a range are told") {
  auto spoiled = [](std::size_t from, std::size_t to) {
    return [from, to](std::vector<double>& got) {
      const auto other = noise(got.size(), 99, 900);
      for (std::size_t i = from; i < to; ++i) got[i] = std::trunc(other[i]) + 0.5 + 2000;
    };
  };
  for (const DType dtype : {DType::float32, DType::int32, DType::float64}) {
    CHECK(pattern_of({1000}, dtype, spoiled(992, 1000)) ==
          "only elements ≥ 992: the tail is not handled");
    CHECK(pattern_of({1000}, dtype, spoiled(999, 1000)).empty());
    CHECK(pattern_of({1000}, dtype, spoiled(200, 1000)) == "only elements ≥ 200");
    CHECK(pattern_of({1000}, dtype, spoiled(0, 32)) == "only elements < 32");
    CHECK(pattern_of({1000}, dtype, spoiled(256, 512)) == "only elements 256 to 511");
    CHECK(pattern_of({50, 20}, dtype, spoiled(980, 1000)) == "only row 49, the last");
    CHECK(pattern_of({50, 20}, dtype, spoiled(960, 1000)) ==
          "only rows ≥ 48: the tail is not handled");
    CHECK(pattern_of({50, 20}, dtype, spoiled(20, 1000)) == "only rows ≥ 1");
    CHECK(pattern_of({50, 20}, dtype, spoiled(200, 220)) == "only row 10");
    CHECK(pattern_of({50, 20}, dtype, spoiled(200, 260)) == "only rows 10 to 12");
    CHECK(pattern_of({50, 20}, dtype, spoiled(970, 1000)) ==
          "only elements ≥ 970: the tail is not handled");
  }
}

TEST_CASE("columns, rows and every n-th of them are told") {
  auto where = [](const std::function<bool(std::size_t)>& wrong) {
    return [wrong](std::vector<double>& got) {
      const auto other = noise(got.size(), 98, 900);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (wrong(i)) got[i] = std::trunc(other[i]) + 2000;
      }
    };
  };
  const Shape matrix{32, 40};
  for (const DType dtype : {DType::float32, DType::int32}) {
    CHECK(pattern_of(matrix, dtype, where([](auto i) { return i % 40 == 7; })) == "only column 7");
    CHECK(pattern_of(matrix, dtype, where([](auto i) { return i % 40 >= 32; })) ==
          "only columns ≥ 32");
    CHECK(pattern_of(matrix, dtype, where([](auto i) { return i % 40 % 4 == 3; })) ==
          "every 4th column, from column 3");
    CHECK(pattern_of(matrix, dtype, where([](auto i) { return i / 40 % 8 == 0; })) ==
          "every 8th row, from row 0");
    CHECK(pattern_of(matrix, dtype, where([](auto i) { return i % 40 == 2 || i % 40 == 17; })) ==
          "only columns 2, 17");
    CHECK(pattern_of({1000}, dtype, where([](auto i) { return i % 32 == 31; })) ==
          "every 32nd element, from element 31");
    CHECK(pattern_of({4, 8, 40}, dtype, where([](auto i) { return i % 40 == 39; })) ==
          "only column 39");
  }
}

TEST_CASE("transposed and shifted outputs are told") {
  for (const DType dtype : {DType::float64, DType::float32, DType::int32}) {
    for (const Shape& shape : {Shape{24, 24}, Shape{12, 40}, Shape{3, 10, 20}}) {
      CHECK(pattern_of(shape, dtype, [&](auto& got) {
              const auto want = got;
              const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
              const auto columns = static_cast<std::size_t>(shape.back());
              for (std::size_t i = 0; i < got.size(); ++i) {
                const std::size_t base = i / (rows * columns) * rows * columns;
                const std::size_t row = (i - base) / columns;
                const std::size_t column = (i - base) % columns;
                got[base + column * rows + row] = want[i];
              }
            }) == "transposed");
    }
    auto shifted = [](std::ptrdiff_t by) {
      return [by](std::vector<double>& got) {
        const auto want = got;
        for (std::ptrdiff_t i = 0; i < std::ssize(got); ++i) {
          const std::ptrdiff_t from = i - by;
          if (from >= 0 && from < std::ssize(got)) {
            got[static_cast<std::size_t>(i)] = want[static_cast<std::size_t>(from)];
          }
        }
      };
    };
    CHECK(pattern_of({300}, dtype, shifted(1))
              .starts_with("shifted by 1: each value stands 1 element later"));
    CHECK(pattern_of({300}, dtype, shifted(-3))
              .starts_with("shifted by 3: each value stands 3 elements earlier"));
    CHECK(pattern_of({300}, dtype, shifted(32)).starts_with("shifted by 32"));
    CHECK(pattern_of({30, 20}, dtype, shifted(20))
              .starts_with("off by one row: each value stands one row later"));
    CHECK(pattern_of({30, 20}, dtype, shifted(-20))
              .starts_with("off by one row: each value stands one row earlier"));
  }
}

TEST_CASE("random noise is never explained") {
  std::map<std::string, int> told;
  int cases = 0;
  for (const Shape& shape :
       {Shape{1000}, Shape{40, 25}, Shape{5, 8, 16}, Shape{64}, Shape{2, 100}, Shape{100, 2}}) {
    for (const DType dtype : kDTypes) {
      for (const double share : {0.002, 0.01, 0.05, 0.3, 0.7, 0.97}) {
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
          bool any = false;
          const auto want = wanted(shape, dtype, seed + 500);
          auto got = want;
          const auto dice = noise(got.size(), seed + 1000, 0.5);
          const auto other = noise(got.size(), seed + 2000, 90);
          for (std::size_t i = 0; i < got.size(); ++i) {
            if (dice[i] + 0.5 >= share) continue;
            got[i] = std::trunc(other[i]) + (dtype == DType::int32 ? 0 : 0.37);
            any = true;
          }
          if (!any) continue;
          ++cases;
          const Comparison result =
              compare(bytes_of(want, dtype), bytes_of(got, dtype), dtype, shape,
                      default_tolerance(dtype).value, poison_word(dtype, kSecret, 0));
          if (!result.pattern.empty()) ++told[result.pattern];
        }
      }
    }
  }
  CHECK(cases > 6000);
  for (const auto& [text, count] : told) UNSCOPED_INFO(count << " × " << text);
  CHECK(told.empty());
}

TEST_CASE("rounding noise just beyond the tolerance is never explained") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto want = wanted({2000}, DType::float32, seed);
    auto got = want;
    const auto error = noise(got.size(), seed + 50, 1e-4);
    for (std::size_t i = 0; i < got.size(); ++i) got[i] *= 1 + error[i];
    const Shape shape{50, 40};
    const Comparison result =
        compare(bytes_of(want, DType::float32), bytes_of(got, DType::float32), DType::float32,
                shape, default_tolerance(DType::float32).value);
    REQUIRE(!result.equal);
    CHECK(result.pattern == "");
  }
}

TEST_CASE("outputs of few distinct values are not over-explained") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto want = noise(256, seed);
    auto got = noise(256, seed + 300);
    for (std::size_t i = 0; i < want.size(); ++i) {
      want[i] = want[i] < 0 ? 0 : 1;
      got[i] = got[i] < 0 ? 0 : 1;
    }
    const Shape shape{16, 16};
    CHECK(compare(bytes_of(want, DType::boolean), bytes_of(got, DType::boolean), DType::boolean,
                  shape, {})
              .pattern == "");
  }
}

TEST_CASE("integers too large for a double have nothing in common that rounding made") {
  std::vector<std::int64_t> want(1024);
  std::vector<std::int64_t> got(1024);
  for (std::size_t i = 0; i < want.size(); ++i) {
    want[i] = (std::int64_t{1} << 60) + static_cast<std::int64_t>(i);
    got[i] = want[i] + 1 + static_cast<std::int64_t>(i % 7);
  }
  const std::vector<std::int64_t> shape{1024};
  const auto compared =
      judge::compare(std::as_bytes(std::span(want)), std::as_bytes(std::span(got)),
                     contract::DType::int64, shape, {.atol = 0, .rtol = 0});
  CHECK(compared.mismatches == 1024);
  CHECK(compared.pattern.find("factor") == std::string::npos);
  CHECK(compared.pattern.find("constant") == std::string::npos);
}
