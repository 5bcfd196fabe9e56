// Where the tensors of a contract lie in one block of memory, with room around each to catch stray
// writes.
//
// Pure; any thread. The same contract gives the same layout in every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::contract {

// What a texture object wants of an address; a pointer is content with 256.
inline constexpr std::uint64_t kTensorAlignmentBytes = 512;
inline constexpr std::uint64_t kGuardBytes = 512;  // the least on either side

// Each tensor owns its guards: [guard_begin, offset) before it and [offset + bytes, guard_end)
// behind it. The guard behind begins at the tensor's last byte, aligned or not, so that a write of
// one element too many is seen. A tensor without elements still has an offset and guards.
struct Placement {
  std::size_t arg_index = 0;
  std::string name{};
  std::uint64_t offset = 0;  // a multiple of kTensorAlignmentBytes
  std::uint64_t bytes = 0;
  std::uint64_t guard_begin = 0;
  std::uint64_t guard_end = 0;
  bool operator==(const Placement&) const = default;
};

struct Layout {
  std::vector<Placement> placements{};  // tensor arguments in the contract's order
  std::uint64_t total_bytes = 0;        // a multiple of kTensorAlignmentBytes
  bool operator==(const Layout&) const = default;
};

[[nodiscard]] Layout layout(const Contract& contract);

}  // namespace assay::contract
