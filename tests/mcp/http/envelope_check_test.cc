#include "mcp/http/envelope_check.h"

#include <random>

#include "tests/catch.h"

using namespace assay::mcp;
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

TEST_CASE("what a schema wants in headers is held against the arguments", "[http]") {
  const std::vector<ParamHeader> headers = param_headers(Json::parse(R"({"properties": {
      "region": {"type": "string", "x-mcp-header": "Region"},
      "inner": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
      "list": {"items": {"properties": {"no": {"x-mcp-header": "No"}}}}}})"));
  REQUIRE(headers.size() == 2);
  struct Row {
    Json arguments;
    Fields fields;
    bool accepted;
  };
  const auto region = [](const char* value) { return Fields{{"Mcp-Param-Region", value}}; };
  const auto count = [](const char* value) { return Fields{{"mcp-param-count", value}}; };
  const Json seven = {{"inner", {{"count", 7}}}};
  for (const Row& row :
       std::vector<Row>{{{{"region", "eu"}}, region("eu"), true},
                        {{{"region", "eu"}}, region(" eu "), true},
                        {{{"region", "eu"}}, region("EU"), false},
                        {{{"region", "eu"}}, {}, false},
                        {{{"region", "Hello"}}, region("=?base64?SGVsbG8=?="), true},
                        {{{"region", "Hello"}}, region("=?base64?SGVsbG8?="), false},
                        {{{"region", "Hello"}}, region("=?base64?SGVs!!!=?="), false},
                        {{{"region", "SGVsbG8="}}, region("SGVsbG8="), true},
                        {{{"region", nullptr}}, {}, true},
                        {{{"region", nullptr}}, region(""), false},
                        {Json::object(), {}, true},
                        {Json::object(), region("eu"), false},
                        {"text", region("eu"), false},
                        {seven, count("7"), true},
                        {seven, count("+7"), true},
                        {seven, count("7.0"), true},
                        {seven, count("8"), false},
                        {seven, count("7x"), false},
                        {seven, count(""), false},
                        {{{"inner", 3}}, {}, true}}) {
    INFO(row.arguments.dump());
    const Request request{
        .id = 1, .method = "tools/call", .params = {{"name", "t"}, {"arguments", row.arguments}}};
    const auto refusal = check_param_headers(request, {.fields = row.fields}, headers);
    CHECK(!refusal == row.accepted);
    if (refusal) CHECK(refusal->error.code == ErrorCode::header_mismatch);
    if (refusal) CHECK(refusal->status == 400);
  }
}
