// Between a tensor's buffer, which may have strides, and its contiguous C-order elements.
//
// Pure; any thread. Sizes that disagree with the spec throw std::invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/contract/contract.h"

namespace assay::judge {

// buffer (spec.buffer_bytes()) → elements (spec.contiguous_bytes()), and back. scatter leaves the
// gaps.
void gather(const contract::TensorSpec& spec, std::span<const std::byte> buffer,
            std::span<std::byte> elements);
void scatter(const contract::TensorSpec& spec, std::span<const std::byte> elements,
             std::span<std::byte> buffer);

}  // namespace assay::judge
