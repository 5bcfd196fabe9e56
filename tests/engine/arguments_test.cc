#include "engine/runner/arguments.h"

#include <cstring>

#include "tests/catch.h"

using assay::contract::DType;
using assay::emulator::KernelInfo;
using assay::emulator::Parameter;
using assay::runner::Argument;
using assay::runner::Misfit;
using assay::runner::pack;

namespace {

KernelInfo kernel(std::vector<Parameter> parameters) {
  KernelInfo info{.name = "k"};
  std::size_t at = 0;
  for (auto& parameter : parameters) {
    at = (at + parameter.size_bytes - 1) / parameter.size_bytes * parameter.size_bytes;
    parameter.offset_bytes = at;
    at += parameter.size_bytes;
  }
  info.parameters = std::move(parameters);
  info.parameter_bytes = at;
  return info;
}

template <typename T>
T value_of(const assay::runner::Packed& packed, std::size_t offset = 0) {
  const auto& block = std::get<std::vector<std::byte>>(packed);
  T value;
  std::memcpy(&value, block.data() + offset, sizeof value);
  return value;
}

std::string misfit(const assay::runner::Packed& packed) {
  return std::get<std::vector<Misfit>>(packed).at(0).message;
}

}  // namespace

TEST_CASE("a float argument reaches a float parameter as that float, never as half a double") {
  const auto packed = pack(kernel({{.type = "f32", .size_bytes = 4}}),
                           {{.name = "alpha", .type = "float", .real = 2.5}});
  CHECK(value_of<float>(packed) == 2.5F);
  const auto wide = pack(kernel({{.type = "f64", .size_bytes = 8}}),
                         {{.name = "alpha", .type = "float", .real = 0.1}});
  CHECK(value_of<double>(wide) == 0.1);
}

TEST_CASE("an integer takes the width of the kernel's parameter and must fit it") {
  CHECK(value_of<std::int32_t>(pack(kernel({{.type = "u32", .size_bytes = 4}}),
                                    {{.name = "n", .type = "int", .integer = -5}})) == -5);
  CHECK(value_of<std::int64_t>(pack(kernel({{.type = "u64", .size_bytes = 8}}),
                                    {{.name = "n", .type = "int", .integer = 1LL << 40}})) ==
        1LL << 40);
  CHECK(value_of<std::uint32_t>(pack(kernel({{.type = "u32", .size_bytes = 4}}),
                                     {{.name = "n", .type = "int", .integer = 4294967295LL}})) ==
        4294967295U);
  CHECK(misfit(pack(kernel({{.type = "u32", .size_bytes = 4}}),
                    {{.name = "n", .type = "int", .integer = 1LL << 40}}))
            .find("does not fit") != std::string::npos);
}

TEST_CASE("what the kernel does not take there is named, never converted") {
  const auto integer_for_float = pack(kernel({{.type = "f32", .size_bytes = 4}}),
                                      {{.name = "alpha", .type = "int", .integer = 2}});
  CHECK(misfit(integer_for_float).find("declare it as type \"float\"") != std::string::npos);
  const auto float_for_integer =
      pack(kernel({{.type = "u32", .size_bytes = 4}}), {{.name = "n", .type = "float", .real = 2}});
  CHECK(misfit(float_for_integer).find("declare it as type \"int\"") != std::string::npos);
  const auto scalar_for_pointer = pack(kernel({{.type = "u32", .size_bytes = 4}}),
                                       {{.name = "x", .type = "tensor", .address = 64}});
  CHECK(misfit(scalar_for_pointer).find("not a pointer") != std::string::npos);
  const auto text =
      pack(kernel({{.type = "u64", .size_bytes = 8}}), {{.name = "s", .type = "str"}});
  CHECK(misfit(text).find("cannot be passed") != std::string::npos);
}

TEST_CASE("a declared C type must be the kernel's own") {
  const auto wrong =
      pack(kernel({{.type = "f32", .size_bytes = 4}}),
           {{.name = "alpha", .type = "float", .c_type = DType::float64, .real = 1}});
  CHECK(misfit(wrong).find("declares c_type \"float64\"") != std::string::npos);
  const auto right = pack(kernel({{.type = "u64", .size_bytes = 8}}),
                          {{.name = "n", .type = "int", .c_type = DType::int64, .integer = 9}});
  CHECK(value_of<std::int64_t>(right) == 9);
}

TEST_CASE("a half by value is the bits of the nearest half") {
  const auto half = pack(kernel({{.type = "b8", .size_bytes = 2}}),
                         {{.name = "h", .type = "float", .c_type = DType::float16, .real = 1.0}});
  CHECK(value_of<std::uint16_t>(half) == 0x3c00);
  const auto brain = pack(kernel({{.type = "b8", .size_bytes = 2}}),
                          {{.name = "h", .type = "float", .c_type = DType::bfloat16, .real = 1.0}});
  CHECK(value_of<std::uint16_t>(brain) == 0x3f80);
}

TEST_CASE("a wrong number of arguments says both numbers and the kernel's types") {
  const auto packed =
      pack(kernel({{.type = "u64", .size_bytes = 8}, {.type = "f32", .size_bytes = 4}}),
           {{.name = "x", .type = "tensor"}});
  CHECK(misfit(packed).find("takes 2 parameters") != std::string::npos);
  CHECK(misfit(packed).find("gives 1 arguments") != std::string::npos);
}

TEST_CASE("a texture takes the place of an address, and is named as one where it does not fit") {
  const Argument texture{.name = "t", .type = "tensor", .address = 0x1200, .is_texture = true};
  CHECK(value_of<std::uint64_t>(pack(kernel({{.type = "u64", .size_bytes = 8}}), {texture})) ==
        0x1200);
  const std::string words = misfit(pack(kernel({{.type = "u32", .size_bytes = 4}}), {texture}));
  CHECK(words.find("'t' is a texture") != std::string::npos);
  CHECK(words.find("cudaTextureObject_t") != std::string::npos);
}
