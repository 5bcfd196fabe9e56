#include <algorithm>

#include "plans/optest/plan.h"
#include "plans/optest/yaml_value.h"
#include "tests/catch.h"

using assay::optest::load_plan;
using assay::optest::parse_yaml;
using assay::optest::Problems;
using assay::optest::to_text;

namespace {

const std::string kPlan = R"(operator: copy
inputs: [in.bin]
outputs: [out.bin]
assertion: {name: relu}
backends:
  - {type: cuda, chip: any, command: [cp, "{input0}", "{output0}"]}
cases:
  - name: one
    dtypes: [float32]
    shapes: [{inputs: [[4]], outputs: [[4]]}]
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kPlan;
  return text.replace(text.find(from), from.size(), to);
}

std::string problems_of(const std::string& text) {
  std::string told;
  for (const auto& one : load_plan(text, "/").problems) told += to_text(one, "p") + "\n";
  return told;
}

}  // namespace

TEST_CASE("one file with two purposes is found when the plan is read, once, at its place") {
  CHECK(problems_of(kPlan).empty());
  const std::string both = "p:3:11: cases[0].outputs[0]: 'in.bin' is input0 and output0 at once\n";
  CHECK(problems_of(with("[out.bin]", "[./x/../in.bin]")) == both);
  CHECK(problems_of(
            with("[out.bin]", "[in.bin]") +
            "  - {name: two, dtypes: [float32], shapes: [{inputs: [[1]], outputs: [[1]]}]}\n") ==
        both);
  CHECK(problems_of(with("    dtypes", "    outputs: [a, a]\n    dtypes"))
            .starts_with("p:9:18: cases[0].outputs[1]: 'a' is output0 and output1 at once\n"));
}

TEST_CASE("a tensor without elements is a warning with its place") {
  CHECK(problems_of(with("inputs: [[4]]", "inputs: [[4, 0]]")) ==
        "p:10:28: warning: cases[0].shapes[0].inputs[0]: the tensor has no elements: nothing of it "
        "is compared\n");
}

TEST_CASE("a NUL is refused wherever it stands") {
  CHECK(problems_of(with("[in.bin]", "[\"in\\0.bin\"]"))
            .starts_with("p:2:10: holds a NUL, which no path, name or command may\n"));
  CHECK(problems_of(with("chip: any", "chip: \"a\\0\"")).starts_with("p:6:24: holds a NUL"));
}

TEST_CASE("merges take what a mapping has not, in order, with the lines where it is written") {
  Problems problems;
  const auto document = parse_yaml(
      "a: &a {x: 1, y: 2}\nb: &b\n  y: 3\n  z: 4\nc:\n  <<: [*a, *b]\n  x: 5\nd:\n  <<: *a\n",
      problems);
  REQUIRE_FALSE(problems.fatal());
  const auto read = to_json(document);
  CHECK(read.at("c") == nlohmann::json{{"x", 5}, {"y", 2}, {"z", 4}});
  CHECK(read.at("d") == nlohmann::json{{"x", 1}, {"y", 2}});
  CHECK(document.find("c")->find("z")->place.line == 4);
  CHECK(document.find("c")->find("x")->place.line == 7);
}

TEST_CASE("a merged case is read as if it were written out; its problems have the right line") {
  const std::string base =
      "  - &base\n    name: one\n    dtypes: [float32]\n    shapes: [{inputs: [[4]], outputs: "
      "[[4]]}]\n";
  const std::string plan = kPlan.substr(0, kPlan.find("  - name")) + base +
                           "  - {<<: *base, name: two, dtypes: [float99]}\n";
  CHECK(problems_of(plan) == "p:12:37: cases[1].dtypes[0]: 'float99' is no dtype\n");
}

TEST_CASE("keys that occur twice and merges of what is no mapping are problems") {
  for (const auto& [text, message] :
       {std::pair{"a: 1\nb: 2\na: 3\n", "p:3:1: the key 'a' occurs twice"},
        std::pair{"a: &a [1]\nb: {<<: *a}\n", "p:2:5: '<<' merges mappings only"},
        std::pair{"a: &a {}\nb:\n  <<: *a\n  <<: *a\n", "p:4:3: the key '<<' occurs twice"}}) {
    Problems problems;
    (void)parse_yaml(text, problems);
    REQUIRE(problems.list().size() == 1);
    CHECK(to_text(problems.list()[0], "p") == message);
  }
}
