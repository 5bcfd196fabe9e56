// Where one load of a warp went, kept for the loads after it in the same straight line whose
// address is the same register, unchanged, plus another constant: they need not look at 32
// addresses again. The decoder says which loads may (anchored_loads.h); what is kept holds until
// the warp's inner loop is left, since other lanes may run then. Plain values, each of one warp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::emulator {

// What may be read, and is of no meaning, after a block's shared memory.
inline constexpr std::size_t kSharedSlack = 64;

inline constexpr unsigned kAnchors = 8;  // that a warp keeps

// What a load has to do with the anchors of its warp.
enum class AnchorRole : std::uint8_t { none, keeps, follows };

// How the addresses of eight neighbouring lanes lie.
enum class EightShape : std::uint8_t {
  point,     // all the same
  line,      // one word after another
  column,    // 16 bytes apart, in shared memory
  spaced,    // at another distance
  repeated,  // those of the eight two before
  scattered,
};

struct Anchor {
  alignas(32) std::array<std::uint32_t, 32> offset{};  // of each lane, from `base` on
  std::byte* base = nullptr;
  std::int64_t imm = 0;    // of the instruction
  std::uint64_t last = 0;  // the greatest offset that is still inside
  std::uint32_t lowest = 0;
  std::uint32_t highest = 0;
  std::uint32_t shapes = 0;        // an EightShape in each byte
  std::uint64_t access_shape = 0;  // when counters are wanted: AccessShape::number of the load
};

}  // namespace assay::emulator
