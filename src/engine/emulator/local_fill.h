// What registers and local memory hold before a kernel has written them, chosen for a trial: some
// places hold one of several contents, all others that of the first. Contents differ so that no
// minimum, maximum, sum, index or flag made of them comes out the same.
//
// Places are known for modules that were compiled for debugging only (`.target …, debug`): there a
// variable keeps its register, and arrays and structures stay in local memory. Owned by the search;
// read by the one thread of a trial.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/emulator/module.h"

namespace assay::emulator {

struct Warp;

// A register, a word of a function's local memory, or of its result.
struct LocalPlace {
  enum class Kind : std::uint8_t { reg, memory, result };
  Kind kind = Kind::reg;
  std::uint32_t function = 0;
  std::uint32_t offset = 0;  // of the row in the frame, or of the bytes in its local memory
  std::uint32_t bytes = 0;   // per lane; 0: a predicate
  std::uint32_t index = 0;   // of a register: in Function::registers
};

inline constexpr std::size_t kContents = 3;
// The bytes that local memory can hold before it is written: no float, index or flag of one is like
// those of another. Registers hold others, so that a copy of memory can be told from a variable.
inline constexpr std::array<std::uint8_t, kContents> kMemoryContents{0x00, 0x7A, 0xFA};
inline constexpr std::array<std::uint8_t, kContents> kRegisterContents{0x00, 0x7B, 0xFB};

class LocalFill {
 public:
  // Of all functions that `entry` may call.
  LocalFill(const Module::Text& text, std::uint32_t entry);

  [[nodiscard]] const std::vector<LocalPlace>& places() const { return places_; }
  // From now on these places begin with contents number `contents`, all others with the first.
  void choose(std::size_t contents, const std::vector<std::uint32_t>& places);
  // The frame of lanes that enter a function, and its local memory.
  void enter(Warp& w, std::uint32_t lanes) const;

 private:
  std::vector<LocalPlace> places_{};      // by function
  std::vector<std::uint32_t> first_{};    // by function: its first place; one more at the end
  std::vector<std::uint8_t> contents_{};  // by place: which
};

}  // namespace assay::emulator
