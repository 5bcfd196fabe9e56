// What a contract fixes of its inputs, and what could stand there instead.
#include "engine/contract/fixed_contents.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace assay::contract;
using nlohmann::json;

namespace {

Arg input(const json& spec, const char* role = "input") {
  json arg = {{"name", "x"}, {"type", "tensor"}, {"role", role}, {"tensor_spec", spec}};
  auto parsed = parse({{"args", {arg}}});
  if (const auto* refused = std::get_if<Refused>(&parsed)) FAIL(refused->violations[0].message);
  return std::get<Parsed>(parsed).contract.args[0];
}

json spec_of(const json& init, const char* dtype = "float32") {
  return {{"shape", {4}}, {"dtype", dtype}, {"init", init}};
}

std::pair<double, double> bounds(const json& init) {
  const auto other = other_contents(input(spec_of(init)));
  REQUIRE(other);
  REQUIRE(other->init->kind == InitKind::uniform);
  return {to_double(*other->init->low), to_double(*other->init->high)};
}

}  // namespace

TEST_CASE("what is fixed is drawn from what is near it: nothing grows or changes its sign") {
  CHECK(bounds({{"kind", "ones"}}) == std::pair(0.5, 1.0));
  CHECK(bounds({{"kind", "zeros"}}) == std::pair(0.0, 0.5));
  CHECK(bounds({{"kind", "full"}, {"fill_value", -4}}) == std::pair(-4.0, -2.0));
  CHECK(bounds({{"kind", "full"}, {"fill_value", 0}}) == std::pair(0.0, 0.5));
  CHECK(bounds({{"kind", "arange"}, {"start", 2}, {"step", -1}}) == std::pair(-2.0, 2.0));
}

TEST_CASE("literal numbers are turned round, whatever their width") {
  Arg arg = input(spec_of({{"kind", "zeros"}}));
  const float numbers[4] = {1, 2, 3, 4};
  arg.tensor_spec->data = TensorData{.bytes = std::string(16, '\0')};
  CHECK_FALSE(other_contents(arg));  // the same from both ends
  std::memcpy(arg.tensor_spec->data->bytes.data(), numbers, 16);
  const auto other = other_contents(arg);
  REQUIRE(other);
  float turned[4] = {};
  std::memcpy(turned, other->data->bytes.data(), 16);
  CHECK(std::vector<float>(turned, turned + 4) == std::vector<float>{4, 3, 2, 1});
}

TEST_CASE("what is drawn, written to, counted or addressed stays as it is") {
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "randn"}}))));
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "uniform"}}))));
  CHECK_FALSE(other_contents(input({{"shape", {4}}, {"dtype", "float32"}})));
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "ones"}}, "int32"))));
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "ones"}}, "bool"))));
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "zeros"}}), "inout")));
  CHECK_FALSE(other_contents(input(spec_of({{"kind", "zeros"}}), "output")));
  CHECK_FALSE(
      other_contents(input({{"shape", {0}}, {"dtype", "float32"}, {"init", {{"kind", "ones"}}}})));
  for (const char* value : {"inf", "nan"}) {
    Arg arg = input(spec_of({{"kind", "full"}, {"fill_value", 1}}));
    arg.tensor_spec->init->fill_value = std::strtod(value, nullptr);
    CHECK_FALSE(other_contents(arg));
  }
}

TEST_CASE("they are named with what they hold") {
  Contract contract;
  contract.args = {input(spec_of({{"kind", "ones"}})), input(spec_of({{"kind", "randn"}}))};
  contract.args[0].name = "gamma";
  CHECK(fixed_inputs(contract) == std::vector<std::size_t>{0});
  CHECK(fixed_in_words(contract, {0}) == "'gamma' (ones)");
}
