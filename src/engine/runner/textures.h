// Arguments that a kernel reads as textures, out of a request (node/passed_texture.h writes them).
//
// Pure; any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

// Those of `arguments` that are textures, with their places in the kernel's parameter block. Throws
// std::runtime_error on what the engine never sends.
[[nodiscard]] std::vector<emulator::Texture> decode_textures(const nlohmann::json& arguments,
                                                             const emulator::KernelInfo& kernel);

}  // namespace assay::runner
