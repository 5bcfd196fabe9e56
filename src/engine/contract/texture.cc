#include "engine/contract/texture.h"

#include "engine/contract/contract.h"

namespace assay::contract {
namespace {

constexpr std::array kFilters{TextureFilter::point, TextureFilter::linear};
constexpr std::array kAddresses{TextureAddress::clamp, TextureAddress::border, TextureAddress::wrap,
                                TextureAddress::mirror};
constexpr std::array kReads{TextureRead::element, TextureRead::normalized_float};

template <typename Enum, std::size_t N>
std::optional<Enum> named(const std::array<Enum, N>& all, std::string_view text) {
  for (const Enum each : all) {
    if (name(each) == text) return each;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(TextureFilter filter) {
  return filter == TextureFilter::point ? "point" : "linear";
}

std::string_view name(TextureAddress address) {
  switch (address) {
    case TextureAddress::clamp:
      return "clamp";
    case TextureAddress::border:
      return "border";
    case TextureAddress::wrap:
      return "wrap";
    case TextureAddress::mirror:
      break;
  }
  return "mirror";
}

std::string_view name(TextureRead read) {
  return read == TextureRead::element ? "element" : "normalized_float";
}

std::optional<TextureFilter> parse_texture_filter(std::string_view text) {
  return named(kFilters, text);
}
std::optional<TextureAddress> parse_texture_address(std::string_view text) {
  return named(kAddresses, text);
}
std::optional<TextureRead> parse_texture_read(std::string_view text) { return named(kReads, text); }

TextureExtent extent_of(const Texture& texture, const TensorSpec& spec) {
  const bool has_channels = texture.channels > 1;
  const std::size_t dimensions = spec.shape.size() - (has_channels ? 1 : 0);
  const auto extent = [&](std::size_t d) { return static_cast<std::uint64_t>(spec.shape[d]); };
  const std::uint64_t element = size_bytes(spec.dtype);
  if (dimensions == 1) {
    return {.width = extent(0), .pitch_bytes = extent(0) * texture.channels * element};
  }
  const std::uint64_t row = spec.strides ? static_cast<std::uint64_t>(spec.strides->front())
                                         : extent(1) * texture.channels;
  return {.width = extent(1), .height = extent(0), .pitch_bytes = row * element};
}

}  // namespace assay::contract
