#include "engine/node/staging.h"

#include <algorithm>
#include <array>

#include "engine/node/referee_slots.h"

namespace assay::node {
namespace {

// A kernel's time depends on where its tensors happen to lie: a median over few places is a median
// of accidents.
constexpr std::uint32_t kPlaces = 12;
// More of them where their tensors are neither small beside an L2 nor, twelve together, far beyond.
constexpr std::uint64_t kSmallBytes = 4ULL << 20;
constexpr std::uint64_t kBeyondCacheBytes = 256ULL << 20;
constexpr std::uint32_t kMostPlaces = 32;
constexpr std::uint64_t kMaxPlacedBytes = 12ULL << 30;
constexpr std::uint64_t kMaxStagedBytes = 6ULL << 30;

// Contexts, of jobs to come too, take half a gigabyte each; others may have some.
constexpr std::uint64_t kContextBytes = 2ULL << 30;
// Fewer places than these are worth less than contents that a kernel cannot foresee.
constexpr std::uint32_t kFewPlaces = 3;
constexpr std::uint32_t kFewSlots = 2;

Staging wished(const StagingNeed& need) {
  const auto fitting =
      static_cast<std::uint32_t>(kMaxStagedBytes / std::max<std::uint64_t>(need.arena_bytes, 1));
  const std::uint64_t place_bytes = need.arena_bytes + need.scratch_bytes;
  const std::uint64_t least = std::max<std::uint64_t>(place_bytes, 1);
  const auto wanted =
      place_bytes < kSmallBytes
          ? kPlaces
          : std::clamp<std::uint64_t>(kBeyondCacheBytes / least, kPlaces, kMostPlaces);
  const auto placed =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, kMaxPlacedBytes / least));
  return {.slots = std::clamp(fitting, 1U, kContentSlots.count), .places = std::max(placed, 1U)};
}

std::uint64_t room_of(std::uint64_t device_bytes) {
  const std::uint64_t most = device_bytes - device_bytes / 4;
  return most > kContextBytes ? most - kContextBytes : 0;
}

// What is given up first: places down to a few, then contents, then the rest of the places.
struct GivenUp {
  std::uint32_t Staging::*what;
  std::uint32_t least;
};
constexpr std::array kGivenUp{GivenUp{&Staging::places, kFewPlaces},
                              GivenUp{&Staging::slots, kFewSlots}, GivenUp{&Staging::places, 1},
                              GivenUp{&Staging::slots, 1}};

bool give_up_one(Staging& staging) {
  for (const auto& [what, least] : kGivenUp) {
    if (staging.*what <= least) continue;
    --(staging.*what);
    return true;
  }
  return false;
}

}  // namespace

std::uint64_t staged_bytes(const StagingNeed& need, const Staging& staging) {
  const std::uint64_t contents = staging.slots * need.arena_bytes;
  const std::uint64_t places = staging.places * (need.arena_bytes + need.scratch_bytes);
  // What launches of graphs leave, of a comparison (runner/gpu_timer.h).
  const std::uint64_t left = need.sides > 1 ? 2 * need.arena_bytes : 0;
  // The referee lends the contents, and holds what each of them must give.
  return need.sides * (contents + places + left) + 2 * contents;
}

Staging staging_of(const StagingNeed& need) {
  Staging staging = wished(need);
  if (need.device_bytes == 0) return staging;
  const std::uint64_t room = room_of(need.device_bytes);
  while (staged_bytes(need, staging) > room && give_up_one(staging)) {
  }
  return staging;
}

}  // namespace assay::node
