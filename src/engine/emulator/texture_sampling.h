// What a texture unit makes of coordinates: addressing modes, filters and conversions as the CUDA
// C++ Programming Guide defines them ("Texture Fetching").
//
// Pure functions over borrowed bytes; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/emulator/texture.h"

namespace assay::emulator {

// A texture of a launch and where its bytes lie on the host.
struct BoundTexture {
  Texture format{};
  const std::byte* bytes = nullptr;
};

// Handles that a launch gives out, one after another: no memory lies there.
inline constexpr std::uint64_t kTextureHandles = 0x00FE'7E00'0000'0000;
inline constexpr std::uint64_t kTextureHandleStep = 16;

// Four registers: components that the texture does not have are 0.
using TexelBits = std::array<std::uint32_t, 4>;

// Whether its components are floats; else integers.
[[nodiscard]] bool reads_floats(const Texture& texture);

// The texel of linear memory at an index; outside it is 0. REQUIRES height 0.
[[nodiscard]] TexelBits fetch_texel(const BoundTexture& texture, std::int64_t index);
// REQUIRES two dimensions, neither of them 0.
[[nodiscard]] TexelBits sample_texture(const BoundTexture& texture, float x, float y);

}  // namespace assay::emulator
