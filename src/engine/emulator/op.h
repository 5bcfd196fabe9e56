// One decoded instruction and how its handlers are chosen. The decoder makes Ops, the warp loop
// calls them; nothing else is touched on the hot path.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/emulator/anchor.h"
#include "engine/emulator/types.h"

namespace assay::emulator {

struct Warp;
struct Op;
using Handler = void (*)(Warp&, const Op&);

// `full` may write every lane of a row (the group is all that lives in its warp); `masked` writes
// only active lanes. Where one function does both, both point to it.
struct Handlers {
  Handler full = nullptr;
  Handler masked = nullptr;
};

inline constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;

// Registers are byte offsets into the frame: a row of 32 lanes each, a predicate 32 bits.
struct Op {
  Handler full = nullptr;
  Handler masked = nullptr;
  Handler inner = nullptr;  // what a guarded instruction runs for the lanes that pass
  std::uint32_t d = kNowhere;
  std::uint32_t a = kNowhere;
  std::uint32_t b = kNowhere;
  std::uint32_t c = kNowhere;
  std::int64_t imm = 0;
  std::uint32_t e = kNowhere;
  std::uint32_t target = 0;
  std::uint32_t guard = kNowhere;  // predicate offset; lowest bit: negated
  std::uint32_t aux = 0;
};
static_assert(sizeof(Op) == 64);

// An opcode such as `mad.wide.s32`, taken apart. Selecting consumes modifiers, and what is left
// over means that the instruction is not the one we know.
class Form {
 public:
  explicit Form(std::string_view opcode);
  [[nodiscard]] std::string_view base() const { return parts_[0]; }
  [[nodiscard]] std::string_view opcode() const { return opcode_; }
  bool take(std::string_view modifier);
  Type take_type();              // the first type not yet taken
  std::string_view take_next();  // the first modifier not yet taken, or nothing
  [[nodiscard]] bool has(std::string_view modifier) const;
  [[nodiscard]] bool exhausted() const { return taken_ == (1U << count_) - 1U; }

 private:
  static constexpr unsigned kMaxParts = 16;
  std::string_view opcode_;
  std::array<std::string_view, kMaxParts> parts_{};
  unsigned count_ = 0;
  unsigned taken_ = 1;
};

// What a selector found: the handlers and the type of each operand, result first: Op's d, a, b, c,
// e.
struct Selection {
  Handlers handlers{};
  std::array<Type, 5> operands{};
  std::uint32_t aux = 0;
  std::int64_t imm = 0;
  bool ends_with_immediate = false;  // one more operand, a constant, goes to imm (lop3's table)
  bool uses_carry = false;           // reads or writes CC: its offset goes to target
};

// How addresses become bytes.
enum class AddressClass : std::uint8_t {
  table,          // 64-bit addresses in the address table; of generic ones also the windows
  shared32,       // offsets into shared memory, from 32-bit registers
  shared64,       // the same, from 64-bit registers
  slow,           // any space, lane by lane
  kernel_params,  // imm into the parameter block, the same for all lanes
  frame_words,    // parameters of a .func: rows of words in the frame
};

// How a load or store moves one element.
struct MemoryForm {
  Type type = Type::b32;   // in memory
  unsigned row_bytes = 4;  // of the register's lane
  AddressClass address = AddressClass::table;
  bool synchronising = false;  // volatile, relaxed, acquire, release …
  unsigned elements = 1;
  AnchorRole anchor = AnchorRole::none;  // of a load; which of the warp's: Op::target
};

// One that goes by whole words, eight lanes at a time, where the instruction set can.
[[nodiscard]] constexpr bool moves_words(const MemoryForm& f) {
  return bytes_of(f.type) == 4 && f.row_bytes == 4 && !f.synchronising &&
         (f.address == AddressClass::table || f.address == AddressClass::shared32 ||
          f.address == AddressClass::shared64);
}

// Op::aux of a load or store.
[[nodiscard]] constexpr std::uint32_t memory_aux(unsigned elements, std::uint8_t space) {
  return elements | static_cast<std::uint32_t>(space) << 8;
}
[[nodiscard]] constexpr unsigned memory_elements(std::uint32_t aux) { return aux & 0xFF; }
[[nodiscard]] constexpr std::uint8_t memory_space(std::uint32_t aux) {
  return static_cast<std::uint8_t>(aux >> 8 & 0xFF);
}
[[nodiscard]] constexpr std::uint32_t with_anchor(std::uint32_t aux, AnchorRole role) {
  return (aux & 0xFFFF) | static_cast<std::uint32_t>(role) << 16;
}
[[nodiscard]] constexpr AnchorRole anchor_role(std::uint32_t aux) {
  return static_cast<AnchorRole>(aux >> 16 & 0xFF);
}

// The handlers compiled for one instruction set.
struct InstructionSet {
  std::string_view name{};
  bool (*integer)(Form&, Selection&) = nullptr;
  bool (*floating)(Form&, Selection&) = nullptr;
  bool (*math)(Form&, Selection&) = nullptr;
  bool (*half)(Form&, Selection&) = nullptr;
  bool (*logic)(Form&, Selection&) = nullptr;
  bool (*compare)(Form&, Selection&) = nullptr;
  bool (*convert)(Form&, Selection&, unsigned dst_row_bytes, unsigned src_row_bytes) = nullptr;
  Handlers (*move)(unsigned row_bytes) = nullptr;
  Handlers (*load)(const MemoryForm&) = nullptr;
  Handlers (*store)(const MemoryForm&) = nullptr;
  const struct InspectionSet* inspection = nullptr;
};

// The best one this processor has, or the one that ASSAY_EMULATOR_SET names ("portable"), unless
// another was asked for.
[[nodiscard]] const InstructionSet& instruction_set();
// For tests and benchmarks: modules parsed from now on use the set of this name ("portable",
// "avx2"), or with an empty name the best one. False: this processor has no such set.
bool use_instruction_set(std::string_view name);

}  // namespace assay::emulator
