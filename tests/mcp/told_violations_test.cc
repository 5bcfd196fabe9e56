#include "mcp/told_violations.h"

#include <algorithm>

#include "mcp/codec.h"
#include "tests/catch.h"

using namespace assay::mcp;

namespace {

std::vector<Violation> many(std::size_t count, std::size_t bytes) {
  std::vector<Violation> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({.pointer = "/io/args/" + std::to_string(i), .message = std::string(bytes, 'm')});
  return all;
}

}  // namespace

TEST_CASE("a few violations are told whole, without a count", "[violations]") {
  const auto told = told_violations(
      {{.pointer = "/a", .keyword = "type", .message = "no", .suggestion = "b"}, {.message = "x"}});
  CHECK(encode(told.error) ==
        R"({"violations":[{"pointer":"/a","keyword":"type","message":"no","suggestion":"b"},)"
        R"({"pointer":"","message":"x"}]})");
  CHECK(told.text == "/a: no\narguments: x");
}

TEST_CASE("of many violations the first are told, and how many there are", "[violations]") {
  for (const std::size_t count : {6, 49, 50, 500, 100'000}) {
    for (const std::size_t bytes : {1, 200, 5000}) {
      CAPTURE(count, bytes);
      const auto told = told_violations(many(count, bytes));
      const auto& list = told.error.at("violations");
      CHECK(encode(told.error).size() < 6000);
      CHECK(list.at(0).at("pointer") == "/io/args/0");
      CHECK(told.error.contains("violations_total") == (list.size() < count));
      if (list.size() < count) CHECK(told.error.at("violations_total") == count);
      CHECK(std::count(told.text.begin(), told.text.end(), '\n') == 5);
      CHECK(told.text.find("and " + std::to_string(count - 5)) != std::string::npos);
    }
  }
  CHECK(told_violations(many(50, 1)).text.find("or more") != std::string::npos);
  CHECK(told_violations(many(51, 1)).text.find("or more") == std::string::npos);
}

TEST_CASE("one monstrous violation does not fill an answer", "[violations]") {
  std::string pointer;
  for (int i = 0; i < 10'000; ++i) pointer += "/\xC3\xA4";
  const auto told = told_violations({{.pointer = pointer, .message = std::string(100'000, 'x')}});
  CHECK(encode(told.error).size() < 2000);
  CHECK(told.text.size() < 700);
}
