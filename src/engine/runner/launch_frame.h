// What a frame says of a launch: the kernel's arguments and the shape of its grid, as the engine
// writes them (node/kernel_session.cc). Throws json's exceptions for what is none. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "engine/emulator/emulator.h"
#include "engine/runner/arguments.h"

namespace assay::runner {

// Whether an argument is somewhere: a tensor without elements is nowhere, and its address null, as
// torch's are, so that a kernel can tell an optional tensor that is not there.
[[nodiscard]] bool has_address(const nlohmann::json& argument);
// Tensors lie in an arena at that address.
[[nodiscard]] std::vector<Argument> decode_arguments(const nlohmann::json& list,
                                                     std::uint64_t arena_address);
[[nodiscard]] emulator::Dim3 decode_dim(const nlohmann::json& list);
// Blocks of a grid that wait for one another find their meeting place through a register of PTX.
[[nodiscard]] bool is_cooperative(std::string_view ptx);

}  // namespace assay::runner
