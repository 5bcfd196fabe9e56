// The builder's steps give the manual's contracts, and each is explained.
#include "engine/contract/builder.h"
#include "engine/contract/explanation.h"
#include "tests/catch.h"
#include "tests/contract/contract_texts.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

}  // namespace

TEST_CASE(
    "the manual's builder example gives the manual's contract, in every way of writing a call") {
  const json steps = json::parse(R"([
    {"method": "add_input_tensor", "name": "x", "tensor_spec":
       {"helper": "create_randn_spec", "shape": [1024, 512], "dtype": "float32", "seed": 42}},
    {"add_input_tensor": ["weights", {"create_uniform_spec": {"shape": [512, 256], "seed": 43, "low": -0.5, "high": 0.5}}]},
    {"method": "add_output_tensor", "args": ["result"], "kwargs": {"shape": [1024, 256], "dtype": "float32"}},
    {"add_scalar": {"name": "alpha", "type": "float", "value": 2.0}},
    {"method": "add_scalar", "args": ["n_elements", "int", 1024]},
    {"add_meta_param": ["BLOCK_SIZE", 256]},
    {"method": "add_meta_param", "name": "NUM_STAGES", "value": 2},
    {"set_launch_config": {"grid": {"x": 4, "y": 1, "z": 1}, "num_warps": 4, "num_stages": 2}},
    "build"])");
  const auto result = from_steps(steps, "/steps");
  REQUIRE(std::holds_alternative<json>(result));
  const Contract contract = parsed(std::get<json>(result));
  CHECK(
      contract ==
      from_text("in x: float32[1024, 512] randn(seed=42, mean=0.0, std=1.0)\n"
                "in weights: float32[512, 256] uniform(-0.5, 0.5, seed=43)\n"
                "out result: float32[1024, 256]\nalpha: float = 2.0\nn_elements: int = 1024\n"
                "meta BLOCK_SIZE: int = 256\nmeta NUM_STAGES: int = 2\ngrid 4\nwarps 4\nstages 2"));
}

TEST_CASE("every helper has the manual's defaults") {
  const auto init = [](const char* spec) {
    const json steps = json::array({{{"add_input_tensor", {"x", json::parse(spec)}}}});
    const auto result = from_steps(steps, "");
    REQUIRE(std::holds_alternative<json>(result));
    const Contract contract = parsed(std::get<json>(result));
    CHECK(contract.args[0].tensor_spec->dtype == DType::float32);
    return *contract.args[0].tensor_spec->init;
  };
  CHECK(init(R"({"create_randn_spec": [[4]]})") ==
        TensorInit{.kind = InitKind::randn, .mean = 0.0, .std = 1.0});
  CHECK(init(R"({"create_uniform_spec": [[4]]})") ==
        TensorInit{.kind = InitKind::uniform, .low = Number{0.0}, .high = Number{1.0}});
  CHECK(init(R"({"create_zeros_spec": [[4]]})").kind == InitKind::zeros);
  CHECK(init(R"({"create_ones_spec": {"shape": [4]}})").kind == InitKind::ones);
  CHECK(init(R"({"create_full_spec": [[4], 3.14]})") ==
        TensorInit{.kind = InitKind::full, .fill_value = Number{3.14}});
  CHECK(init(R"({"create_arange_spec": [[4]]})") ==
        TensorInit{.kind = InitKind::arange, .start = Number{0.0}, .step = Number{1.0}});
  CHECK(init(R"({"create_tensor_spec": [[4], "float32", "randn", 7]})") ==
        TensorInit{.kind = InitKind::randn, .seed = 7});
}

TEST_CASE("a step that cannot be taken is named with its pointer") {
  struct Row {
    const char* steps;
    const char* pointer;
    const char* says;
  };
  const Row rows[] = {
      {R"([{"method": "add_tensor"}])", "/steps/0", "unknown method 'add_tensor'"},
      {R"([{"add_scalar": ["n", "int"]}])", "/steps/0", "requires value"},
      {R"(["build", {"add_scalar": ["n", "int", 4]}])", "/steps/1", "stands behind build"},
      {R"(["build", "build"])", "/steps/1", "stands behind build"},
      {R"([{"set_grid": [1]}, {"add_input_tensor": ["x", {"create_rand_spec": [[4]]}]}])",
       "/steps/1/tensor_spec", "create_randn_spec"},
      {R"([{"add_input_tensor": ["x", {"create_full_spec": [[4]]}]}])", "/steps/0/tensor_spec",
       "requires fill_value"},
      {R"([{"add_output_tensor": ["x"]}])", "/steps/0", "requires shape"},
      {R"([{"set_grid": []}])", "/steps/0", "requires x"},
      {R"([{"set_grid": [1, 2, 3, 4]}])", "/steps/0", "at most 3"},
      {R"([7])", "/steps/0", "must be a call"}};
  for (const Row& row : rows) {
    INFO(row.steps);
    const auto result = from_steps(json::parse(row.steps), "/steps");
    REQUIRE(std::holds_alternative<std::vector<Violation>>(result));
    const auto& violation = std::get<std::vector<Violation>>(result).at(0);
    CHECK(violation.pointer == row.pointer);
    INFO(violation.message);
    CHECK(violation.message.find(row.says) != std::string::npos);
  }
}

TEST_CASE("an explanation has a line per argument and the bytes add up") {
  const Contract contract = from_text(
      "in a: float32[n] randn(seed=1)\nout b: float64[n, 2]\nn: int = 1024\ngrid 4\nblock 256");
  const auto lines = explain(contract);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0] == "a: float32[1024], input, 4 KiB, filled with randn with seed 1");
  CHECK(lines[3] == "launch: grid 4x1x1 block 256x1x1 (1024 threads)");
  CHECK(bytes_of(contract) == json{{"total", 4096 + 16384}, {"args", {{"a", 4096}, {"b", 16384}}}});
  CHECK(readable_bytes(1023) == "1023 B");
  CHECK(readable_bytes(3ULL << 29) == "1.5 GiB");
}
