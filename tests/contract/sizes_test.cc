// Sizes as text: the expressions, their names, and that bad ones are refused with the cause.
#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/contract/explanation.h"
#include "engine/contract/expression.h"
#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

ExpressionResult lookup(std::string_view name) {
  if (name == "n") return 1000;
  if (name == "big") return std::int64_t{1} << 62;
  return ExpressionError{"unknown"};
}

std::int64_t value_of(std::string_view text) {
  const auto result = evaluate(text, lookup);
  if (const auto* error = std::get_if<ExpressionError>(&result)) FAIL(error->message);
  return std::get<std::int64_t>(result);
}

std::string error_of(std::string_view text) {
  const auto result = evaluate(text, lookup);
  REQUIRE(std::holds_alternative<ExpressionError>(result));
  return std::get<ExpressionError>(result).message;
}

}  // namespace

TEST_CASE("expressions follow the usual precedence and Python's rounding") {
  CHECK(value_of("2 + 3 * 4 - 1") == 13);
  CHECK(value_of("(2+3)*4") == 20);
  CHECK(value_of("20 - 3 - 4") == 13);
  CHECK(value_of("n / 3 * 3 + n % 3") == 1000);
  CHECK(value_of("-7 / 2") == -4);
  CHECK(value_of("-7 // 2") == -4);
  CHECK(value_of("-7 % 3") == 2);
  CHECK(value_of("7 % -3") == -2);
  CHECK(value_of("ceildiv(n, 256)") == 4);
  CHECK(value_of("ceildiv(n, 250)") == 4);
  CHECK(value_of("cdiv(n, 250)") == 4);
  CHECK(value_of("triton.cdiv(n, 250)") == 4);
  CHECK(value_of("ceildiv(n + 1, 250) * 2") == 10);
  CHECK(value_of("- - 3") == 3);
  CHECK(value_of(" n ") == 1000);
}

TEST_CASE("bad expressions are refused, never evaluated to something") {
  for (const char* text :
       {"",       " ",         "1 +",        "(1",           "1)",
        "1 2",    "n n",       "1.5",        "0x10",         "3n",
        "m",      "n;",        "ceildiv(1)", "ceildiv(1, 2", "ceildiv",
        "n / 0",  "n % 0",     "big * 4",    "big + big",    "99999999999999999999",
        "n ** 2", "n ? 1 : 2", "\xff"}) {
    INFO(text);
    CHECK(!error_of(text).empty());
  }
  CHECK(error_of(std::string(200, '(') + "1").find("nested") != std::string::npos);
  CHECK(error_of(std::string(300, '1')).find("longer than 256") != std::string::npos);
  CHECK(error_of("n / 0").find("division by zero") != std::string::npos);
  CHECK(!error_of("(0 - 9223372036854775807 - 1) / -1").empty());
}

TEST_CASE("shapes, values and launch resolve over sizes and int arguments") {
  const json document = json::parse(R"json({
    "sizes": {"n": 1000, "rows": "n / 10"},
    "args": [
      {"name": "x", "type": "tensor", "tensor_spec": {"shape": ["rows", "BLOCK * 2"], "init": {}}},
      {"name": "y", "type": "tensor", "role": "output",
       "tensor_spec": {"shape": ["rows", 8], "strides": ["8 + 8", 1]}},
      {"name": "n", "type": "int", "value": "n"},
      {"name": "scale", "type": "float", "value": "n"},
      {"name": "BLOCK", "type": "int", "value": 256, "is_meta": true}],
    "launch": {"grid": {"x": "ceildiv(n, BLOCK)"}, "block": ["BLOCK"], "shared_mem_bytes": "4 * BLOCK"
}
})json");
  auto result = parse(document);
  REQUIRE(std::holds_alternative<Parsed>(result));
  const Contract& contract = std::get<Parsed>(result).contract;
  CHECK(contract.sizes == std::map<std::string, std::int64_t>{{"n", 1000}, {"rows", 100}});
  CHECK(contract.args[0].tensor_spec->shape == std::vector<std::int64_t>{100, 512});
  CHECK(*contract.args[1].tensor_spec->strides == std::vector<std::int64_t>{16, 1});
  CHECK(contract.args[2].value == ScalarValue{std::int64_t{1000}});
  CHECK(contract.args[3].value == ScalarValue{1000.0});
  CHECK(contract.launch->grid == LaunchDim{4, 1, 1});
  CHECK(contract.launch->shared_mem_bytes == 1024U);
  const auto again = parse(to_json(contract));
  CHECK(std::get<Parsed>(again).contract == contract);
}

TEST_CASE("names without a value are refused where they are used") {
  auto violations = [](const char* text) {
    auto result = parse(json::parse(text));
    REQUIRE(std::holds_alternative<Refused>(result));
    return std::get<Refused>(result).violations;
  };
  const auto unknown = violations(
      R"({"args": [{"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["m"]}}]})");
  CHECK(unknown.at(0).pointer == "/args/0/tensor_spec/shape/0");
  CHECK(unknown.at(0).message.find("unknown size 'm'") != std::string::npos);
  const auto loop = violations(R"({"sizes": {"a": "b", "b": "a + 1"}, "args": []})");
  CHECK(loop.at(0).message.find("is defined by itself") != std::string::npos);
  const auto self = violations(R"({"args": [{"name": "n", "type": "int", "value": "n"}]})");
  CHECK(self.at(0).pointer == "/args/0/value");
  const auto negative = violations(
      R"({"sizes": {"n": 3}, "args": [{"name": "y", "type": "tensor", "role": "output",
          "tensor_spec": {"shape": ["n - 4"]}}]})");
  CHECK(negative.at(0).message.find("= -1") != std::string::npos);
  CHECK(violations(R"({"sizes": {"2n": 3, "ceildiv": 1}, "args": []})").size() == 2);
  CHECK(
      violations(R"({"sizes": {"n": 3}, "args": [{"name": "a", "type": "float", "value": "1/n"}]})")
          .at(0)
          .message.find("write the number") != std::string::npos);
}

TEST_CASE("a grid's axis may stay open for what a configuration says") {
  const auto document = json::parse(
      R"io({"sizes": {"m": 100}, "args": [{"name": "n", "type": "int", "value": 1000}],
            "launch": {"grid": {"x": "ceildiv(n, BLOCK)", "y": "m / 10", "z": "SPLIT"}}})io");
  CHECK(std::holds_alternative<Refused>(parse(document)));
  const auto parsed = parse(document, "", {.open_grid = true});
  REQUIRE(std::holds_alternative<Parsed>(parsed));
  const Contract& contract = std::get<Parsed>(parsed).contract;
  CHECK(*contract.launch->grid == LaunchDim{.x = 1, .y = 10, .z = 1});
  CHECK(contract.launch->open_grid[0] == "ceildiv(n, BLOCK)");
  CHECK(std::get<Parsed>(parse(to_json(contract), "", {.open_grid = true})).contract == contract);
  CHECK(explain(contract).back() == "launch: grid (ceildiv(n, BLOCK))x10x(SPLIT)");

  using Grid = std::optional<LaunchDim>;
  // What the contract says of a name itself counts.
  const auto closed = closed_grid(contract, {{"BLOCK", 128}, {"SPLIT", 2}, {"n", 7}});
  CHECK(std::get<Grid>(closed) == LaunchDim{.x = 8, .y = 10, .z = 2});
  CHECK(std::get<Grid>(closed_grid({}, {})) == std::nullopt);
  const auto missing = std::get<Violation>(closed_grid(contract, {{"BLOCK", 128}}));
  CHECK(missing.pointer == "/launch/grid/z");
  CHECK(missing.message.find("no size, argument or meta is called 'SPLIT'") != std::string::npos);
  for (const std::int64_t split : {0, -1, 65536}) {
    const auto beyond =
        std::get<Violation>(closed_grid(contract, {{"BLOCK", 128}, {"SPLIT", split}}));
    CHECK(beyond.message.find("between 1 and 65535") != std::string::npos);
  }
  const auto by_nothing = std::get<Violation>(closed_grid(contract, {{"BLOCK", 0}, {"SPLIT", 1}}));
  CHECK(by_nothing.pointer == "/launch/grid/x");

  for (const char* bad : {"ceildiv(n, BLOCK", "n BLOCK", "n / 0", "0", "-BLOCK / 0"}) {
    INFO(bad);
    json other = document;
    other["launch"]["grid"] = bad;
    CHECK(std::holds_alternative<Refused>(parse(other, "", {.open_grid = true})));
  }
}

TEST_CASE("a long chain of names ends in a refusal, not in a deep stack") {
  json sizes = json::object();
  for (int i = 0; i < 200; ++i)
    sizes["s" + std::to_string(i)] = "s" + std::to_string(i + 1) + " + 0";
  sizes["s200"] = 1;
  CHECK(std::holds_alternative<Refused>(parse({{"sizes", sizes}, {"args", json::array()}})));
}
