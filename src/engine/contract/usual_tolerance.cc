#include "engine/contract/usual_tolerance.h"

namespace assay::contract {

Tolerance usual_tolerance(DType dtype) {
  switch (dtype) {
    case DType::float64:
    case DType::complex128:
      return {.atol = 1e-7, .rtol = 1e-7};
    case DType::float32:
    case DType::complex64:
      return {.atol = 1e-5, .rtol = 1.3e-6};
    case DType::float16:
      return {.atol = 1e-5, .rtol = 1e-3};
    case DType::bfloat16:
      return {.atol = 1e-5, .rtol = 1.6e-2};
    // Neighbours of an 8-bit type differ by up to 2^-3 (2^-2) of their value; atol is its smallest
    // number.
    case DType::float8_e4m3fn:
      return {.atol = 0x1p-9, .rtol = 0x1p-3};
    case DType::float8_e5m2:
      return {.atol = 0x1p-16, .rtol = 0x1p-2};
    default:
      return {};
  }
}

}  // namespace assay::contract
