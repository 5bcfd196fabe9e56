#include "engine/node/passed_texture.h"

namespace assay::node {

nlohmann::json passed_texture(const contract::Arg& arg) {
  const contract::Texture& texture = *arg.texture;
  const auto extent = contract::extent_of(texture, *arg.tensor_spec);
  return {{"element", contract::name(arg.tensor_spec->dtype)},
          {"channels", texture.channels},
          {"width", extent.width},
          {"height", extent.height},
          {"pitch_bytes", extent.pitch_bytes},
          {"linear_filter", texture.filter == contract::TextureFilter::linear},
          {"normalized_coords", texture.normalized_coords},
          {"normalized_float", texture.read == contract::TextureRead::normalized_float},
          {"address", {contract::name(texture.address[0]), contract::name(texture.address[1])}}};
}

}  // namespace assay::node
