// Where the lanes of one warp's access go, looked at by whole vectors: the addresses themselves,
// which eights of lanes move as one, and whether the shape is that of an earlier time. The
// functions behind it are compiled per instruction set (inspection_ops.cc). Plain values; any
// thread.
#pragma once

#include <array>
#include <cstdint>

#include "engine/emulator/op.h"

namespace assay::emulator {

inline constexpr unsigned kEights = 4;  // groups of eight lanes in a warp

struct LaneAddresses {
  alignas(32) std::array<std::uint64_t, 32> of{};  // also of lanes that are off
  // A bit per eight: neighbours follow one another; all eight are the same.
  std::uint8_t lines = 0;
  std::uint8_t points = 0;
};

// Addresses of a warp's access relative to its first active lane, as far as lanes were active.
struct AccessShape {
  alignas(32) std::array<std::uint64_t, 32> delta{};  // narrow addresses: half of the words
  std::uint32_t active = 0;                           // 0: none yet
  unsigned lanes = 0;                                 // that are active
  unsigned first = 0;                                 // the first of them
  std::int64_t lowest = 0;                            // of the deltas
  std::int64_t highest = 0;
  std::uint64_t number = 0;  // of this shape among all; 0: none yet
  std::uint64_t led_by = 0;  // that of a load which this one follows (anchor.h), seen together
  // How often it came again, by the first address modulo 4; taken into account later.
  std::array<std::uint64_t, 4> hits{};
};

// Vector work of an inspection, for one instruction set. `narrow`: addresses are 32 bits wide.
struct InspectionSet {
  void (*read)(Warp& w, const Op& op, bool narrow, unsigned bytes, LaneAddresses& out) = nullptr;
  // Is the access of `op` now of this shape?
  bool (*repeats)(Warp& w, const Op& op, bool narrow, const AccessShape& shape) = nullptr;
  void (*shape)(Warp& w, const Op& op, bool narrow, AccessShape& out) = nullptr;
  // Counts an access to shared memory of the shape seen last, or else tells the watch; then does
  // what the instruction does. By the width of its addresses.
  Handlers count_shared{};
  Handlers count_shared_wide{};
  // shadow.h: eight neighbouring granules from `first` on. False: not all of them are beyond doubt,
  // and nothing was done.
  bool (*mark_eight)(struct GranulePage& page, unsigned first, const struct Marking& now,
                     std::uint32_t lane, unsigned granules_of_lane) = nullptr;
};

}  // namespace assay::emulator
