// How a kernel reads a tensor through a cudaTextureObject_t instead of a pointer: what
// cudaCreateTextureObject is told of linear memory (one dimension, tex1Dfetch) and of pitched rows
// (two, tex2D). The words are those of CUDA's texture description.
//
// Pure values; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace assay::contract {

struct TensorSpec;

enum class TextureFilter { point, linear };
enum class TextureAddress { clamp, border, wrap, mirror };
enum class TextureRead { element, normalized_float };

[[nodiscard]] std::string_view name(TextureFilter filter);
[[nodiscard]] std::string_view name(TextureAddress address);
[[nodiscard]] std::string_view name(TextureRead read);
[[nodiscard]] std::optional<TextureFilter> parse_texture_filter(std::string_view text);
[[nodiscard]] std::optional<TextureAddress> parse_texture_address(std::string_view text);
[[nodiscard]] std::optional<TextureRead> parse_texture_read(std::string_view text);

struct Texture {
  TextureFilter filter = TextureFilter::point;
  // Of x (the columns), then of y.
  std::array<TextureAddress, 2> address{TextureAddress::clamp, TextureAddress::clamp};
  bool normalized_coords = false;
  TextureRead read = TextureRead::element;
  std::uint32_t channels = 1;  // with more than one they are the tensor's last extent
  bool operator==(const Texture&) const = default;
};

struct TextureExtent {
  std::uint64_t width = 0;   // in texels
  std::uint64_t height = 0;  // 0: linear memory
  std::uint64_t pitch_bytes = 0;
};

// REQUIRES a texture and a tensor that parse() took together.
[[nodiscard]] TextureExtent extent_of(const Texture& texture, const TensorSpec& spec);

}  // namespace assay::contract
