// atom, red and cp.async: lane by lane, with real atomics on memory that other host threads see.
#pragma once

#include <cstddef>

#include "engine/emulator/op.h"

namespace assay::emulator {

struct AtomicForm {
  using Combine = void (*)(std::byte* at, const std::byte* operand);
  Handler handler = nullptr;
  Combine combine = nullptr;  // one word with another; none of cas
  Type type = Type::none;
  bool has_second = false;  // cas
};
// Op: d result or kNowhere, a 64-bit address row + imm, b and c operands, aux as memory_aux.
[[nodiscard]] bool select_atomic(Form& form, AtomicForm& out);

}  // namespace assay::emulator
