// Tensors that a kernel reads as textures: what is read, what CUDA forbids, and that it is written
// back.
#include "engine/contract/explanation.h"
#include "tests/contract/contract_texts.h"

namespace {

using namespace assay::contract;

json document(const json& texture, const json& spec, const char* role = "input") {
  json arg = {{"name", "t"}, {"type", "tensor"}, {"role", role}, {"texture", texture}};
  arg["tensor_spec"] = spec;
  if (std::string(role) != "output") arg["tensor_spec"]["init"] = {{"kind", "zeros"}};
  return {{"args", {arg}}};
}

json spec_of(const json& shape, const char* dtype = "float32") {
  return {{"shape", shape}, {"dtype", dtype}};
}

std::vector<Violation> refused(const json& texture, const json& spec, const char* role = "input") {
  const auto result = parse(document(texture, spec, role));
  INFO(texture.dump() << " of " << spec.dump());
  REQUIRE(std::holds_alternative<Refused>(result));
  return std::get<Refused>(result).violations;
}

void check_refused(const json& texture, const json& spec, const std::string& pointer,
                   const std::string& words) {
  const auto violations = refused(texture, spec);
  INFO(violations[0].pointer << ": " << violations[0].message);
  CHECK(violations.size() == 1);
  CHECK(violations[0].pointer == "/args/0/texture" + pointer);
  CHECK(violations[0].message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a texture of one dimension is linear memory, of two rows with a pitch") {
  const Contract line = parsed(document(json::object(), spec_of({100}, "uint16")));
  CHECK(*line.args[0].texture == Texture{});
  const auto linear = extent_of(*line.args[0].texture, *line.args[0].tensor_spec);
  CHECK(linear.width == 100);
  CHECK(linear.height == 0);
  CHECK(linear.pitch_bytes == 200);

  const json words = {{"filter", "linear"},
                      {"address", {"wrap", "mirror"}},
                      {"normalized_coords", true},
                      {"read", "normalized_float"},
                      {"channels", 4}};
  const Contract image = parsed(document(words, spec_of({6, 8, 4}, "uint8")));
  const Texture& texture = *image.args[0].texture;
  CHECK(texture.filter == TextureFilter::linear);
  CHECK(texture.address == std::array{TextureAddress::wrap, TextureAddress::mirror});
  CHECK(texture.normalized_coords);
  CHECK(texture.read == TextureRead::normalized_float);
  CHECK(texture.channels == 4);
  const auto extent = extent_of(texture, *image.args[0].tensor_spec);
  CHECK(extent.width == 8);
  CHECK(extent.height == 6);
  CHECK(extent.pitch_bytes == 32);
  CHECK(to_json(image)["args"][0]["texture"] == words);
}

TEST_CASE("one address is of both dimensions, and strides pad the rows of a texture") {
  json spec = spec_of({3, 5});
  spec["strides"] = {8, 1};
  const Contract contract = parsed(document({{"address", "border"}}, spec));
  const Arg& arg = contract.args[0];
  CHECK(arg.texture->address == std::array{TextureAddress::border, TextureAddress::border});
  CHECK(extent_of(*arg.texture, *arg.tensor_spec).pitch_bytes == 32);
  const Contract one = parsed(document({{"address", {"border"}}}, spec));
  CHECK(one.args[0].texture == arg.texture);
  CHECK(!parsed(document(nullptr, spec)).args[0].texture);
}

TEST_CASE("what CUDA forbids of a texture is refused with its place and reason") {
  const json image = spec_of({4, 8});
  check_refused({{"filter", "cubic"}}, image, "/filter", "point or linear");
  check_refused({{"address", "repeat"}}, image, "/address", "clamp, border, wrap or mirror");
  check_refused({{"address", {"clamp", "tile"}}}, image, "/address/1", "clamp, border");
  check_refused({{"address", {"clamp", "clamp", "clamp"}}}, image, "/address", "3-D");
  check_refused({{"channels", 3}}, image, "/channels", "1, 2 or 4");
  check_refused({{"channels", "2"}}, image, "/channels", "1, 2 or 4");
  check_refused({{"channels", 4}}, image, "/channels", "last extent");
  check_refused({{"read", "raw"}}, image, "/read", "element or normalized_float");
  check_refused({{"read", "normalized_float"}}, image, "/read", "8 and 16 bits");
  check_refused({{"normalized_coords", 1}}, image, "/normalized_coords", "normalized_coords");
  check_refused({{"address", "wrap"}}, image, "/address", "needs normalized_coords");
  check_refused({{"address", {"clamp", "mirror"}}}, image, "/address", "needs normalized_coords");
  check_refused({{"filter", "linear"}}, spec_of({4, 8}, "int32"), "/filter", "read as floats");
  check_refused({{"filter", "linear"}}, spec_of({4, 32}, "uint8"), "/filter", "normalized_float");
  for (const char* dtype : {"float64", "bfloat16", "int64", "bool", "complex64"}) {
    check_refused(json::object(), spec_of({4, 32}, dtype), "", dtype);
  }
  check_refused(json::object(), spec_of({2, 4, 8}), "", "3-D");
  check_refused(json::object(), spec_of(json::array()), "", "one dimension");
  check_refused(json::object(), spec_of({0}), "", "at least one element");
  check_refused(json::object(), spec_of({4, 7}), "", "multiple of 32 bytes");
  check_refused(json::object(), spec_of({2, 131080}), "", "131072");
  check_refused(json::array(), image, "", "must be an object");
}

TEST_CASE("linear memory has no filter, addresses or normalized coordinates") {
  for (const json& texture : {json{{"filter", "linear"}}, json{{"address", "border"}},
                              json{{"normalized_coords", true}}}) {
    check_refused(texture, spec_of({64}), "/" + texture.begin().key(), "does not apply");
  }
}

TEST_CASE("the texels of a row lie side by side") {
  json spec = spec_of({4, 8});
  spec["strides"] = {32, 2};
  check_refused(json::object(), spec, "", "side by side");
  spec["strides"] = {0, 1};
  check_refused(json::object(), spec, "", "overlap");
  json line = spec_of({8});
  line["strides"] = {2};
  check_refused(json::object(), line, "", "side by side");
}

TEST_CASE("only inputs of cuda kernels are textures") {
  CHECK(refused(json::object(), spec_of({8}), "output")[0].pointer == "/args/0/texture");
  CHECK(refused(json::object(), spec_of({8}), "inout")[0].message.find("surfaces") !=
        std::string::npos);
  const json scalar = {{"name", "n"}, {"type", "int"}, {"value", 1}, {"texture", json::object()}};
  CHECK(std::holds_alternative<Refused>(parse({{"args", {scalar}}})));

  json launched = document(json::object(), spec_of({8}));
  launched["launch"] = {{"grid", 1}, {"block", 32}};
  const Contract contract = parsed(launched);
  CHECK(requirements("cuda", &contract).empty());
  for (const char* type : {"triton", "torch", "torch_cuda", "multi_kernel"}) {
    const auto violations = requirements(type, &contract, "/io");
    REQUIRE(violations.size() == 1);
    CHECK(violations[0].pointer == "/io/args/0/texture");
  }
}

TEST_CASE("a texture is explained, and said in compact text") {
  const Contract contract = from_text(
      "in t: uint8[4, 8, 4] texture(linear, wrap, clamp, normalized_coords, normalized_float, "
      "channels=4) zeros");
  CHECK(contract.args[0].texture->address ==
        std::array{TextureAddress::wrap, TextureAddress::clamp});
  CHECK(from_text(to_compact(contract)) == contract);
  CHECK(explain(contract)[0].find(
            "a texture (tex2D) of 4 channels, linear filter, address wrap and "
            "clamp, normalized coordinates, read as normalized floats") != std::string::npos);
  const Contract line = from_text("in t: float32[64] texture zeros");
  CHECK(*line.args[0].texture == Texture{});
  CHECK(explain(line)[0].find("tex1Dfetch") != std::string::npos);
  CHECK(errors_of("in t: float32[64] texture(fast) zeros").size() == 1);
  CHECK(errors_of("in t: float32[64] texture(point, linear) zeros").size() == 1);
  CHECK(errors_of("in t: float32[64] texture texture zeros").size() == 1);
}
