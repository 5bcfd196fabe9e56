// A contract is the same after being written as text, as a document or as steps, and read again.
#include "engine/contract/builder.h"
#include "engine/contract/compact.h"
#include "tests/catch.h"
#include "tests/contract/contract_texts.h"
#include "tests/contract/random_contract.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

// Documents whose every size is an expression over names, in any of the spellings that parse()
// takes.
class SymbolicRandom {
 public:
  explicit SymbolicRandom(unsigned seed) : engine_(seed) {}

  json document() {
    json made = {{"sizes", {{"rows", 1 + below(9)}, {"true", 2}, {"total", "rows*(true)"}}},
                 {"args", json::array()}};
    made["args"].push_back({{"name", "n"}, {"type", "int"}, {"value", 1 + below(9)}});
    made["args"].push_back({{"name", "grid"}, {"type", "int"}, {"value", extent()}});
    for (auto i = below(4); i >= 0; --i) {
      json spec = {{"dtype", "float32"}, {"shape", json::array()}};
      for (auto d = below(3); d >= 0; --d) spec["shape"].push_back(extent());
      if (spec["shape"].size() == 1) spec["strides"] = json::array({"total + 0*n"});
      made["args"].push_back({{"name", "out" + std::to_string(i)},
                              {"type", "tensor"},
                              {"role", "output"},
                              {"tensor_spec", std::move(spec)}});
    }
    made["launch"] = {{"grid", dim()}, {"block", dim()}, {"shared_mem_bytes", extent()}};
    return made;
  }

  // The same task at another size.
  static json at(json document, int rows, int n) {
    document["sizes"]["rows"] = rows;
    for (json& arg : document["args"]) {
      if (arg["name"] == "n") arg["value"] = n;
    }
    return document;
  }

 private:
  int below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }

  json extent() {
    static constexpr const char* kExpressions[] = {
        "rows",   "true",      "n",          "rows * n", "ceildiv(total, 3)", "(n) + (rows)",
        "n//2+1", "n % 4 + 1", "rows+total", "-1 + n+1", "ceildiv(n, 2) * 2", " n "};
    return below(4) == 0 ? json(1 + below(5)) : json(kExpressions[below(12)]);
  }

  json dim() {
    switch (below(3)) {
      case 0:
        return extent();
      case 1:
        return json::array({extent(), 1});
      default:
        return {{"x", extent()}, {"z", "n - n + 1"}};
    }
  }

  std::mt19937 engine_;
};

}  // namespace

TEST_CASE("any contract survives being written as text and read again") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Contract contract = RandomContract(seed).contract();
    // The generator may make what parse() refuses (a value that does not fit): those prove nothing.
    const auto checked = parse(to_json(contract));
    const auto* good = std::get_if<Parsed>(&checked);
    INFO(seed << "\n" << to_json(contract).dump() << "\n" << to_compact(contract));
    REQUIRE(good != nullptr);
    CHECK(from_text(to_compact(contract)) == contract);
  }
}

TEST_CASE("a contract's expressions survive being written as text and read again") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const json document = SymbolicRandom(seed).document();
    const std::string text = to_compact(document);
    INFO(document.dump() << "\n" << text);
    const auto result = from_compact(text);
    REQUIRE(std::holds_alternative<json>(result));
    const json& again = std::get<json>(result);
    CHECK(parsed(again) == parsed(document));
    // A size that was resolved on the way would stay behind.
    for (const auto& [rows, n] : {std::pair{1, 12}, std::pair{7, 1}, std::pair{3, 5}}) {
      CHECK(parsed(SymbolicRandom::at(again, rows, n)) ==
            parsed(SymbolicRandom::at(document, rows, n)));
    }
    CHECK(to_compact(again) == text);
  }
  CHECK_THROWS_AS(to_compact(json::array()), std::invalid_argument);
}

TEST_CASE("any contract survives being taken apart into the builder's steps") {
  for (unsigned seed = 0; seed < 1000; ++seed) {
    const Contract contract = RandomContract(seed + 5000).contract();
    const json document = to_json(contract);
    json steps = json::array();
    const json sizes = document.value("sizes", json::object());
    for (const auto& [name, value] : sizes.items()) {
      steps.push_back({{"set_size", {name, value}}});
    }
    for (json arg : document.at("args")) {
      std::string method = "add_scalar";
      if (arg.at("type") == "tensor") {
        method = "add_" + arg.at("role").get<std::string>() + "_tensor";
        for (const char* said : {"type", "role"}) arg.erase(said);
      }
      arg["method"] = method;
      steps.push_back(std::move(arg));
    }
    if (document.contains("launch"))
      steps.push_back({{"set_launch_config", document.at("launch")}});
    steps.emplace_back("build");
    INFO(steps.dump());
    const auto built = from_steps(steps, "");
    REQUIRE(std::holds_alternative<json>(built));
    CHECK(parsed(std::get<json>(built)) == contract);
  }
}

TEST_CASE("every dtype survives being written as text, as a tensor's and as a scalar's type") {
  for (const DType dtype : all_dtypes()) {
    const std::string name(assay::contract::name(dtype));
    const Contract contract = from_text("inout x: " + name + "[2, 3] ones\nout y: " + name + "[4]");
    CHECK(contract.args[0].tensor_spec->dtype == dtype);
    CHECK(from_text(to_compact(contract)) == contract);
    CHECK(parsed(to_json(contract)) == contract);
    if (is_complex(dtype)) continue;
    const std::string value = dtype == DType::boolean ? "true" : is_integer(dtype) ? "7" : "0.5";
    const Contract scalar = from_text("s: " + name + " = " + value);
    CHECK(from_text(to_compact(scalar)) == scalar);
    CHECK(parsed(to_json(scalar)) == scalar);
  }
}
