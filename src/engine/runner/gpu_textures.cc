#include "engine/runner/gpu_textures.h"

#include <cstring>

namespace assay::runner {
namespace {

using emulator::Texel;
using emulator::Texture;
using emulator::TextureAddress;

// CUarray_format
int format_of(Texel texel) {
  switch (texel) {
    case Texel::u8:
      return 0x01;
    case Texel::u16:
      return 0x02;
    case Texel::u32:
      return 0x03;
    case Texel::s8:
      return 0x08;
    case Texel::s16:
      return 0x09;
    case Texel::s32:
      return 0x0A;
    case Texel::f16:
      return 0x10;
    case Texel::f32:
      break;
  }
  return 0x20;
}

// CUaddress_mode
int mode_of(TextureAddress address) {
  switch (address) {
    case TextureAddress::wrap:
      return 0;
    case TextureAddress::clamp:
      return 1;
    case TextureAddress::mirror:
      return 2;
    case TextureAddress::border:
      break;
  }
  return 3;
}

cuda::TextureResource resource_of(const Texture& t, cuda::Address address) {
  cuda::TextureResource resource{
      .address = address, .format = format_of(t.texel), .channels = t.channels};
  if (t.height == 0) {
    resource.width = t.width * t.channels * emulator::bytes_of(t.texel);
    return resource;
  }
  resource.type = cuda::TextureResource::kPitched;
  resource.width = t.width;
  resource.height = t.height;
  resource.pitch_bytes = t.pitch_bytes;
  return resource;
}

cuda::TextureDescription description_of(const Texture& t) {
  const bool is_float = t.texel == Texel::f16 || t.texel == Texel::f32;
  cuda::TextureDescription description;
  for (std::size_t d = 0; d < t.address_mode.size(); ++d) {
    description.address_mode[d] = mode_of(t.address_mode[d]);
  }
  description.filter_mode = t.linear_filter ? 1 : 0;
  if (!is_float && !t.normalized_float) {
    description.flags |= cuda::TextureDescription::kReadAsInteger;
  }
  if (t.normalized_coords) description.flags |= cuda::TextureDescription::kNormalizedCoordinates;
  return description;
}

}  // namespace

GpuTextures::~GpuTextures() {
  if (objects_.empty()) return;
  const auto& driver = context_.driver();
  if (driver.StreamQuery(context_.stream()) != cuda::kSuccess) return;
  for (const auto& [place, object] : objects_) driver.TexObjectDestroy(object);
}

int GpuTextures::put_into(std::vector<std::byte>& block) {
  for (std::size_t i = 0; i < textures_.size(); ++i) {
    std::byte* const parameter = block.data() + textures_[i].parameter_offset;
    cuda::Address address = 0;
    std::memcpy(&address, parameter, sizeof address);
    const auto [known, is_new] = objects_.try_emplace({i, address}, 0U);
    if (is_new) {
      const auto resource = resource_of(textures_[i], address);
      const auto description = description_of(textures_[i]);
      const int result =
          context_.driver().TexObjectCreate(&known->second, &resource, &description, nullptr);
      if (result != cuda::kSuccess) {
        objects_.erase(known);
        return result;
      }
    }
    std::memcpy(parameter, &known->second, sizeof known->second);
  }
  return cuda::kSuccess;
}

}  // namespace assay::runner
