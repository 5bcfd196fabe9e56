// The slots in which the referee's arenas stand, by what is lent from them. A slot filled anew lets
// its arena before go: what is in use side by side in one job has numbers of its own.
//
// Where a bound is found out, it is asserted that its range has room for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace assay::node {

struct SlotRange {
  std::uint32_t first = 0;
  std::uint32_t count = 1;

  [[nodiscard]] constexpr std::uint32_t slot(std::uint32_t index) const { return first + index; }
  [[nodiscard]] constexpr std::uint32_t end() const { return first + count; }
};

// What is judged, one trial after the other.
inline constexpr std::uint32_t kJudgedSlot = 0;
// Of a KernelJob whose trials are filled ahead, by trial.
inline constexpr SlotRange kAheadSlots{.first = kJudgedSlot, .count = 8};
// What the runs of a GpuTiming begin with: of a KernelJob the first trials, staged ahead with them;
// of a lift when the turns of its Python are over, so that their memory serves again.
inline constexpr SlotRange kContentSlots{.first = kJudgedSlot, .count = 3};
// The calls of a PythonTiming's turn: 2N at most, each on contents of its own.
inline constexpr SlotRange kTurnSlots{.first = 1, .count = 96};
// Never memory that the candidate has been shown.
inline constexpr std::uint32_t kReferenceSlot = 1000;
inline constexpr std::uint32_t kOtherSlot = 1001;  // other contents than the task's
inline constexpr std::uint32_t kAgainSlot = 1002;  // a reference asked again
// On a device, where calls share them: the reference's own, as the kernel's in kTurnSlots.
inline constexpr SlotRange kReferenceTurnSlots{.first = 2000, .count = 4};
inline constexpr std::uint32_t kInspectedSlot = 3000;  // shown to a process of its own
inline constexpr std::uint32_t kAnswerSlot = 4000;     // what a lift is held against

template <std::size_t N>
[[nodiscard]] constexpr bool are_apart(const std::array<SlotRange, N>& ranges) {
  for (std::size_t i = 1; i < N; ++i) {
    if (ranges[i].first < ranges[i - 1].end()) return false;
  }
  return true;
}

// In ascending order: of a KernelJob, of a PythonJob, and of the lift that follows its turns.
static_assert(are_apart(std::array{kAheadSlots, SlotRange{kReferenceSlot}}));
static_assert(are_apart(std::array{SlotRange{kJudgedSlot}, kTurnSlots, SlotRange{kReferenceSlot},
                                   SlotRange{kOtherSlot}, SlotRange{kAgainSlot},
                                   kReferenceTurnSlots, SlotRange{kInspectedSlot},
                                   SlotRange{kAnswerSlot}}));
static_assert(are_apart(std::array{kContentSlots, SlotRange{kAnswerSlot}}));
static_assert(kContentSlots.end() <= kAheadSlots.end(), "contents staged ahead are trials'");

}  // namespace assay::node
