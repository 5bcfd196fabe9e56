// The elements of two tensors as numbers, one at a time: for the slow path that explains
// mismatches. Private to this room.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/contract/dtype.h"

namespace assay::judge {

// The bits of element `index`, zero-extended; of one component for complex types. REQUIRES no more
// than 8 bytes per element.
[[nodiscard]] std::uint64_t element_bits(std::span<const std::byte> bytes, std::uint64_t index,
                                         contract::DType dtype);

// Any dtype as a number; 64-bit integers lose what double cannot hold.
[[nodiscard]] std::complex<double> element_value(std::span<const std::byte> bytes,
                                                 std::uint64_t index, contract::DType dtype);

// The shortest text that reads back to the same element; 64-bit integers exactly.
[[nodiscard]] std::string element_text(std::span<const std::byte> bytes, std::uint64_t index,
                                       contract::DType dtype);

// A number for a sentence: the shortest text of the double.
[[nodiscard]] std::string number_text(double value);

}  // namespace assay::judge
