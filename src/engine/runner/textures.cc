#include "engine/runner/textures.h"

#include <stdexcept>
#include <string_view>
#include <utility>

namespace assay::runner {
namespace {

using emulator::Texel;
using emulator::TextureAddress;
using nlohmann::json;

template <typename Enum, std::size_t N>
Enum named(const std::pair<std::string_view, Enum> (&names)[N], const json& text) {
  for (const auto& [name, value] : names) {
    if (text == name) return value;
  }
  throw std::runtime_error("a texture that is not known: " + text.dump());
}

constexpr std::pair<std::string_view, Texel> kTexels[] = {
    {"uint8", Texel::u8},    {"uint16", Texel::u16}, {"uint32", Texel::u32},
    {"int8", Texel::s8},     {"int16", Texel::s16},  {"int32", Texel::s32},
    {"float16", Texel::f16}, {"float32", Texel::f32}};
constexpr std::pair<std::string_view, TextureAddress> kAddresses[] = {
    {"clamp", TextureAddress::clamp},
    {"border", TextureAddress::border},
    {"wrap", TextureAddress::wrap},
    {"mirror", TextureAddress::mirror}};

emulator::Texture decode(const json& texture) {
  const json& address = texture.at("address");
  return {.texel = named(kTexels, texture.at("element")),
          .channels = texture.at("channels"),
          .width = texture.at("width"),
          .height = texture.at("height"),
          .pitch_bytes = texture.at("pitch_bytes"),
          .linear_filter = texture.at("linear_filter"),
          .normalized_coords = texture.at("normalized_coords"),
          .normalized_float = texture.at("normalized_float"),
          .address_mode = {named(kAddresses, address.at(0)), named(kAddresses, address.at(1))}};
}

}  // namespace

std::vector<emulator::Texture> decode_textures(const json& arguments,
                                               const emulator::KernelInfo& kernel) {
  std::vector<emulator::Texture> textures;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].contains("texture")) continue;
    textures.push_back(decode(arguments[i].at("texture")));
    textures.back().name = arguments[i].at("name");
    textures.back().parameter_offset = kernel.parameters.at(i).offset_bytes;
  }
  return textures;
}

}  // namespace assay::runner
