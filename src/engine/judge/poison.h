// What outputs and guard zones hold before a kernel runs, and what is left of it afterwards.
//
// A pattern is one 32-bit word, repeated and aligned to the start of the arena (a device can set it
// with one 32-bit memset). Floats are poisoned with signalling NaNs of random payload: arithmetic
// turns them into quiet ones, so even a kernel that reads poison and writes it back does not write
// the pattern. Consecutive trials differ in every element.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/contract/dtype.h"
#include "engine/contract/layout.h"
#include "engine/judge/generator.h"

namespace assay::judge {

// The pattern for outputs of one dtype in one trial, and the one for guard zones.
[[nodiscard]] std::uint32_t poison_word(contract::DType dtype, const Secret& secret,
                                        std::uint32_t trial);
[[nodiscard]] std::uint32_t guard_word(const Secret& secret, std::uint32_t trial);

// Fills with the repeated word, little-endian. `phase` is the span's offset in the arena.
void fill_pattern(std::span<std::byte> out, std::uint32_t word, std::uint64_t phase = 0);

// Which elements of a buffer were never written, one flag each. Exact for 4-, 8- and 16-byte
// elements and bool, and for float16 and bfloat16 unless other signalling NaNs show that bytes of
// any kind are written; the other narrow types can hold the pattern by chance, so only whole
// aligned words of 4 bytes count for them. A smaller hole is flagged in no trial: its poison counts
// as written, and is found only where it is not what is wanted, or where a run on the same inputs
// under another pattern differs. REQUIRES the buffer to begin at a multiple of 4 in the arena.
[[nodiscard]] std::vector<bool> unwritten_mask(std::span<const std::byte> buffer,
                                               contract::DType dtype, std::uint32_t word);

// How many bytes are looked at together for that: an element, or a whole word.
[[nodiscard]] std::size_t unwritten_unit_bytes(contract::DType dtype);

// Whether element `index` of a buffer as above holds the pattern of a signalling NaN: no arithmetic
// makes one. False for every dtype that has none.
[[nodiscard]] bool is_signalling_poison(std::span<const std::byte> buffer, std::uint64_t index,
                                        contract::DType dtype, std::uint32_t word);

enum class GuardSide { before, after };
[[nodiscard]] std::string_view name(GuardSide side);

struct GuardBreach {
  std::size_t arg_index = 0;
  std::string name{};
  GuardSide side = GuardSide::before;
  std::uint64_t distance_bytes =
      0;  // from the tensor's edge to the nearest overwritten byte; 0: adjacent
  std::uint64_t count_bytes = 0;  // bytes that no longer hold the pattern on this side
  bool operator==(const GuardBreach&) const = default;
};

// The guards of one tensor; nothing if both are whole. If both were overwritten, the side behind is
// told. `arena` is the whole layout.total_bytes, its guards filled with fill_pattern(word) at phase
// = offset.
[[nodiscard]] std::optional<GuardBreach> check_guards(std::span<const std::byte> arena,
                                                      const contract::Placement& placement,
                                                      std::uint32_t word);

}  // namespace assay::judge
