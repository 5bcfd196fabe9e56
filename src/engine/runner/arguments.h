// A contract's arguments put into a kernel's parameter block. The kernel's own signature (from the
// PTX) decides width and kind; what does not fit it is named, never converted silently: a 2.0
// handed over as the first half of a double is how the system replaced computed nonsense.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/contract/dtype.h"
#include "engine/emulator/emulator.h"

namespace assay::runner {

struct Argument {
  std::string name{};
  std::string type{};                       // the contract's: tensor, int, float, bool
  std::optional<contract::DType> c_type{};  // what the contract declares beyond that
  std::uint64_t address = 0;                // tensor
  bool is_texture = false;                  // of it a texture object is passed, not its address
  std::int64_t integer = 0;                 // int, bool; an unsigned 64-bit value keeps its bits
  bool is_unsigned = false;                 // `integer` holds the bits of a value above 2^63-1
  double real = 0;                          // float
};

struct Misfit {
  std::size_t argument = 0;  // index into the arguments; their count when it is about the arity
  std::string message{};
};

using Packed = std::variant<std::vector<std::byte>, std::vector<Misfit>>;
[[nodiscard]] Packed pack(const emulator::KernelInfo& kernel,
                          const std::vector<Argument>& arguments);

}  // namespace assay::runner
