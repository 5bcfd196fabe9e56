// The schema that models read says what the code accepts.
#include <regex.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/contract/contract.h"
#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

json schema() {
  std::ifstream file("schemas/io_contract.json");
  REQUIRE(file.good());
  return json::parse(file);
}

template <typename Values>
std::vector<std::string> names(const Values& values) {
  std::vector<std::string> result;
  for (const auto value : values) result.emplace_back(name(value));
  return result;
}

std::set<std::string> keys(const json& object) {
  std::set<std::string> result;
  for (const auto& [key, value] : object.items()) result.insert(key);
  return result;
}

bool matches(const std::string& pattern, const std::string& text) {
  regex_t compiled{};
  REQUIRE(regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) == 0);
  const int code = regexec(&compiled, text.c_str(), 0, nullptr, 0);
  regfree(&compiled);
  return code == 0;
}

}  // namespace

TEST_CASE("the schema's enumerations are the code's") {
  const json defs = schema()["$defs"];
  CHECK(defs["dtype"]["oneOf"][0]["enum"].get<std::vector<std::string>>() == names(all_dtypes()));
  CHECK(defs["init"]["properties"]["kind"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{InitKind::randn, InitKind::zeros, InitKind::ones, InitKind::uniform,
                          InitKind::full, InitKind::arange}));
  CHECK(defs["arg"]["properties"]["type"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{ArgType::tensor, ArgType::integer, ArgType::floating, ArgType::text,
                          ArgType::boolean}));
  CHECK(defs["arg"]["properties"]["role"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{Role::input, Role::output, Role::inout}));
  const json& texture = defs["texture"]["properties"];
  CHECK(texture["filter"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{TextureFilter::point, TextureFilter::linear}));
  CHECK(texture["address"]["oneOf"][0]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{TextureAddress::clamp, TextureAddress::border, TextureAddress::wrap,
                          TextureAddress::mirror}));
  CHECK(texture["read"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{TextureRead::element, TextureRead::normalized_float}));
  CHECK(defs["data"]["properties"]["compress"]["enum"].get<std::vector<std::string>>() ==
        names(std::vector{Compression::none, Compression::zlib}));
}

TEST_CASE("the names that the schema lists parse, and no other") {
  for (const DType dtype : all_dtypes()) {
    CHECK(parse_dtype(name(dtype)) == dtype);
    CHECK(parse_dtype("torch." + std::string(name(dtype))) == dtype);
  }
  const std::string pattern = schema()["$defs"]["dtype"]["oneOf"][1]["pattern"];
  for (const char* alias :
       {"half", "float", "double", "long", "int", "short", "bf16", "fp16", "fp32", "fp64",
        "float8_e4m3", "fp8_e4m3", "fp8e5m2", "cfloat", "boolean", "torch.half"}) {
    INFO(alias);
    CHECK(parse_dtype(alias).has_value());
    CHECK(matches(pattern, alias));
  }
  for (const char* unknown :
       {"", "float31", "Float32", "torch.", "torch.torch.int8", "int 32", "numpy.int8"}) {
    CHECK(!parse_dtype(unknown));
  }
  // A name is in the list or in the pattern, never in both: oneOf would refuse it.
  for (const DType dtype : all_dtypes()) CHECK(!matches(pattern, std::string(name(dtype))));
  CHECK(!parse_init_kind("normal"));
  CHECK(!parse_arg_type("integer"));
  CHECK(!parse_role(""));
  CHECK(!parse_compression("gzip"));
}

TEST_CASE("the schema's members are those that to_json can write") {
  Contract contract;
  contract.sizes["n"] = 1;
  TensorSpec spec{.shape = {1}, .strides = std::vector<std::int64_t>{1}};
  spec.init = TensorInit{.seed = 1,
                         .mean = 1,
                         .std = 1,
                         .low = 1.0,
                         .high = 1.0,
                         .fill_value = 1.0,
                         .start = 1.0,
                         .step = 1.0};
  spec.data = TensorData{.bytes = "abcd"};
  spec.tolerance = ToleranceRequest{.atol = 0, .rtol = 0};
  contract.args.push_back({.name = "x", .tensor_spec = spec, .texture = Texture{}});
  contract.args.push_back({.name = "n",
                           .type = ArgType::integer,
                           .value = std::int64_t{1},
                           .c_type = DType::int32,
                           .is_meta = true});
  contract.launch = LaunchConfig{.grid = LaunchDim{},
                                 .block = LaunchDim{},
                                 .shared_mem_bytes = 1,
                                 .num_warps = 1,
                                 .num_stages = 1};
  const json written = to_json(contract);
  const json root = schema();
  const json& defs = root["$defs"];
  CHECK(keys(written) == keys(root["properties"]));
  json both = written["args"][0];
  both.update(written["args"][1]);
  CHECK(keys(both) == keys(defs["arg"]["properties"]));
  const json& tensor = written["args"][0]["tensor_spec"];
  CHECK(keys(tensor) == keys(defs["tensor_spec"]["properties"]));
  CHECK(keys(written["args"][0]["texture"]) == keys(defs["texture"]["properties"]));
  CHECK(keys(tensor["init"]) == keys(defs["init"]["properties"]));
  CHECK(keys(tensor["data"]) == keys(defs["data"]["properties"]));
  CHECK(keys(tensor["tolerance"]) ==
        keys(defs["tensor_spec"]["properties"]["tolerance"]["properties"]));
  CHECK(keys(written["launch"]) == keys(defs["launch"]["properties"]));
  CHECK(keys(written["launch"]["grid"]) == keys(defs["dim"]["properties"]));
}

TEST_CASE("the schema's root is a plain object with short descriptions") {
  const json root = schema();
  CHECK(root["type"] == "object");
  for (const char* combinator : {"oneOf", "anyOf", "allOf", "not", "if"})
    CHECK(!root.contains(combinator));
  std::function<void(const json&)> visit = [&](const json& node) {
    if (!node.is_structured()) return;
    if (node.is_object() && node.contains("description") && node["description"].is_string()) {
      CHECK(node["description"].get<std::string>().size() <= 260);
    }
    for (const json& child : node) visit(child);
  };
  visit(root);
}
