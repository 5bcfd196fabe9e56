#include "mcp/pattern.h"

#include <chrono>
#include <stdexcept>
#include <string>

#include "tests/catch.h"

namespace {

bool found(const char* expression, const std::string& text) {
  return assay::mcp::Pattern(expression).found_in(text);
}

}  // namespace

TEST_CASE("patterns match as JSON Schema's do", "[pattern]") {
  CHECK(found("b+", "aabbcc"));
  CHECK_FALSE(found("^b+", "aabbcc"));
  CHECK(found("^(gpu:[0-9]+|emulator)$", "gpu:12"));
  CHECK(found("^(gpu:[0-9]+|emulator)$", "emulator"));
  CHECK_FALSE(found("^(gpu:[0-9]+|emulator)$", "gpu:"));
  CHECK(found("^a{2,3}$", "aaa"));
  CHECK_FALSE(found("^a{2,3}$", "aaaa"));
  CHECK(found("^a{2,}$", "aaaaaa"));
  CHECK_FALSE(found("^a{2}$", "a"));
  CHECK(found("^[^/]*$", "no slash"));
  CHECK_FALSE(found("^[^/]*$", "a/b"));
  CHECK(found(R"(^\d+\.\d+$)", "12.5"));
  CHECK(found(R"(^\w+\s\W$)", "ab_1 !"));
  CHECK(found(R"(^[\w.-]+$)", "a-b.c"));
  CHECK(found("^.$", "ü"));
  CHECK_FALSE(found("^.$", "\n"));
  CHECK(found(R"(^\u00fc$)", "ü"));
  CHECK(found("^(?:ab)*?$", "abab"));
  CHECK(found("", "anything"));
  CHECK(found("^$", ""));
  CHECK_FALSE(found("^$", "a"));
  CHECK(found("^(a*)*$", "aaaa"));
  CHECK(found("x$|^y", "yz"));
}

TEST_CASE("a hostile text costs linear time and no stack", "[pattern]") {
  const auto start = std::chrono::steady_clock::now();
  CHECK_FALSE(found("^(a+)+$", std::string(200'000, 'a') + "b"));
  CHECK(found("^[a-z_]+$", std::string(2'000'000, 'x')));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("bytes that are no UTF-8 match only what is open to anything", "[pattern]") {
  CHECK(found("^.$", "\xff"));
  CHECK_FALSE(found("^[a-z]$", "\xff"));
}

TEST_CASE("what is not understood is refused", "[pattern]") {
  for (const char* expression : {"(", ")", "[a", "a{3,2}", "*a", R"(\b)", R"((a)\1)", "(?=a)",
                                 "a{5000}", "((a{1000}){1000})", "\\"}) {
    INFO(expression);
    CHECK_THROWS_AS(assay::mcp::Pattern(expression), std::invalid_argument);
  }
}
