// Which tensor an access far from all memory is of, if the index of 32 bits that led to it has
// wrapped: it lies 2^32 elements from the one that was meant.
#pragma once

#include <cstdint>

#include "engine/emulator/memory.h"

namespace assay::emulator {

struct Unwrapped {
  const Object* object = nullptr;   // nullptr: no index that wrapped leads there
  std::int64_t element = 0;         // that was meant
  std::uint64_t element_bytes = 0;  // the stride of the index, which may be more than is accessed
};

// `access_bytes`: by one lane; the stride is a multiple of that.
[[nodiscard]] Unwrapped unwrapped(const AddressTable& table, std::uint64_t address,
                                  std::uint64_t access_bytes);

}  // namespace assay::emulator
