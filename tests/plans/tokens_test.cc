#include "plans/optest/tokens.h"

#include "plans/optest/yaml_value.h"
#include "tests/catch.h"

using assay::optest::check_tokens;
using assay::optest::Problems;
using assay::optest::split_words;
using assay::optest::substitute;

TEST_CASE("known tokens are replaced, braces that begin no name are text") {
  const std::map<std::string, std::string> values{{"chip", "X"}, {"input0", "/a b"}};
  CHECK(substitute("{chip}-{input0}", values) == "X-/a b");
  CHECK(substitute("{{chip}} {\"a\": {chip}}", values) == "{chip} {\"a\": X}");
  CHECK(substitute("{", values) == "{");
  CHECK(substitute("{ chip }", values) == "{ chip }");
  CHECK(check_tokens("{chip} {{nonsense}} {\"json\": 1} {}", 0, 0).empty());
}

TEST_CASE("an unknown token is told with its place and a suggestion") {
  const auto faults = check_tokens("x {input3} {shaps}", 2, 1);
  REQUIRE(faults.size() == 2);
  CHECK(faults[0].offset == 2);
  CHECK(faults[0].message == "{input3}: there are 2 inputs, counted from 0");
  CHECK(faults[1].offset == 11);
  CHECK(faults[1].message.find("did you mean {shape") != std::string::npos);
}

TEST_CASE("a substituted value is not read again") {
  CHECK(substitute("{chip}", {{"chip", "{case}"}, {"case", "no"}}) == "{case}");
}

TEST_CASE("one text is cut into words as a shell would, without a shell") {
  using Words = std::vector<std::string>;
  CHECK(split_words("./run  -a 'b c' \"d \\\" e\" f\\ g ''") ==
        Words{"./run", "-a", "b c", "d \" e", "f g", ""});
  CHECK(split_words("a;b $(c) *") == Words{"a;b", "$(c)", "*"});
  CHECK_FALSE(split_words("'open"));
  CHECK(split_words("  ")->empty());
}

TEST_CASE("numbers are YAML 1.2's, quoted ones are texts") {
  Problems problems;
  const auto document = assay::optest::parse_yaml(
      "a: 1e-5\nb: '1'\nc: 0x10\nd: .5\ne: true\nf: 910\ng: 1.2.3\nh: -.inf\ni: yes\nj: ~\n",
      problems);
  REQUIRE_FALSE(problems.fatal());
  const auto read = assay::optest::to_json(document);
  CHECK(read.at("a") == 1e-5);
  CHECK(read.at("b") == "1");
  CHECK(read.at("c") == 16);
  CHECK(read.at("d") == 0.5);
  CHECK(read.at("e") == true);
  CHECK(read.at("f") == 910);
  CHECK(read.at("g") == "1.2.3");
  CHECK(read.at("h").get<double>() < 0);
  CHECK(read.at("i") == "yes");
  CHECK(read.at("j").is_null());
  CHECK(document.find("c")->place.line == 3);
}
