// The least time that a contract's traffic takes on a device's memory: what every GPU time is told
// beside, and the part of it that no honest kernel can be below.
//
// Told is each tensor read or written once (roof.h). Held against a kernel is only what it must
// have moved: outputs, all of whose elements are poisoned before a run and judged after it, less
// what may lie in the L2 still when it ends. Inputs are not: a gather, a search, a kernel that
// stops early reads what it needs, and nobody knows how much that is. Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/contract/contract.h"

namespace assay::node {

struct Floor {
  std::uint64_t bytes = 0;  // every tensor read or written once
  std::uint64_t l2_bytes = 0;
  std::optional<double> ns{};       // at the memory's own rate; nothing: that is not known
  std::uint64_t must_bytes = 0;     // that a kernel surely moved to the memory
  std::optional<double> must_ns{};  // 0: nothing is sure
};

// `facts` as the devices role tells them. `writes_all`: all elements of each output were seen to be
// written.
[[nodiscard]] Floor floor_of(const nlohmann::json& facts, const contract::Contract& contract,
                             bool writes_all);

// {bytes, ns, share_pct, must_bytes, must_ns, note}; the share in the kernel's time, unless its
// tensors stay in the L2 from run to run.
[[nodiscard]] nlohmann::json tell(const Floor& floor, std::optional<double> kernel_ns);

// Of what must be moved, with room for what a driver says of its memory, and an event's resolution.
inline constexpr double kShareOfMust = 0.8;
[[nodiscard]] bool is_below(const Floor& floor, double claimed_ns);

}  // namespace assay::node
