#include "engine/contract/dtype.h"

#include <array>
#include <limits>
#include <stdexcept>

namespace assay::contract {
namespace {

enum class Family : std::uint8_t { floating, complex, signed_integer, unsigned_integer, boolean };

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
  Family family;
};

constexpr std::array kRows{
    Row{DType::float64, "float64", 8, Family::floating},
    Row{DType::float32, "float32", 4, Family::floating},
    Row{DType::float16, "float16", 2, Family::floating},
    Row{DType::bfloat16, "bfloat16", 2, Family::floating},
    Row{DType::float8_e4m3fn, "float8_e4m3fn", 1, Family::floating},
    Row{DType::float8_e5m2, "float8_e5m2", 1, Family::floating},
    Row{DType::int64, "int64", 8, Family::signed_integer},
    Row{DType::int32, "int32", 4, Family::signed_integer},
    Row{DType::int16, "int16", 2, Family::signed_integer},
    Row{DType::int8, "int8", 1, Family::signed_integer},
    Row{DType::uint64, "uint64", 8, Family::unsigned_integer},
    Row{DType::uint32, "uint32", 4, Family::unsigned_integer},
    Row{DType::uint16, "uint16", 2, Family::unsigned_integer},
    Row{DType::uint8, "uint8", 1, Family::unsigned_integer},
    Row{DType::boolean, "bool", 1, Family::boolean},
    Row{DType::complex64, "complex64", 8, Family::complex},
    Row{DType::complex128, "complex128", 16, Family::complex},
};

constexpr auto kDTypes = [] {
  std::array<DType, kRows.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = kRows[i].dtype;
  return all;
}();

// The rows stand in the enum's order, so that a dtype is its own index.
static_assert([] {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].dtype != static_cast<DType>(i)) return false;
  }
  return true;
}());

const Row& row(DType dtype) { return kRows.at(static_cast<std::size_t>(dtype)); }

struct Spelling {
  std::string_view text;
  DType dtype;
};

constexpr std::array kAliases{
    Spelling{"double", DType::float64},
    Spelling{"fp64", DType::float64},
    Spelling{"float", DType::float32},
    Spelling{"fp32", DType::float32},
    Spelling{"half", DType::float16},
    Spelling{"fp16", DType::float16},
    Spelling{"bf16", DType::bfloat16},
    Spelling{"float8_e4m3", DType::float8_e4m3fn},
    Spelling{"fp8e4m3", DType::float8_e4m3fn},
    Spelling{"fp8e5m2", DType::float8_e5m2},
    Spelling{"fp8_e4m3", DType::float8_e4m3fn},
    Spelling{"fp8_e5m2", DType::float8_e5m2},
    Spelling{"long", DType::int64},
    Spelling{"int", DType::int32},
    Spelling{"short", DType::int16},
    Spelling{"byte", DType::uint8},
    Spelling{"boolean", DType::boolean},
    Spelling{"cfloat", DType::complex64},
    Spelling{"cdouble", DType::complex128},
};

constexpr std::array kCTypes{
    Spelling{"char", DType::int8},
    Spelling{"signed char", DType::int8},
    Spelling{"unsigned char", DType::uint8},
    Spelling{"unsigned short", DType::uint16},
    Spelling{"unsigned", DType::uint32},
    Spelling{"unsigned int", DType::uint32},
    Spelling{"unsigned long", DType::uint64},
    Spelling{"long long", DType::int64},
    Spelling{"long int", DType::int64},
    Spelling{"long long int", DType::int64},
    Spelling{"unsigned long long", DType::uint64},
    Spelling{"short int", DType::int16},
    Spelling{"signed short", DType::int16},
    Spelling{"unsigned short int", DType::uint16},
    Spelling{"signed", DType::int32},
    Spelling{"signed int", DType::int32},
    Spelling{"signed long", DType::int64},
    Spelling{"unsigned long int", DType::uint64},
    Spelling{"unsigned long long int", DType::uint64},
    Spelling{"int8_t", DType::int8},
    Spelling{"int16_t", DType::int16},
    Spelling{"int32_t", DType::int32},
    Spelling{"int64_t", DType::int64},
    Spelling{"uint8_t", DType::uint8},
    Spelling{"uint16_t", DType::uint16},
    Spelling{"uint32_t", DType::uint32},
    Spelling{"uint64_t", DType::uint64},
    Spelling{"size_t", DType::uint64},
    Spelling{"ssize_t", DType::int64},
    Spelling{"ptrdiff_t", DType::int64},
    Spelling{"__half", DType::float16},
    Spelling{"__nv_bfloat16", DType::bfloat16},
    Spelling{"__nv_fp8_e4m3", DType::float8_e4m3fn},
    Spelling{"__nv_fp8_e5m2", DType::float8_e5m2},
};

}  // namespace

std::span<const DType> all_dtypes() { return kDTypes; }

std::string_view name(DType dtype) { return row(dtype).name; }

std::optional<DType> parse_dtype(std::string_view text) {
  constexpr std::string_view kTorch = "torch.";
  if (text.starts_with(kTorch)) text.remove_prefix(kTorch.size());
  for (const Row& candidate : kRows) {
    if (candidate.name == text) return candidate.dtype;
  }
  for (const Spelling& alias : kAliases) {
    if (alias.text == text) return alias.dtype;
  }
  return std::nullopt;
}

std::optional<DType> parse_c_type(std::string_view text) {
  for (const Spelling& spelling : kCTypes) {
    if (spelling.text == text) return spelling.dtype;
  }
  return parse_dtype(text);
}

std::size_t size_bytes(DType dtype) { return row(dtype).size; }
bool is_floating(DType dtype) { return row(dtype).family == Family::floating; }
bool is_complex(DType dtype) { return row(dtype).family == Family::complex; }
bool is_signed_integer(DType dtype) { return row(dtype).family == Family::signed_integer; }
bool is_integer(DType dtype) {
  return is_signed_integer(dtype) || row(dtype).family == Family::unsigned_integer;
}

DType component(DType dtype) {
  if (dtype == DType::complex64) return DType::float32;
  if (dtype == DType::complex128) return DType::float64;
  return dtype;
}

std::int64_t lowest_integer(DType dtype) {
  if (!is_signed_integer(dtype)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - 8 * size_bytes(dtype));
}

std::uint64_t highest_integer(DType dtype) {
  const std::size_t bits = 8 * size_bytes(dtype) - (is_signed_integer(dtype) ? 1 : 0);
  return std::numeric_limits<std::uint64_t>::max() >> (64 - bits);
}

double highest_finite(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::numeric_limits<double>::max();
    case DType::float32:
      return static_cast<double>(std::numeric_limits<float>::max());
    case DType::float16:
      return 65504.0;
    case DType::bfloat16:
      return 0x1.FEp127;
    case DType::float8_e4m3fn:
      return 448.0;
    case DType::float8_e5m2:
      return 57344.0;
    default:
      throw std::invalid_argument("highest_finite: not a floating type");
  }
}

}  // namespace assay::contract
