// A contract as a kernel takes it that computes in double: its floating-point tensors are float64,
// so that the same inputs can be given to it, each element widened exactly.
//
// Pure; any thread.
#pragma once

#include <optional>
#include <string>

#include "engine/contract/contract.h"

namespace assay::contract {

// float64 for float32, float16 and bfloat16; complex128 for complex64; else the dtype itself.
[[nodiscard]] DType wider(DType dtype);

// Why a contract has no such form: the names of eight-bit floats, textures. Nothing if it has.
[[nodiscard]] std::optional<std::string> why_not_in_double(const Contract& contract);

// Tensors and typed scalars in their wider types. A scalar keeps its value: rounding it to the type
// that it was passed in is for whoever knows that type.
// What fills the tensors is not widened: their bytes are somebody else's to make.
[[nodiscard]] Contract in_double(const Contract& contract);

// The number that `dtype` holds for `value`: to nearest, ties to even, infinity beyond its highest.
// Of what is not one of float32, float16 and bfloat16: the value.
[[nodiscard]] double held(double value, DType dtype);

}  // namespace assay::contract
