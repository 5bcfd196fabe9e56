#include "engine/emulator/texture_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/emulator/float_formats.h"

namespace assay::emulator {
namespace {

using Components = std::array<double, 4>;

constexpr std::int64_t kOutside = -1;
constexpr double kFarthest = 0x1p52;  // beyond any texture, and still exact

// Where a texel's coordinate leads along one dimension of n texels.
std::int64_t addressed(std::int64_t i, std::int64_t n, TextureAddress mode) {
  const auto modulo = [&](std::int64_t period) { return ((i % period) + period) % period; };
  switch (mode) {
    case TextureAddress::clamp:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    case TextureAddress::border:
      return i >= 0 && i < n ? i : kOutside;
    case TextureAddress::wrap:
      return modulo(n);
    case TextureAddress::mirror:
      break;
  }
  const std::int64_t m = modulo(2 * n);
  return m < n ? m : 2 * n - 1 - m;
}

template <typename T>
T value_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::int64_t integer_at(Texel texel, const std::byte* at) {
  switch (texel) {
    case Texel::u8:
      return value_at<std::uint8_t>(at);
    case Texel::s8:
      return value_at<std::int8_t>(at);
    case Texel::u16:
      return value_at<std::uint16_t>(at);
    case Texel::s16:
      return value_at<std::int16_t>(at);
    case Texel::s32:
      return value_at<std::int32_t>(at);
    default:
      return value_at<std::uint32_t>(at);
  }
}

// What stands for 1 where integers are read as fractions.
double unit_of(Texel texel) {
  const bool is_signed = texel == Texel::s8 || texel == Texel::s16;
  return static_cast<double>((1U << (8 * bytes_of(texel) - (is_signed ? 1 : 0))) - 1);
}

double number_at(Texel texel, const std::byte* at) {
  if (texel == Texel::f32) return value_at<float>(at);
  if (texel == Texel::f16) return decode_float(kHalf, value_at<std::uint16_t>(at));
  // The lowest signed value lies just below -1.
  return std::max(static_cast<double>(integer_at(texel, at)) / unit_of(texel), -1.0);
}

const std::byte* texel_at(const BoundTexture& t, std::int64_t column, std::int64_t row) {
  const auto texel_bytes = std::uint64_t{t.format.channels} * bytes_of(t.format.texel);
  return t.bytes + static_cast<std::uint64_t>(row) * t.format.pitch_bytes +
         static_cast<std::uint64_t>(column) * texel_bytes;
}

TexelBits bits_at(const Texture& format, const std::byte* at) {
  TexelBits bits{};
  const bool as_floats = reads_floats(format);
  for (unsigned c = 0; c < format.channels; ++c, at += bytes_of(format.texel)) {
    bits[c] = as_floats
                  ? std::bit_cast<std::uint32_t>(static_cast<float>(number_at(format.texel, at)))
                  : static_cast<std::uint32_t>(integer_at(format.texel, at));
  }
  return bits;
}

// A coordinate in texels; what is no number is taken as 0.
double in_texels(float coordinate, std::uint64_t extent, bool normalized) {
  if (std::isnan(coordinate)) return 0;
  const double scale = normalized ? static_cast<double>(extent) : 1.0;
  return std::clamp(coordinate * scale, -kFarthest, kFarthest);
}

// Between which texels of one dimension, and how near to the second: in 8 bits of fraction.
struct Between {
  explicit Between(double coordinate) {
    const double shifted = coordinate - 0.5;
    const double whole = std::floor(shifted);
    first = static_cast<std::int64_t>(whole);
    weight = std::floor((shifted - whole) * 256 + 0.5) / 256;
  }
  std::int64_t first = 0;
  double weight = 0;
};

// One of the four texels around a place, with its share.
void add_weighted(const BoundTexture& t, std::int64_t column, std::int64_t row, double weight,
                  Components& sum) {
  const Texture& f = t.format;
  const std::int64_t i = addressed(column, static_cast<std::int64_t>(f.width), f.address_mode[0]);
  const std::int64_t j = addressed(row, static_cast<std::int64_t>(f.height), f.address_mode[1]);
  // A texel without weight has no say, infinite or not.
  if (i == kOutside || j == kOutside || weight == 0) return;
  const std::byte* at = texel_at(t, i, j);
  for (unsigned c = 0; c < f.channels; ++c, at += bytes_of(f.texel)) {
    sum[c] += weight * number_at(f.texel, at);
  }
}

}  // namespace

bool reads_floats(const Texture& texture) {
  return texture.normalized_float || texture.texel == Texel::f16 || texture.texel == Texel::f32;
}

TexelBits fetch_texel(const BoundTexture& texture, std::int64_t index) {
  if (index < 0 || static_cast<std::uint64_t>(index) >= texture.format.width) return {};
  return bits_at(texture.format, texel_at(texture, index, 0));
}

TexelBits sample_texture(const BoundTexture& texture, float x, float y) {
  const Texture& f = texture.format;
  const double u = in_texels(x, f.width, f.normalized_coords);
  const double v = in_texels(y, f.height, f.normalized_coords);
  if (!f.linear_filter) {
    const std::int64_t i = addressed(static_cast<std::int64_t>(std::floor(u)),
                                     static_cast<std::int64_t>(f.width), f.address_mode[0]);
    const std::int64_t j = addressed(static_cast<std::int64_t>(std::floor(v)),
                                     static_cast<std::int64_t>(f.height), f.address_mode[1]);
    if (i == kOutside || j == kOutside) return {};
    return bits_at(f, texel_at(texture, i, j));
  }
  const Between a(u);
  const Between b(v);
  Components sum{};
  add_weighted(texture, a.first, b.first, (1 - a.weight) * (1 - b.weight), sum);
  add_weighted(texture, a.first + 1, b.first, a.weight * (1 - b.weight), sum);
  add_weighted(texture, a.first, b.first + 1, (1 - a.weight) * b.weight, sum);
  add_weighted(texture, a.first + 1, b.first + 1, a.weight * b.weight, sum);
  TexelBits bits{};
  for (unsigned c = 0; c < f.channels; ++c) {
    bits[c] = std::bit_cast<std::uint32_t>(static_cast<float>(sum[c]));
  }
  return bits;
}

}  // namespace assay::emulator
