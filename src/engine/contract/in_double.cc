#include "engine/contract/in_double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace assay::contract {
namespace {

// `digits` with the hidden one; below `least_exponent` their unit no longer shrinks.
double rounded(double value, int digits, int least_exponent, double highest) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), least_exponent);
  const double unit = std::ldexp(1.0, exponent - digits + 1);
  const double near = std::nearbyint(value / unit) * unit;
  if (std::fabs(near) <= highest) return near;
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace

DType wider(DType dtype) {
  switch (dtype) {
    case DType::float32:
    case DType::float16:
    case DType::bfloat16:
      return DType::float64;
    case DType::complex64:
      return DType::complex128;
    default:
      return dtype;
  }
}

std::optional<std::string> why_not_in_double(const Contract& contract) {
  for (const Arg& arg : contract.args) {
    if (arg.texture) return "'" + arg.name + "' is a texture, and textures hold no doubles";
    if (!arg.is_tensor()) continue;
    const DType dtype = arg.tensor_spec->dtype;
    if (is_floating(dtype) && size_bytes(dtype) == 1) {
      return "'" + arg.name + "' is " + std::string(name(dtype)) + ", which is not widened";
    }
  }
  return std::nullopt;
}

double held(double value, DType dtype) {
  switch (dtype) {
    case DType::float32:
      return rounded(value, 24, -126, highest_finite(dtype));
    case DType::float16:
      return rounded(value, 11, -14, highest_finite(dtype));
    case DType::bfloat16:
      return rounded(value, 8, -126, highest_finite(dtype));
    default:
      return value;
  }
}

Contract in_double(const Contract& contract) {
  Contract wide = contract;
  for (Arg& arg : wide.args) {
    if (arg.is_tensor()) arg.tensor_spec->dtype = wider(arg.tensor_spec->dtype);
    if (arg.c_type) arg.c_type = wider(*arg.c_type);
  }
  return wide;
}

}  // namespace assay::contract
