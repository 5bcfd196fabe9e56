// What a GPU can do at most: arithmetic and memory traffic in a second, from what its driver says
// of it; and what a contract asks of it at least. The roof and the floor under which a kernel's
// figures stand.
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/contract/contract.h"

namespace assay::node {

struct Roof {
  // Single precision outside tensor cores, a fused multiply-add counted as two.
  std::optional<double> flops_per_second{};
  std::optional<double> bytes_per_second{};
};

// `facts` as the devices role tells them.
[[nodiscard]] Roof roof_of(const nlohmann::json& facts);

// Every tensor read and every tensor written once.
[[nodiscard]] std::uint64_t least_bytes(const contract::Contract& contract);

// {roof: {gpu, flops_per_second, bytes_per_second, note}, floor: {bytes, ns, share_pct, note}};
// null for what is not known. The share of the floor in the kernel's time, unless its tensors stay
// in the L2 from run to run.
[[nodiscard]] nlohmann::json tell_roof(const nlohmann::json& facts,
                                       const contract::Contract& contract,
                                       std::optional<double> kernel_ns);

}  // namespace assay::node
