// What is staged before runs are timed: contents that they begin with and places they work in. As
// much as medians want, and no more than the device has memory for: of a comparison each side's own
// process stages for itself, beside what the referee lends them and holds of its own.
//
// Pure; any thread.
#pragma once

#include <cstdint>

namespace assay::node {

// Contents that runs begin with (kContentSlots), and places they work in.
struct Staging {
  std::uint32_t slots = 1;
  std::uint32_t places = 1;
};

struct StagingNeed {
  std::uint64_t arena_bytes = 0;
  std::uint64_t scratch_bytes = 0;  // that each place has beside its arena
  std::uint32_t sides = 1;          // processes that stage: 2 with a reference
  std::uint64_t device_bytes = 0;   // all of its memory; 0: unknown, and no bound
};

[[nodiscard]] Staging staging_of(const StagingNeed& need);

// Of the device's memory, on all sides and in the referee.
[[nodiscard]] std::uint64_t staged_bytes(const StagingNeed& need, const Staging& staging);

}  // namespace assay::node
