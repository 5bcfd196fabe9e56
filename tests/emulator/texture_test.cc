// Texture fetches against the CUDA C++ Programming Guide's formulas ("Texture Fetching"), written
// anew here: coordinate by coordinate, with its own words for what lies outside.
#include <bit>
#include <cmath>
#include <limits>

#include "engine/emulator/float_formats.h"
#include "tests/catch.h"
#include "tests/emulator/kernel.h"

using namespace assay::emulator;        // NOLINT: the subject of every line here
using namespace assay::emulator::test;  // NOLINT: the subject of every line here

namespace {

// One fetch per thread: coordinates in, four results out.
std::string kernel_of(const std::string& fetch, bool by_index) {
  return std::string(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 texture, .param .u64 in, .param .u64 out) {
  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .f32 %f<4>;
  ld.param.u64 %rd1, [texture];
  ld.param.u64 %rd2, [in];
  ld.param.u64 %rd3, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd4, %r0, 8;
  add.s64 %rd2, %rd2, %rd4;
  mul.wide.u32 %rd5, %r0, 16;
  add.s64 %rd3, %rd3, %rd5;
)") + (by_index ? "  ld.global.b32 %r6, [%rd2];\n" : "  ld.global.v2.f32 {%f0, %f1}, [%rd2];\n") +
         "  " + fetch + "\n  st.global.v4.b32 [%rd3], {%r1, %r2, %r3, %r4};\n  ret;\n}\n";
}

struct Place {
  float x = 0;
  float y = 0;
};
using Four = std::array<std::uint32_t, 4>;

template <class Coordinate>
Outcome run(const std::string& fetch, Texture texture, std::vector<std::byte> texels,
            std::vector<Coordinate> places, std::vector<Four>& out) {
  texture.name = "t";
  out.assign(places.size(), Four{9, 9, 9, 9});
  Call call("k", {1, 1, 1}, {static_cast<std::uint32_t>(places.size()), 1, 1});
  call.buffer("t", texels).buffer("in", places).buffer("out", out).texture(texture);
  return call.run(parsed(kernel_of(fetch, !std::is_same_v<Coordinate, Place>)));
}

const std::string kSampleFloats = "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0, %f1}];";
const std::string kFetchFloats = "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r6}];";

// Seven columns of five rows, eight columns apart; every texel tells where it is.
constexpr int kWidth = 7;
constexpr int kHeight = 5;
constexpr int kPitch = 8;

double told(int i, int j) { return 10.0 * j + i + 0.25; }

std::vector<std::byte> image() {
  std::vector<float> texels(std::size_t{kPitch} * kHeight, -1000);
  for (int j = 0; j < kHeight; ++j) {
    for (int i = 0; i < kWidth; ++i) {
      texels[static_cast<std::size_t>(j * kPitch + i)] = static_cast<float>(told(i, j));
    }
  }
  const auto bytes = std::as_bytes(std::span(texels));
  return {bytes.begin(), bytes.end()};
}

Texture image_texture(TextureAddress x, TextureAddress y, bool linear, bool normalized) {
  return {.width = kWidth,
          .height = kHeight,
          .pitch_bytes = kPitch * sizeof(float),
          .linear_filter = linear,
          .normalized_coords = normalized,
          .address_mode = {x, y}};
}

// T[i] of one dimension; -1 is what lies outside a border. Walks step by step.
int led(int i, int n, TextureAddress mode) {
  if (mode == TextureAddress::border) return i < 0 || i >= n ? -1 : i;
  if (mode == TextureAddress::clamp) return i < 0 ? 0 : i >= n ? n - 1 : i;
  while (i < 0 || i >= n) {
    if (mode == TextureAddress::wrap) {
      i += i < 0 ? n : -n;
    } else {
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
  }
  return i;
}

double texel(const Texture& t, int i, int j) {
  i = led(i, kWidth, t.address_mode[0]);
  j = led(j, kHeight, t.address_mode[1]);
  return i < 0 || j < 0 ? 0 : told(i, j);
}

double expected(const Texture& t, Place place) {
  const double x = t.normalized_coords ? double{place.x} * kWidth : place.x;
  const double y = t.normalized_coords ? double{place.y} * kHeight : place.y;
  if (!t.linear_filter) {
    return texel(t, static_cast<int>(std::floor(x)), static_cast<int>(std::floor(y)));
  }
  const double xb = x - 0.5;
  const double yb = y - 0.5;
  const int i = static_cast<int>(std::floor(xb));
  const int j = static_cast<int>(std::floor(yb));
  const double alpha = std::round((xb - i) * 256) / 256;
  const double beta = std::round((yb - j) * 256) / 256;
  return (1 - alpha) * (1 - beta) * texel(t, i, j) + alpha * (1 - beta) * texel(t, i + 1, j) +
         (1 - alpha) * beta * texel(t, i, j + 1) + alpha * beta * texel(t, i + 1, j + 1);
}

std::vector<Place> places(bool normalized) {
  std::vector<Place> list;
  std::uint32_t state = 12345;
  const auto coordinate = [&](int n) {
    state = state * 1664525U + 1013904223U;
    const double unit = static_cast<double>(state >> 8) / (1 << 24);
    const double wide = (unit * 5 - 2) * n;
    return static_cast<float>(normalized ? wide / n : wide);
  };
  for (int k = 0; k < 200; ++k) list.push_back({coordinate(kWidth), coordinate(kHeight)});
  for (const float edge : {0.0F, 0.5F, 1.0F, 6.5F, 7.0F, -0.5F, -1.0F, -1e-6F}) {
    list.push_back({normalized ? edge / 7 : edge, normalized ? edge / 5 : edge});
  }
  return list;
}

}  // namespace

TEST_CASE("a sample is what the guide's formulas say, in all modes") {
  for (const bool normalized : {false, true}) {
    for (const bool linear : {false, true}) {
      for (int x = 0; x < (normalized ? 4 : 2); ++x) {
        for (int y = 0; y < (normalized ? 4 : 2); ++y) {
          const Texture t = image_texture(static_cast<TextureAddress>(x),
                                          static_cast<TextureAddress>(y), linear, normalized);
          std::vector<Four> out;
          const auto at = places(normalized);
          REQUIRE(run(kSampleFloats, t, image(), at, out).ending == Ending::completed);
          for (std::size_t k = 0; k < at.size(); ++k) {
            INFO("normalized " << normalized << ", linear " << linear << ", modes " << x << " " << y
                               << ", at " << at[k].x << ", " << at[k].y);
            CHECK(std::bit_cast<float>(out[k][0]) == Approx(expected(t, at[k])).margin(1e-5));
            CHECK(out[k][1] == 0);
            CHECK(out[k][3] == 0);
          }
        }
      }
    }
  }
}

TEST_CASE("coordinates that are no numbers, or far away, are addressed as any other") {
  const float huge = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Place> at{{huge, -huge}, {nan, 1}, {1e30F, 1e30F}, {-1e30F, 4}};
  std::vector<Four> out;
  for (int mode = 0; mode < 4; ++mode) {
    const auto m = static_cast<TextureAddress>(mode);
    for (const bool linear : {false, true}) {
      REQUIRE(run(kSampleFloats, image_texture(m, m, linear, true), image(), at, out).ending ==
              Ending::completed);
    }
  }
  const auto clamp = TextureAddress::clamp;
  REQUIRE(run(kSampleFloats, image_texture(clamp, clamp, false, false), image(), at, out).ending ==
          Ending::completed);
  CHECK(std::bit_cast<float>(out[0][0]) == static_cast<float>(told(6, 0)));
  CHECK(std::bit_cast<float>(out[1][0]) == static_cast<float>(told(0, 1)));
  CHECK(std::bit_cast<float>(out[2][0]) == static_cast<float>(told(6, 4)));
}

TEST_CASE("a level of a texture without mipmaps is the texture") {
  const auto clamp = TextureAddress::clamp;
  std::vector<Four> out;
  REQUIRE(run("tex.level.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0, %f1}], %f1;",
              image_texture(clamp, clamp, false, false), image(), std::vector<Place>{{2.5F, 3.5F}},
              out)
              .ending == Ending::completed);
  CHECK(std::bit_cast<float>(out[0][0]) == static_cast<float>(told(2, 3)));
}

TEST_CASE("linear memory gives each element type as it is, and zero outside") {
  std::vector<std::byte> bytes(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0xF3 - 5 * i);
  const auto at = [&](std::size_t offset, std::size_t count) {
    std::uint32_t v = 0;
    for (std::size_t b = 0; b < count; ++b) {
      v |= static_cast<std::uint32_t>(bytes[offset + b]) << (8 * b);
    }
    return v;
  };
  const std::vector<std::array<std::int32_t, 2>> where{{0, 0}, {1, 0},  {3, 0},
                                                       {4, 0}, {-1, 0}, {1 << 30, 0}};
  for (const Texel type : {Texel::u8, Texel::s8, Texel::u16, Texel::s16, Texel::u32, Texel::s32,
                           Texel::f16, Texel::f32}) {
    for (const unsigned channels : {1U, 2U, 4U}) {
      const bool is_float = type == Texel::f16 || type == Texel::f32;
      const std::size_t size = bytes_of(type);
      std::vector<Four> out;
      const std::string fetch =
          is_float ? kFetchFloats : "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%rd1, %r6];";
      REQUIRE(
          run(fetch, {.texel = type, .channels = channels, .width = 4}, bytes, where, out).ending ==
          Ending::completed);
      for (std::size_t k = 0; k < where.size(); ++k) {
        for (unsigned c = 0; c < 4; ++c) {
          const std::int32_t i = where[k][0];
          std::uint32_t want = 0;
          if (i >= 0 && i < 4 && c < channels) {
            const auto offset = (static_cast<std::size_t>(i) * channels + c) * size;
            want = at(offset, size);
            if (type == Texel::s8)
              want = static_cast<std::uint32_t>(static_cast<std::int8_t>(want));
            if (type == Texel::s16) {
              want = static_cast<std::uint32_t>(static_cast<std::int16_t>(want));
            }
            if (type == Texel::f16) {
              want = std::bit_cast<std::uint32_t>(static_cast<float>(decode_float(kHalf, want)));
            }
          }
          INFO("type " << static_cast<int>(type) << ", channels " << channels << ", at " << i);
          CHECK(out[k][c] == want);
        }
      }
    }
  }
}

TEST_CASE("integers that are read as fractions reach 1 and -1") {
  const auto read = [](Texel type, std::vector<std::uint8_t> values) {
    const auto bytes = std::as_bytes(std::span(values));
    std::vector<Four> out;
    const Texture t{.texel = type, .width = 4, .normalized_float = true};
    REQUIRE(run(kFetchFloats, t, {bytes.begin(), bytes.end()},
                std::vector<std::array<std::int32_t, 2>>{{0, 0}, {1, 0}, {2, 0}, {3, 0}}, out)
                .ending == Ending::completed);
    std::vector<float> floats;
    for (const Four& four : out) floats.push_back(std::bit_cast<float>(four[0]));
    return floats;
  };
  using Floats = std::vector<float>;
  CHECK(read(Texel::u8, {0, 255, 51, 1}) == Floats{0, 1, 51.0F / 255, 1.0F / 255});
  CHECK(read(Texel::s8, {0, 127, 0x80, 0x81}) == Floats{0, 1, -1, -1});
  CHECK(read(Texel::u16, {0, 0, 0xFF, 0xFF, 1, 0, 0, 1}) ==
        Floats{0, 1, 1.0F / 65535, 256.0F / 65535});
  CHECK(read(Texel::s16, {0xFF, 0x7F, 0, 0x80, 1, 0x80, 0, 0}) == Floats{1, -1, -1, 0});
}

TEST_CASE("a fetch that no texture answers is a fault with its reason") {
  const std::vector<Place> at{{0, 0}};
  std::vector<Four> out;
  const auto clamp = TextureAddress::clamp;
  const Texture two = image_texture(clamp, clamp, false, false);
  const Texture one{.width = 4};
  const auto fault = [&](const std::string& fetch, const Texture& texture) {
    const Outcome o = run(fetch, texture, image(), at, out);
    REQUIRE(o.ending == Ending::faulted);
    CHECK(o.fault.kind == FaultKind::invalid_texture);
    CHECK(o.fault.message.find("by thread (0,0,0)") != std::string::npos);
    return o.fault.message;
  };
  using Catch::Matchers::Contains;
  CHECK_THAT(fault(kSampleFloats, one), Contains("tex2D of texture 't', which has one dimension"));
  CHECK_THAT(fault("tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r0}];", two),
             Contains("which has two dimensions"));
  CHECK_THAT(fault("tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0}];", one),
             Contains("tex1Dfetch reads it"));
  CHECK_THAT(fault("tex.2d.v4.s32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0, %f1}];", two),
             Contains("read as floats"));
  CHECK_THAT(fault("tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r0}];",
                   {.texel = Texel::u8, .width = 4}),
             Contains("normalized_float"));
  CHECK_THAT(fault("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd2, {%f0, %f1}];", two),
             Contains("the address of 'in'"));
  CHECK_THAT(fault("tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd4, {%f0, %f1}];", two),
             Contains("0x0, which is no texture object"));
}

TEST_CASE("a texture object is no address, and a texture lies in a buffer") {
  std::vector<Four> out;
  const Texture one{.width = 4};
  const std::vector<Place> at{{0, 0}};
  const Outcome read = run("ld.global.f32 %f2, [%rd1];", one, image(), at, out);
  REQUIRE(read.ending == Ending::faulted);
  CHECK(read.fault.message.find("a texture object") != std::string::npos);
  for (const Texture& bad :
       {Texture{.width = 1000}, Texture{.width = 0},
        Texture{.width = 8, .height = 100, .pitch_bytes = 32},
        Texture{.parameter_offset = 20, .width = 4}, Texture{.width = ~std::uint64_t{0}}}) {
    CHECK(run(kFetchFloats, bad, image(), at, out).ending == Ending::invalid_launch);
  }
}

TEST_CASE("what the emulator does not fetch it names") {
  for (const std::string fetch :
       {"tex.3d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0, %f1, %f1, %f1}];",
        "tex.a2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r0, %f0, %f1, %f1}];",
        "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%f0}];",
        "tex.2d.v4.f32.f32 {%r1, %r2}, [%rd1, {%f0, %f1}];",
        "tex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [unknown, {%r0}];"}) {
    const auto module = parsed(kernel_of(fetch, false));
    CHECK(module->kernels()[0].unsupported_instruction.substr(0, 20) == fetch.substr(0, 20));
  }
}
