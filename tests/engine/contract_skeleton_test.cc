#include "engine/node/contract_skeleton.h"

#include "engine/contract/contract.h"
#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

json argument(const char* name, const char* type, bool pointer, bool read_only = false) {
  return {{"name", name}, {"type", type}, {"pointer", pointer}, {"read_only", read_only}};
}

json kernel(const char* name, json arguments) {
  return {{"name", name}, {"symbol", name}, {"arguments", std::move(arguments)}};
}

json draft(json arguments) {
  return node::contract_skeleton(json::array({kernel("k", std::move(arguments))}), "");
}

}  // namespace

TEST_CASE("a draft is a contract that the server takes, argument for argument") {
  const json made =
      draft({argument("a", "float const*", true, true), argument("h", "__half*", true),
             argument("n", "int", false), argument("count", "unsigned long", false),
             argument("scale", "double", false), argument("on", "bool", false),
             argument("raw", "void*", true)});
  const auto parsed = contract::parse(made.at("io"));
  const auto* good = std::get_if<contract::Parsed>(&parsed);
  REQUIRE(good != nullptr);
  const auto& args = good->contract.args;
  REQUIRE(args.size() == 7);
  CHECK(args[0].role == contract::Role::input);
  CHECK(args[1].role == contract::Role::output);
  CHECK(args[1].tensor_spec->dtype == contract::DType::float16);
  CHECK(args[0].tensor_spec->shape == std::vector<std::int64_t>{1024});
  CHECK(good->contract.launch->grid->x == 4);
  CHECK(good->contract.launch->block->x == 256);
  CHECK_FALSE(made.at("guesses").empty());
  CHECK(contract::requirements("cuda", &good->contract, "").empty());
}

TEST_CASE("a texture object becomes a texture of guessed size") {
  const json made = draft({argument("t", "cudaTextureObject_t", false)});
  const auto parsed = contract::parse(made.at("io"));
  REQUIRE(std::holds_alternative<contract::Parsed>(parsed));
  CHECK(std::get<contract::Parsed>(parsed).contract.args[0].texture == contract::Texture{});
  CHECK(made.at("guesses")[0].get<std::string>().find("texture") != std::string::npos);
}

TEST_CASE("a kernel without a size gets a number, one without arguments an empty list") {
  CHECK(
      draft({argument("p", "float*", true)}).at("io").at("args")[0].at("tensor_spec").at("shape") ==
      json::array({1024}));
  CHECK(draft(json::array()).at("io").at("args").empty());
}

TEST_CASE("what a contract cannot hold is named instead of guessed") {
  for (const char* type : {"float**", "float4*", "Params*"}) {
    const json made = draft({argument("n", "int", false), argument("p", type, true)});
    CHECK(made.at("io").is_null());
    CHECK(made.at("guesses")[0].get<std::string>().find(type) != std::string::npos);
  }
  CHECK(draft({argument("s", "Params", false)}).at("io").is_null());
}

TEST_CASE("the wanted kernel is drafted, an unknown one is not") {
  const json kernels = json::array({kernel("a", json::array()), kernel("b", json::array())});
  CHECK(node::contract_skeleton(kernels, "b").at("kernel") == "b");
  CHECK(node::contract_skeleton(kernels, "").at("kernel") == "a");
  CHECK(node::contract_skeleton(kernels, "c").is_null());
  CHECK(node::contract_skeleton(json::array(), "").is_null());
}

TEST_CASE("what was inferred from the source counts, unless the compiler saw other arguments") {
  const json kernels =
      json::array({kernel("a", {argument("p", "float*", true)}), kernel("b", json::array())});
  const auto guess = [&](const json& compiled, const json& inferred) {
    return node::contract_draft(compiled, "", inferred).at("guesses").dump();
  };
  json inferred = {{"kernel", "a"}, {"io", {{"args", {{{"name", "p"}}}}}}, {"guesses", {"mine"}}};
  CHECK(guess(kernels, inferred) == R"(["mine"])");
  // A template that nothing instantiates is not among the compiled ones.
  CHECK(guess(json::array(), inferred) == R"(["mine"])");
  const json none = {{"kernel", "a"}, {"io", nullptr}, {"guesses", {"why"}}};
  CHECK(node::contract_draft(kernels, "", none).at("io").is_null());
  CHECK(guess(kernels, none) == R"(["why"])");
  const std::string compiled = node::contract_skeleton(kernels, "").at("guesses").dump();
  CHECK(guess(kernels, nullptr) == compiled);
  inferred["io"]["args"] = json::array();
  CHECK(guess(kernels, inferred) == compiled);
}
