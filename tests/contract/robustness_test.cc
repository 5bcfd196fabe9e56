// No document makes the parser throw, and whatever it accepts it can write, read again and lay out.
#include <limits>
#include <nlohmann/json.hpp>

#include "engine/contract/contract.h"
#include "engine/contract/layout.h"
#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

const json& sample() {
  static const json document = json::parse(R"({
    "args": [
      {"name": "x", "type": "tensor", "role": "inout", "is_meta": false, "tensor_spec": {
        "shape": [2, "n"], "strides": [8, 1], "dtype": "int8",
        "init": {"kind": "uniform", "seed": 1, "mean": 0, "std": 1, "low": 0, "high": 9, "fill_value": 1,
                 "start": 0, "step": 1},
        "data": {"data_b64": "AQIDBA==", "dtype": "int8", "shape": [2, 2], "compress": "none"},
        "tolerance": {"atol": 0, "rtol": 0}}},
      {"name": "n", "type": "int", "value": 2, "c_type": "int32"},
      {"name": "f", "type": "float", "value": 2.5},
      {"name": "b", "type": "bool", "value": true},
      {"name": "s", "type": "str", "value": "n"}],
    "launch": {"grid": {"x": "n", "y": 1, "z": 1}, "block": {"x": 32, "y": 1, "z": 1},
               "shared_mem_bytes": 0, "num_warps": 4, "num_stages": 1},
    "sizes": {"n": 2}})");
  return document;
}

std::vector<json> odd_values() {
  return {nullptr,
          true,
          false,
          0,
          -1,
          1,
          3,
          1024,
          65536,
          std::numeric_limits<std::int64_t>::max(),
          std::numeric_limits<std::int64_t>::min(),
          std::numeric_limits<std::uint64_t>::max(),
          0.5,
          -0.0,
          1e308,
          std::numeric_limits<double>::infinity(),
          std::nan(""),
          "",
          "n",
          "nan",
          "-inf",
          "1/0",
          "n*n*n",
          std::string(100000, '('),
          std::string("\xff\xfe\0x", 4),
          json::array(),
          json::object(),
          json::array({nullptr}),
          json::array({0, 0, 0, 0}),
          json{{"x", nullptr}},
          json{{"", 1}}};
}

void parse_and_follow(const json& document) {
  const auto result = parse(document, "/io", {.max_bytes = 1 << 20});
  if (const auto* refused = std::get_if<Refused>(&result)) {
    REQUIRE(!refused->violations.empty());
    for (const Violation& v : refused->violations) {
      REQUIRE(v.pointer.starts_with("/io"));
      REQUIRE(!v.message.empty());
      // Messages go into answers: they must be text.
      REQUIRE_NOTHROW(json(v.message).dump());
      REQUIRE(v.message.size() < 1000);
    }
    return;
  }
  const Contract& contract = std::get<Parsed>(result).contract;
  const json written = to_json(contract);
  const auto again = parse(written);
  REQUIRE(std::holds_alternative<Parsed>(again));
  // Compared as documents: NaN is equal to nothing.
  REQUIRE(to_json(std::get<Parsed>(again).contract) == written);
  REQUIRE(layout(contract).total_bytes < (1 << 22));
}

}  // namespace

TEST_CASE("any value in any place is accepted or refused, never thrown at") {
  parse_and_follow(sample());
  std::vector<std::string> pointers;
  const json flat = sample().flatten();
  for (const auto& [pointer, value] : flat.items()) {
    // Every prefix of a leaf's pointer is a place too.
    for (std::size_t at = pointer.find('/', 1); at != std::string::npos;
         at = pointer.find('/', at + 1)) {
      pointers.push_back(pointer.substr(0, at));
    }
    pointers.push_back(pointer);
  }
  for (const std::string& pointer : pointers) {
    for (const json& odd : odd_values()) {
      json document = sample();
      document[json::json_pointer(pointer)] = odd;
      INFO(pointer);
      parse_and_follow(document);
    }
    json document = sample();
    const json::json_pointer place(pointer);
    if (json& parent = document[place.parent_pointer()]; parent.is_object()) {
      parent.erase(place.back());
      parse_and_follow(document);
    }
  }
}

TEST_CASE("a document with very many errors is refused with all of them") {
  json document{{"args", json::array()}};
  for (int i = 0; i < 1024; ++i) document["args"].push_back({{"name", "n"}, {"type", "int"}});
  const auto result = parse(document);
  REQUIRE(std::holds_alternative<Refused>(result));
  CHECK(std::get<Refused>(result).violations.size() == 1024 + 1023);
  document["args"].push_back(1);
  CHECK(std::get<Refused>(parse(document)).violations.size() == 1);
}
