#include "engine/judge/elements.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;

template <typename T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

std::int64_t sign_extended(std::uint64_t bits, DType dtype) {
  const auto shift = static_cast<int>(64 - 8 * contract::size_bytes(dtype));
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

// Every float of 32 bits or fewer is a float; its shortest text as such is the one people know.
std::string real_text(double value, DType component) {
  return component == DType::float64 ? shortest(value) : shortest(static_cast<float>(value));
}

}  // namespace

std::uint64_t element_bits(std::span<const std::byte> bytes, std::uint64_t index, DType dtype) {
  const std::size_t size = contract::size_bytes(dtype);
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + index * size, size);
  return bits;
}

std::complex<double> element_value(std::span<const std::byte> bytes, std::uint64_t index,
                                   DType dtype) {
  if (contract::is_complex(dtype)) {
    const DType part = contract::component(dtype);
    return {from_bits(element_bits(bytes, 2 * index, part), part),
            from_bits(element_bits(bytes, 2 * index + 1, part), part)};
  }
  const std::uint64_t bits = element_bits(bytes, index, dtype);
  if (contract::is_floating(dtype)) return from_bits(bits, dtype);
  if (contract::is_signed_integer(dtype)) return static_cast<double>(sign_extended(bits, dtype));
  return static_cast<double>(bits);
}

std::string element_text(std::span<const std::byte> bytes, std::uint64_t index, DType dtype) {
  if (contract::is_complex(dtype)) {
    const std::complex<double> value = element_value(bytes, index, dtype);
    const DType part = contract::component(dtype);
    const std::string imaginary = real_text(value.imag(), part);
    return real_text(value.real(), part) + (imaginary.starts_with('-') ? "" : "+") + imaginary +
           "i";
  }
  const std::uint64_t bits = element_bits(bytes, index, dtype);
  if (contract::is_floating(dtype)) return real_text(from_bits(bits, dtype), dtype);
  if (contract::is_signed_integer(dtype)) return std::to_string(sign_extended(bits, dtype));
  if (dtype == DType::boolean && bits <= 1) return bits == 1 ? "true" : "false";
  return std::to_string(bits);
}

std::string number_text(double value) { return shortest(value); }

}  // namespace assay::judge
