#include "mcp/http/envelope_check.h"

#include <random>

#include "tests/catch.h"

using namespace assay::mcp::http;

namespace {

// Written down bit by bit, as the definition has it.
std::string base64_of(const std::string& bytes) {
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bits;
  for (const char byte : bytes)
    for (int bit = 7; bit >= 0; --bit)
      bits += ((static_cast<unsigned char>(byte) >> bit) & 1) != 0 ? '1' : '0';
  while (bits.size() % 6 != 0) bits += '0';
  std::string text;
  for (std::size_t i = 0; i < bits.size(); i += 6)
    text += alphabet[std::stoul(bits.substr(i, 6), nullptr, 2)];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

HttpRequest accepting(const char* value) { return {.fields = {{"Accept", value}}}; }

}  // namespace

TEST_CASE("an encoded header is what was encoded", "[http]") {
  std::mt19937 random(7);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (auto left = random() % 40; left > 0; --left)
      text += random() % 5 == 0 ? "\xC3\xBC" : std::string(1, static_cast<char>(random() % 128));
    const auto decoded = decoded_header("=?base64?" + base64_of(text) + "?=");
    REQUIRE(decoded);
    CHECK(*decoded == text);
  }
}

TEST_CASE("what is no encoding is itself, what is a bad one is nothing", "[http]") {
  for (const char* plain : {"", "echo", "=?base64?", "?=", "=?base64?=", "x=?base64?ZQ==?="})
    CHECK(decoded_header(plain) == std::string(plain));
  for (const char* bad :
       {"=?base64?ZQ?=", "=?base64?ZQ=?=", "=?base64?Z?=", "=?base64?ZR==?=", "=?base64?Z-==?=",
        "=?base64?====?=", "=?base64?ZQ==ZQ==?=", "=?base64?Z Q=?=", "=?base64?gA==?="}) {
    INFO(bad);
    CHECK_FALSE(decoded_header(bad));
  }
}

TEST_CASE("what an Accept header admits", "[http]") {
  const char* json = "application/json";
  CHECK(accepts({}, json));
  CHECK(accepts(accepting("application/json"), json));
  CHECK(accepts(accepting("text/html, Application/JSON;q=0.5"), json));
  CHECK(accepts(accepting("*/*"), json));
  CHECK(accepts(accepting("application/*"), json));
  CHECK_FALSE(accepts(accepting("application/json;q=0"), json));
  CHECK_FALSE(accepts(accepting("application/json; q=0.000"), json));
  CHECK_FALSE(accepts(accepting("text/*"), json));
  CHECK_FALSE(accepts(accepting("application/jsonl"), json));
  CHECK_FALSE(accepts(accepting(""), json));
  CHECK_FALSE(names(accepting("*/*"), json));
  CHECK_FALSE(names({}, json));
  CHECK(names(accepting("text/event-stream,application/json"), json));
}

TEST_CASE("what a Content-Type says is JSON", "[http]") {
  const auto of = [](const char* value) { return is_json({.fields = {{"content-type", value}}}); };
  CHECK(of("application/json"));
  CHECK(of("Application/Json ; charset=utf-8"));
  CHECK_FALSE(of("application/json-seq"));
  CHECK_FALSE(of("text/plain; application/json"));
  CHECK_FALSE(of(""));
  CHECK_FALSE(is_json({}));
}
