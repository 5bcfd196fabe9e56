// A buffer that a kernel reads through a texture object, and what the object says of it. Where the
// handle is to stand in a launch's parameters stands the buffer's address; each device puts a
// handle of its own there.
//
// Pure values; no device and no CUDA header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace assay::emulator {

enum class Texel : std::uint8_t { u8, u16, u32, s8, s16, s32, f16, f32 };
enum class TextureAddress : std::uint8_t { clamp, border, wrap, mirror };

struct Texture {
  std::string name{};  // for diagnosis
  std::size_t parameter_offset = 0;
  Texel texel = Texel::f32;
  unsigned channels = 1;          // 1, 2 or 4
  std::uint64_t width = 0;        // in texels
  std::uint64_t height = 0;       // 0: linear memory, which only integer coordinates read
  std::uint64_t pitch_bytes = 0;  // of a row; of linear memory all of it
  bool linear_filter = false;
  bool normalized_coords = false;
  bool normalized_float = false;                 // integers are read as [0, 1] or [-1, 1]
  std::array<TextureAddress, 2> address_mode{};  // of x, of y
};

[[nodiscard]] constexpr unsigned bytes_of(Texel texel) {
  switch (texel) {
    case Texel::u8:
    case Texel::s8:
      return 1;
    case Texel::u16:
    case Texel::s16:
    case Texel::f16:
      return 2;
    default:
      return 4;
  }
}

// What the buffer must hold at its address.
[[nodiscard]] constexpr std::uint64_t texture_bytes(const Texture& t) {
  const std::uint64_t row = t.width * t.channels * bytes_of(t.texel);
  return t.height == 0 ? row : (t.height - 1) * t.pitch_bytes + row;
}

}  // namespace assay::emulator
