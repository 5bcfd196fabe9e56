// How many blocks of a kernel fit on one multiprocessor at once, and which resource is the one that
// ends. A calculation from documented limits, not a measurement; a target whose limits are not
// documented has none.
//
// Pure values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::node {

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability", and the
// tuning guides of each generation for the kilobyte that every block's shared memory costs extra.
struct MultiprocessorLimits {
  int arch = 0;  // 90 for sm_90
  unsigned max_threads = 0;
  unsigned max_blocks = 0;
  std::uint64_t shared_bytes = 0;            // of the multiprocessor
  std::uint64_t shared_bytes_per_block = 0;  // with opt-in
  std::uint64_t reserved_shared_bytes = 0;   // taken by the system, per block
  std::uint64_t shared_unit_bytes = 0;       // allocation granularity
};

inline constexpr unsigned kWarpThreads = 32;
inline constexpr unsigned kRegistersPerMultiprocessor = 65536;
inline constexpr unsigned kRegisterUnit = 256;  // per warp
inline constexpr unsigned kWarpUnit = 4;        // warps get registers in fours: one per scheduler

[[nodiscard]] std::optional<MultiprocessorLimits> multiprocessor_limits(int arch);

enum class Limiter { registers, shared_memory, block_size, blocks };
[[nodiscard]] std::string_view name(Limiter limiter);

struct BlockNeeds {
  unsigned threads = 0;
  unsigned registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  // static and dynamic
};

struct Occupancy {
  unsigned blocks = 0;  // 0: no block fits at all
  unsigned warps = 0;
  unsigned max_warps = 0;
  std::vector<Limiter> limited_by{};  // all that allow no block more
  std::array<unsigned, 4> allowed{};  // blocks by each limiter alone, in their order

  [[nodiscard]] unsigned blocks_by(Limiter limiter) const {
    return allowed[static_cast<std::size_t>(limiter)];
  }

  [[nodiscard]] double percent() const { return max_warps == 0 ? 0 : 100.0 * warps / max_warps; }
};

// REQUIRES needs.threads > 0.
[[nodiscard]] Occupancy occupancy(const MultiprocessorLimits& limits, const BlockNeeds& needs);

}  // namespace assay::node
