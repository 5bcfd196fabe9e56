#include "engine/judge/on_device.h"

#include <cmath>
#include <cstring>
#include <sstream>

#include "engine/judge/half_open_range.h"

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define FILE(name, symbol) extern "C" const char symbol[], symbol##_end[];
#include "embedded_assay_judge_text.inc"
#undef FILE
// NOLINTEND(bugprone-macro-parentheses)

namespace assay::judge::on_device {
namespace {

using contract::DType;
using contract::InitKind;
using contract::TensorInit;

// What the shared headers take from the standard library.
constexpr const char* kStandardLibrary = R"(
namespace std {
using uint32_t = unsigned int;
using int32_t = int;
using uint64_t = unsigned long long;
using int64_t = long long;
using size_t = unsigned long long;
template <class T, size_t N>
struct array {
  T values[N];
  constexpr T& operator[](size_t i) { return values[i]; }
  constexpr const T& operator[](size_t i) const { return values[i]; }
};
template <class To, class From>
To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
inline double sqrt(double x) { return __dsqrt_rn(x); }
}
)";

std::string embedded(std::string_view wanted) {
#define FILE(name, symbol) \
  if (wanted == (name)) return std::string(symbol, symbol##_end);
#include "embedded_assay_judge_text.inc"
#undef FILE
  return {};
}

std::string without_directives(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool directive = line.starts_with("#include") || line.starts_with("#pragma once");
    out += (directive ? std::string() : line) + "\n";
  }
  return out;
}

// The bits of one element that holds a value, as the generator makes it.
std::uint64_t constant_bits(const TensorInit& init, DType dtype) {
  std::uint64_t bits = 0;
  std::array<std::byte, 16> element{};
  const std::size_t size = contract::size_bytes(dtype);
  generate(init, dtype, 1, {}, 0, std::span(element).first(size));
  std::memcpy(&bits, element.data(), size);
  return bits;
}

std::uint64_t integer_of(const std::optional<contract::Number>& number, std::int64_t usual,
                         DType dtype) {
  const TensorInit full{.kind = InitKind::full, .fill_value = number.value_or(usual)};
  std::uint64_t bits = constant_bits(full, dtype);
  const auto shift = static_cast<int>(64 - 8 * contract::size_bytes(dtype));
  if (contract::is_signed_integer(dtype)) {
    bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits << shift) >> shift);
  }
  return bits;
}

std::optional<FillPlan> plan_uniform_float(const TensorInit& init, DType dtype, FillPlan plan) {
  const double low = init.low ? contract::to_double(*init.low) : 0.0;
  const double high = init.high ? contract::to_double(*init.high) : 1.0;
  if (!std::isfinite(high - low)) return std::nullopt;
  const HalfOpenRange range(low, high, dtype);
  plan.kernel = "assay_uniform";
  plan.fill.first = low;
  plan.fill.second = high - low;
  plan.fill.high = high;
  plan.fill.low_bits = range.first_bits();
  plan.fill.high_bits = range.last_bits();
  return plan;
}

std::optional<FillPlan> plan_float(const TensorInit& init, DType dtype, FillPlan plan) {
  if (init.kind == InitKind::uniform) return plan_uniform_float(init, dtype, plan);
  if (init.kind != InitKind::randn) return std::nullopt;
  plan.kernel = "assay_randn";
  plan.fill.first = init.std.value_or(1.0);
  plan.fill.second = init.mean.value_or(0.0);
  return plan;
}

std::optional<FillPlan> plan_integer(const TensorInit& init, DType dtype, FillPlan plan) {
  plan.kernel = "assay_bounded";
  if (init.kind == InitKind::uniform) {
    plan.fill.low_bits = integer_of(init.low, 0, dtype);
    plan.fill.high_bits = integer_of(init.high, 100, dtype) - plan.fill.low_bits + 1;
    return plan;
  }
  if (init.kind != InitKind::randn || init.mean || init.std) return std::nullopt;
  if (contract::size_bytes(dtype) == 8) {
    constexpr std::uint64_t kMillion = 1'000'000;
    const bool is_signed = dtype == DType::int64;
    plan.fill.low_bits = is_signed ? 0 - kMillion : 0;
    plan.fill.high_bits = kMillion * (is_signed ? 2 : 1) + 1;
    return plan;
  }
  plan.kernel = "assay_words";
  plan.fill.high_bits = ~std::uint64_t{0};
  return plan;
}

}  // namespace

std::optional<Format> format_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return Format::float64;
    case DType::float32:
      return Format::float32;
    case DType::float16:
      return Format::float16;
    case DType::bfloat16:
      return Format::bfloat16;
    case DType::int64:
      return Format::int64;
    case DType::int32:
      return Format::int32;
    case DType::int16:
      return Format::int16;
    case DType::int8:
      return Format::int8;
    case DType::uint64:
      return Format::uint64;
    case DType::uint32:
      return Format::uint32;
    case DType::uint16:
      return Format::uint16;
    case DType::uint8:
    case DType::boolean:
      return Format::uint8;
    default:
      return std::nullopt;
  }
}

std::optional<FillPlan> plan_fill(const contract::TensorSpec& spec, const Stream& stream) {
  const auto format = format_of(spec.dtype);
  if (!format || spec.data || spec.strides) return std::nullopt;
  const TensorInit init = spec.init.value_or(TensorInit{});
  FillPlan plan{
      .fill = {.count = spec.elements(),
               .seed = stream.seed,
               .id = stream.id,
               .format = *format,
               .size_bytes = static_cast<std::uint32_t>(contract::size_bytes(spec.dtype))}};
  if (init.kind == InitKind::arange) return std::nullopt;
  const bool is_random = init.kind == InitKind::randn || init.kind == InitKind::uniform;
  if (!is_random) {
    plan.kernel = "assay_constant";
    plan.fill.low_bits = constant_bits(init, spec.dtype);
    return plan;
  }
  if (contract::is_floating(spec.dtype)) return plan_float(init, spec.dtype, plan);
  if (spec.dtype == DType::boolean) {
    plan.kernel = "assay_words";
    plan.fill.high_bits = 1;
    return plan;
  }
  return plan_integer(init, spec.dtype, plan);
}

std::string source() {
  return kStandardLibrary + without_directives(embedded("philox.h")) +
         without_directives(embedded("normal.h")) + embedded("on_device.cu");
}

std::vector<std::string> compiler_options() {
  return {"--std=c++17", "--fmad=false", "--device-as-default-execution-space"};
}

}  // namespace assay::judge::on_device
