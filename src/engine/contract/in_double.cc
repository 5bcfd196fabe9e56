#include "engine/contract/in_double.h"

namespace assay::contract {

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

Contract in_double(const Contract& contract) {
  Contract wide = contract;
  for (Arg& arg : wide.args) {
    if (arg.is_tensor()) arg.tensor_spec->dtype = wider(arg.tensor_spec->dtype);
    if (arg.c_type) arg.c_type = wider(*arg.c_type);
  }
  return wide;
}

}  // namespace assay::contract
