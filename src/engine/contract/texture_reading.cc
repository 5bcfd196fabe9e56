// Textures are refused here for all devices alike: what CUDA would ignore without a word (a wrap of
// plain coordinates, a filter of linear memory) is refused, too.
#include "engine/contract/texture_reading.h"

#include <algorithm>

namespace assay::contract {
namespace {

// Of textures on linear memory, CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability".
constexpr std::uint64_t kMaxLinearTexels = 1ULL << 28;
constexpr std::uint64_t kMaxWidth = 131072;
constexpr std::uint64_t kMaxHeight = 65000;
constexpr std::uint64_t kMaxPitchBytes = 2097120;
constexpr std::uint64_t kPitchStepBytes = 32;  // cudaDeviceProp::texturePitchAlignment

template <typename Enum>
void read_word(const Node& node, const char* key, const char* known,
               std::optional<Enum> (*parse)(std::string_view), Enum& to, Notes& notes) {
  const auto text = read_string(node, key, notes);
  if (!text) return;
  if (const auto value = parse(*text)) {
    to = *value;
  } else {
    notes.violate(node.pointer,
                  std::string(key) + " must be " + known + ", not " + in_quotes(*text));
  }
}

void read_address(const Node& node, Texture& texture, Notes& notes) {
  constexpr const char* kKnown = "clamp, border, wrap or mirror";
  if (!node.json->is_array()) {
    read_word(node, "address", kKnown, &parse_texture_address, texture.address[0], notes);
    texture.address[1] = texture.address[0];
    return;
  }
  const std::size_t count = node.json->size();
  if (count < 1 || count > 2) {
    notes.violate(node.pointer,
                  "address is one word, or one for x and one for y; 3-D textures "
                  "are not supported");
    return;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    read_word(node.element(std::min(i, count - 1)), "address", kKnown, &parse_texture_address,
              texture.address[i], notes);
  }
}

void read_channels(const Node& node, Texture& texture, Notes& notes) {
  const std::int64_t count = node.json->is_number_integer() ? node.json->get<std::int64_t>() : 0;
  if (count == 1 || count == 2 || count == 4) {
    texture.channels = static_cast<std::uint32_t>(count);
  } else {
    notes.violate(node.pointer, "channels must be 1, 2 or 4, not " + brief(*node.json));
  }
}

bool is_texel(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 ||
         (is_integer(dtype) && size_bytes(dtype) <= 4);
}

// What holds between the words of a texture and one tensor.
class Fit {
 public:
  Fit(const Node& node, const Texture& texture, const TensorSpec& spec, Notes& notes)
      : node_(node), texture_(texture), spec_(spec), notes_(notes) {}

  void check() {
    check_element();
    if (!has_shape()) return;
    if (dimensions_ == 1) {
      check_linear_memory();
    } else {
      check_coordinates();
      check_rows();
    }
  }

 private:
  void violate(const char* key, const std::string& message) {
    notes_.violate(key == nullptr || !node_.member(key) ? node_.pointer : node_.child_pointer(key),
                   message);
  }

  void check_element() {
    const std::string dtype(name(spec_.dtype));
    if (!is_texel(spec_.dtype)) {
      violate(
          nullptr,
          "a texture has elements of 8, 16 or 32-bit integers, float16 or float32, not " + dtype);
      return;
    }
    const bool is_fraction = texture_.read == TextureRead::normalized_float;
    if (is_fraction && !(is_integer(spec_.dtype) && size_bytes(spec_.dtype) <= 2)) {
      violate("read", "normalized_float is for integers of 8 and 16 bits, not " + dtype);
    }
    if (texture_.filter == TextureFilter::linear && is_integer(spec_.dtype) && !is_fraction) {
      violate("filter", "linear filtering needs elements that are read as floats: " + dtype +
                            " of 8 or 16 bits with read normalized_float, float16 or float32");
    }
  }

  bool has_shape() {
    const bool has_channels = texture_.channels > 1;
    const auto& shape = spec_.shape;
    if (has_channels && (shape.empty() || shape.back() != std::int64_t{texture_.channels})) {
      violate("channels", "with " + std::to_string(texture_.channels) +
                              " channels the last extent of the shape must be " +
                              std::to_string(texture_.channels));
      return false;
    }
    dimensions_ = shape.size() - (has_channels ? 1 : 0);
    if (dimensions_ < 1 || dimensions_ > 2) {
      violate(nullptr,
              "a texture has one dimension (tex1Dfetch) or two (tex2D) beside its channels, "
              "the tensor has " +
                  std::to_string(dimensions_) +
                  ": 3-D, layered and cubemap textures, mipmaps and surfaces are not "
                  "supported");
      return false;
    }
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      violate(nullptr, "a texture needs at least one element");
      return false;
    }
    return has_strides();
  }

  // Texels lie side by side in a row; only rows may be further apart.
  bool has_strides() {
    if (!spec_.strides) return true;
    std::int64_t step = 1;
    const std::size_t innermost_row = dimensions_ - 1;
    for (std::size_t d = spec_.shape.size(); d-- > innermost_row;) {
      if ((*spec_.strides)[d] != step) {
        violate(nullptr, "the texels of a row must lie side by side; strides may only pad rows");
        return false;
      }
      step *= spec_.shape[d];
    }
    if (dimensions_ == 2 && spec_.strides->front() < step) {
      violate(nullptr, "strides let the rows of a texture overlap");
      return false;
    }
    return true;
  }

  void check_linear_memory() {
    constexpr const char* kNot =
        " does not apply to a texture of one dimension: tex1Dfetch reads it "
        "by index, and what lies outside is 0";
    const Texture plain;
    if (texture_.filter != plain.filter) violate("filter", std::string("filter") + kNot);
    if (texture_.address != plain.address) violate("address", std::string("address") + kNot);
    if (texture_.normalized_coords) {
      violate("normalized_coords", std::string("normalized_coords") + kNot);
    }
    const auto width = extent_of(texture_, spec_).width;
    if (width > kMaxLinearTexels) {
      violate(nullptr, "a texture of one dimension has at most " +
                           std::to_string(kMaxLinearTexels) + " texels, not " +
                           std::to_string(width));
    }
  }

  void check_coordinates() {
    if (texture_.normalized_coords) return;
    for (const TextureAddress address : texture_.address) {
      if (address != TextureAddress::wrap && address != TextureAddress::mirror) continue;
      violate("address", std::string(name(address)) + " needs normalized_coords: CUDA would clamp");
      return;
    }
  }

  void check_rows() {
    const TextureExtent extent = extent_of(texture_, spec_);
    if (extent.width > kMaxWidth || extent.height > kMaxHeight ||
        extent.pitch_bytes > kMaxPitchBytes) {
      violate(nullptr,
              "a texture of two dimensions on linear memory has at most 131072 x 65000 "
              "texels and rows of 2097120 bytes");
    }
    if (extent.pitch_bytes % kPitchStepBytes != 0) {
      violate(nullptr, "the rows of a texture lie a multiple of 32 bytes apart, not " +
                           std::to_string(extent.pitch_bytes) +
                           ": choose a width that gives one, or strides that pad the rows");
    }
  }

  const Node& node_;
  const Texture& texture_;
  const TensorSpec& spec_;
  Notes& notes_;
  std::size_t dimensions_ = 0;
};

}  // namespace

std::optional<Texture> read_texture(const Node& node, const Arg& arg, Notes& notes) {
  if (!expect_object(node, "texture", notes)) return std::nullopt;
  warn_unknown_keys(node, {.here = {"filter", "address", "normalized_coords", "read", "channels"}},
                    notes);
  const std::size_t before = notes.violations.size();
  Texture texture;
  if (arg.role != Role::input) {
    notes.violate(node.pointer,
                  "a texture is read only: role must be input; surfaces are not "
                  "supported");
  }
  if (const auto member = node.member("filter")) {
    read_word(*member, "filter", "point or linear", &parse_texture_filter, texture.filter, notes);
  }
  if (const auto member = node.member("address")) read_address(*member, texture, notes);
  if (const auto member = node.member("normalized_coords")) {
    texture.normalized_coords = read_bool(*member, "normalized_coords", notes).value_or(false);
  }
  if (const auto member = node.member("read")) {
    read_word(*member, "read", "element or normalized_float", &parse_texture_read, texture.read,
              notes);
  }
  if (const auto member = node.member("channels")) read_channels(*member, texture, notes);
  if (notes.violations.size() == before && arg.tensor_spec) {
    Fit(node, texture, *arg.tensor_spec, notes).check();
  }
  if (notes.violations.size() != before) return std::nullopt;
  return texture;
}

}  // namespace assay::contract
