// A tensor_spec: shape, strides, dtype, init, data, tolerance. Private to this room.
#pragma once

#include <optional>
#include <string_view>

#include "engine/contract/reading.h"
#include "engine/contract/sizes.h"

namespace assay::contract {

// Nothing after a violation that leaves no usable spec; the caller looks at notes for the rest.
[[nodiscard]] std::optional<TensorSpec> read_tensor_spec(const Node& node, Role role, Sizes& sizes,
                                                         const ParseOptions& options, Notes& notes);

// Notes what is wrong with an init for a dtype. Private helper of read_tensor_spec, in
// init_reading.cc.
[[nodiscard]] std::optional<TensorInit> read_init(const Node& node, DType dtype, Notes& notes);

// Whether a finite value survives rounding to the dtype without becoming infinite (or NaN).
[[nodiscard]] bool fits_floating(double value, DType dtype);

// Whether the number is an integer within the dtype's range.
[[nodiscard]] bool fits_integer(const Number& number, DType dtype);

}  // namespace assay::contract
