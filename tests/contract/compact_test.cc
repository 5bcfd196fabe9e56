// The compact text and the builder's steps mean what the document means.
#include "engine/contract/compact.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/contract/builder.h"
#include "engine/contract/explanation.h"
#include "tests/catch.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

Contract parsed(const json& document) {
  const auto result = parse(document);
  if (const auto* refused = std::get_if<Refused>(&result)) {
    for (const auto& violation : refused->violations)
      UNSCOPED_INFO(violation.pointer + ": " + violation.message);
  }
  INFO(document.dump());
  REQUIRE(std::holds_alternative<Parsed>(result));
  return std::get<Parsed>(result).contract;
}

Contract from_text(const std::string& text) {
  INFO(text);
  const auto result = from_compact(text);
  if (const auto* errors = std::get_if<std::vector<CompactError>>(&result)) {
    for (const auto& error : *errors)
      UNSCOPED_INFO(std::to_string(error.line) + ": " + error.message);
  }
  REQUIRE(std::holds_alternative<json>(result));
  return parsed(std::get<json>(result));
}

std::vector<CompactError> errors_of(const std::string& text) {
  const auto result = from_compact(text);
  const auto* errors = std::get_if<std::vector<CompactError>>(&result);
  return errors != nullptr ? *errors : std::vector<CompactError>{};
}

// Contracts at random, every member of the format met.
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  Contract contract() {
    Contract made;
    if (chance()) made.sizes = {{"rows", below(100)}, {"_x2", -below(9)}};
    const auto count = 1 + below(6);
    for (std::int64_t i = 0; i < count; ++i) {
      made.args.push_back(chance() ? tensor(name(i)) : scalar(name(i)));
    }
    if (chance()) made.launch = launch();
    return made;
  }

 private:
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(bound));
  }
  bool chance() { return below(2) == 0; }
  double real() {
    return std::ldexp(static_cast<double>(engine_()) - 0x1p63, static_cast<int>(below(80)) - 120);
  }

  std::string name(std::int64_t index) {
    static constexpr const char* kOdd[] = {"in",     "grid", "a b", "x;y",  "\"q\"",
                                           "n: int", "size", "é#1", "meta", "[0]"};
    return (chance() ? std::string(kOdd[below(10)]) : "arg") + std::to_string(index);
  }

  TensorInit init() {
    TensorInit made;
    switch (below(6)) {
      case 0:
        made = {.kind = InitKind::randn, .mean = real(), .std = std::fabs(real())};
        break;
      case 1:
        made = {.kind = InitKind::uniform, .low = Number{-1.5}, .high = Number{below(50)}};
        break;
      case 2:
        made = {.kind = InitKind::full,
                .fill_value =
                    chance() ? Number{std::numeric_limits<double>::infinity()} : Number{real()}};
        break;
      case 3:
        made = {.kind = InitKind::arange, .start = Number{real()}, .step = Number{below(9) + 1}};
        break;
      case 4:
        made = {.kind = InitKind::zeros};
        break;
      default:
        made = {.kind = InitKind::ones};
    }
    if (chance()) made.seed = engine_();
    return made;
  }

  Arg tensor(std::string name) {
    Arg made{.name = std::move(name)};
    made.role = static_cast<Role>(below(3));
    TensorSpec spec;
    spec.dtype = chance() ? DType::float32 : DType::float64;
    for (std::int64_t d = below(4); d > 0; --d) spec.shape.push_back(1 + below(5));
    if (chance() && !spec.shape.empty()) {
      spec.strides = std::vector<std::int64_t>(spec.shape.size(), 1);
      for (std::size_t d = spec.shape.size() - 1; d > 0; --d) {
        (*spec.strides)[d - 1] = (*spec.strides)[d] * (spec.shape[d] + 1);
      }
    }
    if (made.role != Role::output || chance()) spec.init = init();
    if (made.role != Role::output && chance()) {
      std::string bytes(spec.contiguous_bytes(), '\0');
      for (char& byte : bytes) byte = static_cast<char>(below(256));
      spec.data = TensorData{.bytes = bytes,
                             .compression = chance() ? Compression::zlib : Compression::none};
    }
    if (made.role != Role::input && chance())
      spec.tolerance = ToleranceRequest{.atol = std::fabs(real()), .rtol = 1e-3};
    made.tensor_spec = std::move(spec);
    return made;
  }

  Arg scalar(std::string name) {
    Arg made{.name = std::move(name), .is_meta = chance()};
    switch (below(4)) {
      case 0:
        made.type = ArgType::integer;
        made.value =
            chance() ? ScalarValue{below(1000) - 500} : ScalarValue{std::uint64_t{1} << 63};
        if (chance())
          made.c_type =
              std::holds_alternative<std::uint64_t>(made.value) ? DType::uint64 : DType::int64;
        break;
      case 1:
        made.type = ArgType::floating;
        made.value = chance() ? real() : -std::numeric_limits<double>::infinity();
        if (chance()) made.c_type = DType::float64;
        break;
      case 2:
        made.type = ArgType::boolean;
        made.value = chance();
        if (chance()) made.c_type = DType::uint8;
        break;
      default:
        made.type = ArgType::text;
        made.value = std::string(chance() ? "a; b # \"c\"\n[d" : "");
    }
    return made;
  }

  LaunchConfig launch() {
    LaunchConfig made;
    const auto dim = [&] {
      return LaunchDim{.x = static_cast<std::uint32_t>(1 + below(8)),
                       .y = static_cast<std::uint32_t>(1 + below(8)),
                       .z = 1};
    };
    if (chance()) made.grid = dim();
    if (chance()) made.block = dim();
    if (chance()) made.shared_mem_bytes = 1024;
    if (chance()) made.num_warps = 4;
    if (chance()) made.num_stages = 3;
    return made;
  }

  std::mt19937_64 engine_;
};

}  // namespace

TEST_CASE("any contract survives being written as text and read again") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Contract contract = Random(seed).contract();
    // The generator may make what parse() refuses (a value that does not fit): those prove nothing.
    const auto checked = parse(to_json(contract));
    const auto* good = std::get_if<Parsed>(&checked);
    INFO(seed << "\n" << to_json(contract).dump() << "\n" << to_compact(contract));
    REQUIRE(good != nullptr);
    CHECK(from_text(to_compact(contract)) == contract);
  }
}

namespace {

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
    const Contract contract = Random(seed + 5000).contract();
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
        arg = {{"name", arg.at("name")}, {"tensor_spec", arg.at("tensor_spec")}};
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

TEST_CASE("the text of the header's comment is the contract it says") {
  const Contract contract = from_text(R"(
    in  a: float32[m, k] randn(seed=1)
    in  b: float32[k, n] uniform(-1, 1, seed=2)
    out c: float32[m, n] atol=1e-3 rtol=1e-3
    m: int = 64; n: int = 128; k: int = 32      # scalars
    eps: float = 1e-5; count: uint64 = 8; flag: bool = true
    // a comment
    size rows = 4
    grid ceil(n/16), ceil(m/16); block 16, 16; shared 4*1024; warps 4; stages 2)");
  REQUIRE(contract.args.size() == 9);
  CHECK(contract.args[0].tensor_spec->shape == std::vector<std::int64_t>{64, 32});
  CHECK(contract.args[0].tensor_spec->init->seed == 1);
  CHECK(contract.args[1].tensor_spec->init->kind == InitKind::uniform);
  CHECK(to_double(*contract.args[1].tensor_spec->init->low) == -1);
  CHECK(contract.args[2].role == Role::output);
  CHECK(contract.args[2].tensor_spec->tolerance->atol == 1e-3);
  CHECK(contract.args[7].c_type == DType::uint64);
  CHECK(contract.args[8].value == ScalarValue{true});
  CHECK(contract.sizes.at("rows") == 4);
  CHECK(contract.launch->grid == LaunchDim{.x = 8, .y = 4});
  CHECK(contract.launch->block == LaunchDim{.x = 16, .y = 16});
  CHECK(contract.launch->shared_mem_bytes == 4096);
  CHECK(contract.launch->num_warps == 4);
}

TEST_CASE("shapes may span lines, parentheses hold a grid, // divides inside a statement") {
  const Contract contract =
      from_text("in a: float32[2,\n  3] zeros\ngrid (n//3, 2)\nblock [32]\nn: int = 9\n");
  CHECK(contract.args[0].tensor_spec->shape == std::vector<std::int64_t>{2, 3});
  CHECK(contract.launch->grid == LaunchDim{.x = 3, .y = 2});
  CHECK(contract.launch->block == LaunchDim{.x = 32});
  CHECK(from_text("in a: half[4] full(2.5)\ngrid (4 + 3) / 4").launch->grid == LaunchDim{.x = 1});
}

TEST_CASE("what cannot be read is named with its line") {
  struct Row {
    const char* text;
    std::size_t line;
    const char* says;
  };
  const Row rows[] = {{"\nhello world", 2, "cannot read"},
                      {"in a: float31[4]", 1, "unknown dtype"},
                      {"in a: float32", 1, "needs a shape"},
                      {"n: int", 1, "needs a value"},
                      {"n: quux = 3", 1, "unknown type"},
                      {"in a: float32[4] normal(0)", 1, "unknown contents"},
                      {"in a: float32[4]\n\nin b: float32[4] wild=3", 3, "unknown \"wild\""},
                      {"in a: float32[4] zeros(1, 2)", 1, "at most 1"},
                      {"grid", 1, "needs a value"},
                      {"grid 1, 2, 3, 4", 1, "three dimensions"},
                      {"size = 3", 1, "size needs"},
                      {"in a: float32[4", 1, "no ']'"},
                      {"in a: float32[1] data(AAAA)", 1, "base64 in quotes"}};
  for (const Row& row : rows) {
    INFO(row.text);
    const auto errors = errors_of(row.text);
    REQUIRE_FALSE(errors.empty());
    CHECK(errors[0].line == row.line);
    INFO(errors[0].message);
    CHECK(errors[0].message.find(row.says) != std::string::npos);
  }
}

TEST_CASE("no text makes the compact reader throw") {
  const std::string sample =
      "in a: float32[n, 4] randn(seed=1) strides=[4,1] atol=1; \"x y\": int as int32 = "
      "ceil(n/4)\ngrid (1,2); size n = 3";
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = sample;
    for (int edit = 0; edit < 3; ++edit) {
      const std::string pieces = "\"()[];:=,#/\n\\ \xff";
      text[random() % text.size()] = pieces[random() % pieces.size()];
      text.resize(1 + random() % text.size());
      text += sample.substr(random() % sample.size());
    }
    const auto result = from_compact(text);
    if (const auto* document = std::get_if<json>(&result)) static_cast<void>(parse(*document));
  }
  SUCCEED("none threw");
}

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

TEST_CASE("what is given twice, or to contents that have no such value, is refused on its line") {
  struct Case {
    const char* text;
    std::size_t line;
    const char* message;
  };
  const Case cases[] = {
      {"in a: float32[4] randn\ngrid 4\ngrid 5", 3, "grid is given twice"},
      {"in a: float32[4] randn\nblock 4; block 4", 2, "block is given twice"},
      {"size n = 4\nsize n = 5\nin a: float32[n] randn", 2, "n is given twice"},
      {"n: int = 4\nin a: float32[4] randn(seed=1) zeros", 2, "the contents are given twice"},
      {"n: int = 4\nin a: float32[4] randn(seed=1, seed=2)", 2, "seed is given twice"},
      {"n: int = 4\nin a: float32[4] randn(1, seed=2)", 2, "seed is given twice"},
      {"n: int = 4\nout a: float32[4] atol=1 atol=2", 2, "atol is given twice"},
      {"\n\nin a: float32[4] randn(foo=3)", 3, "randn has no \"foo\"; known are seed, mean, std"},
  };
  for (const auto& [text, line, message] : cases) {
    INFO(text);
    const auto errors = errors_of(text);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].message.find(message) != std::string::npos);
    CHECK(errors[0].line == line);
  }
}

TEST_CASE("a text that says nothing is no contract") {
  for (const char* text : {" ", "# a comment", "\n\n;;\n", "// nothing"}) {
    INFO(text);
    CHECK(errors_of(text).size() == 1);
  }
  CHECK(errors_of("grid 1; block 1").empty());
}
