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

// What the contract's tensors say of a kernel's use of the memory, without any counter.
// Of the roof, whose clocks are the highest there are; a timing's noise apart. Beyond it a kernel
// does not touch all of its tensors, so that a share says nothing.
inline constexpr double kMostSharePct = 105;

struct Traffic {
  double bytes = 0;                   // all tensors, read or written once
  double cold_bytes = 0;              // of them what cannot be in the L2 of a cold run
  std::optional<double> roof{};       // bytes a second
  std::optional<double> kernel_ns{};  // the kernel's time, again and again
  std::optional<double> cold_ns{};    // its time with cold caches and nothing around it
  bool stays_in_l2 = false;           // from run to run

  // Bytes a second: at least what it moved, if it touches all of its tensors.
  [[nodiscard]] std::optional<double> reached() const;
  // The memory's part of that, in percent of the roof: from the cold time where tensors stay in the
  // L2. Beyond 100 it does not touch all of them.
  [[nodiscard]] std::optional<double> share_pct() const;
};
[[nodiscard]] Traffic traffic_of(const nlohmann::json& facts, const contract::Contract& contract,
                                 std::optional<double> kernel_ns,
                                 std::optional<double> cold_ns = {});

// {roof: {gpu, flops_per_second, bytes_per_second, note}, floor: {bytes, ns, share_pct, gb_s,
// note}}; null for what is not known. The share of the floor in the kernel's time, unless its
// tensors stay in the L2 from run to run.
[[nodiscard]] nlohmann::json tell_roof(const nlohmann::json& facts, const Traffic& traffic);

}  // namespace assay::node
