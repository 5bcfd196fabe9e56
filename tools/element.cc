#include "tools/element.h"

#include <algorithm>
#include <array>

namespace assay::tools {
namespace {

using contract::DType;

constexpr std::array<std::string_view, 10> kNeighbours{"stride", "offset",     "start", "begin",
                                                       "pad",    "axis",       "seed",  "dilation",
                                                       "ksize",  "kernel_size"};

}  // namespace

std::optional<Element> element_of(std::string type) {
  if (type.substr(0, 5) == "std::") type = type.substr(5);
  if (const auto dtype = contract::parse_c_type(type)) return Element{*dtype, 1};
  if (type == "half2" || type == "__half2") return Element{DType::float16, 2};
  if (type == "__nv_bfloat162" || type == "nv_bfloat162") return Element{DType::bfloat16, 2};
  if (type == "at::Half" || type == "c10::Half") return Element{DType::float16, 1};
  if (type == "at::BFloat16" || type == "c10::BFloat16") return Element{DType::bfloat16, 1};
  if (type.empty() || type.back() < '1' || type.back() > '4') return std::nullopt;
  const std::int64_t width = type.back() - '0';
  type.pop_back();
  static constexpr std::pair<std::string_view, DType> kVectors[] = {
      {"float", DType::float32}, {"double", DType::float64}, {"int", DType::int32},
      {"uint", DType::uint32},   {"short", DType::int16},    {"ushort", DType::uint16},
      {"char", DType::int8},     {"uchar", DType::uint8},    {"longlong", DType::int64}};
  for (const auto& [name, dtype] : kVectors) {
    if (type == name) return Element{dtype, width};
  }
  return std::nullopt;
}

std::string c_type_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return "double";
    case DType::float32:
      return "float";
    case DType::float16:
      return "__half";
    case DType::bfloat16:
      return "__nv_bfloat16";
    case DType::float8_e4m3fn:
      return "__nv_fp8_e4m3";
    case DType::float8_e5m2:
      return "__nv_fp8_e5m2";
    case DType::int64:
      return "long long";
    case DType::int32:
      return "int";
    case DType::int16:
      return "short";
    case DType::int8:
      return "signed char";
    case DType::uint64:
      return "unsigned long long";
    case DType::uint32:
      return "unsigned int";
    case DType::uint16:
      return "unsigned short";
    case DType::uint8:
      return "unsigned char";
    case DType::boolean:
      return "bool";
    case DType::complex64:
      return "float2";
    case DType::complex128:
      return "double2";
  }
  return {};
}

bool says(const std::string& name, std::string_view part) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return lower.find(part) != std::string::npos;
}

bool is_neighbour(const std::string& name) {
  return std::any_of(kNeighbours.begin(), kNeighbours.end(),
                     [&](std::string_view word) { return says(name, word); });
}

}  // namespace assay::tools
