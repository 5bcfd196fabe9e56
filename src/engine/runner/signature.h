// What a kernel takes, as its author wrote it: the compiler's output knows sizes and, for mangled
// names, C types; the names of the parameters stand in the source only. The source is searched, not
// compiled: macros that make a signature are not seen, and then parameters are called arg_0, arg_1
// ….
//
// Pure; the source may hold anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

struct DeclaredArgument {
  std::string name{};
  std::string type{};  // C type: "float const*"; of extern "C" kernels as the source spells it
  std::string ptx_type{};
  std::size_t size_bytes = 0;
  bool is_pointer = false;
  bool is_read_only = false;  // pointer to const
};

[[nodiscard]] std::vector<DeclaredArgument> arguments(const emulator::KernelInfo& kernel,
                                                      std::string_view source);

// The texts between the commas of `list` that are in no parentheses, brackets or braces, trimmed.
[[nodiscard]] std::vector<std::string> split_list(std::string_view list);

}  // namespace assay::runner
