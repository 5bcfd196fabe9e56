// The attacks themselves: what a hostile kernel or script would try against its engine and its
// machine. Each one stops short of damage. Run in the probe, single-threaded.
#pragma once

#include <span>
#include <string_view>

#include "engine/confinement/targets.h"

namespace assay::confinement {

struct AttackKind {
  std::string_view name{};
  // 0 if it got through, otherwise the errno that stopped it.
  int (*attempt)(const Targets& targets) = nullptr;
};

[[nodiscard]] std::span<const AttackKind> attacks_on_processes();
[[nodiscard]] std::span<const AttackKind> attacks_on_files();
[[nodiscard]] std::span<const AttackKind> attacks_on_the_kernel();

// What stopped a call that returned `result`, 0 if nothing did.
[[nodiscard]] int stopped_by(long result);

}  // namespace assay::confinement
