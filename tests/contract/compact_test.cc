// The compact text means what the document means.
#include "engine/contract/compact.h"

#include <fstream>
#include <random>

#include "tests/catch.h"
#include "tests/contract/contract_texts.h"

namespace {

using nlohmann::json;
using namespace assay::contract;

}  // namespace

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
