#include "mcp/schema.h"
#include "mcp/arguments.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "mcp/json_text.h"
#include "mcp/near_name.h"
#include "tests/catch.h"

namespace {

using namespace assay::mcp;

std::string faults(const char* schema, const char* value) {
  return describe(Schema(Json::parse(schema)).check(Json::parse(value)));
}

}  // namespace

TEST_CASE("types, and lists of types", "[schema]") {
  CHECK(faults(R"({"type":"integer"})", "3.0") == "");
  CHECK(faults(R"({"type":"integer"})", "3.5") == "arguments: expected integer, got number 3.5");
  CHECK(faults(R"({"type":["object","string"]})", "[1]") ==
        "arguments: expected object or string, got array");
  CHECK(faults(R"({"type":["null","boolean"]})", "null") == "");
  CHECK(faults(R"({"type":"number"})", "true") == "arguments: expected number, got boolean true");
  CHECK(faults("false", "1") == "arguments: nothing is allowed here");
  CHECK(faults("true", "1") == "");
}

TEST_CASE("numbers", "[schema]") {
  CHECK(faults(R"({"maximum":1024})", "1024") == "");
  CHECK(faults(R"({"maximum":1024})", "1025") == "arguments: above maximum 1024 (is 1025)");
  CHECK(faults(R"({"minimum":-1})", "-1.5") == "arguments: below minimum -1 (is -1.5)");
  CHECK(faults(R"({"minimum":0})", "18446744073709551615") == "");
  CHECK(faults(R"({"exclusiveMinimum":0})", "0") == "arguments: must be above 0 (is 0)");
  CHECK(faults(R"({"exclusiveMaximum":1})", "1.0") == "arguments: must be below 1 (is 1.0)");
  CHECK(faults(R"({"multipleOf":4})", "12") == "");
  CHECK(faults(R"({"multipleOf":4})", "10") == "arguments: must be a multiple of 4 (is 10)");
  CHECK(faults(R"({"multipleOf":0.1})", "0.3") == "");
}

TEST_CASE("strings are counted in characters and matched anywhere", "[schema]") {
  CHECK(faults(R"({"maxLength":2})", R"("üü")") == "");
  CHECK(faults(R"({"maxLength":2})", R"("abc")") == "arguments: longer than 2 characters (has 3)");
  CHECK(faults(R"({"minLength":1})", R"("")") == "arguments: must not be empty");
  CHECK(faults(R"({"pattern":"^sm_[0-9]{2,3}a?$"})", R"("sm_90a")") == "");
  CHECK(faults(R"({"pattern":"^sm_[0-9]{2,3}a?$"})", R"("sm-90")") ==
        R"(arguments: must match ^sm_[0-9]{2,3}a?$, got "sm-90")");
}

TEST_CASE("a choice names what is allowed and what was probably meant", "[schema]") {
  CHECK(faults(R"({"enum":["cuda","triton",3]})", R"("cude")") ==
        R"(arguments: must be "cuda", "triton" or 3, got "cude"; did you mean "cuda"?)");
  CHECK(faults(R"({"const":1})", "1.0") == "");
  CHECK(faults(R"({"const":"a"})", R"({"b":1})") == R"(arguments: must be "a", got an object)");
}

TEST_CASE("objects", "[schema]") {
  const char* schema = R"({"type":"object","required":["name"],"minProperties":1,"maxProperties":2,
      "properties":{"name":{"type":"string"},"block_dim":{"type":"integer"}},"additionalProperties":false})";
  CHECK(faults(schema, R"({"name":"a","block_dim":1})") == "");
  CHECK(faults(schema, R"({"name":"a","blockDim":1})") ==
        "/blockDim: unknown property; did you mean \"block_dim\"?");
  CHECK(faults(schema, R"({"name":"a","zzz":1})") == "/zzz: unknown property; expected: block_dim");
  // A name goes on behind a NUL.
  CHECK(faults(schema, R"({"name":"a","block_dim\u0000":1})").find("unknown property") !=
        std::string::npos);
  CHECK(faults(schema, "{}") ==
        "arguments: needs at least 1 members (has 0)\n/name: required, but missing");
  CHECK(faults(R"({"additionalProperties":{"type":"integer"}})", R"({"a":1,"b":"x"})") ==
        "/b: expected integer, got string \"x\"");
  CHECK(faults(R"({"patternProperties":{"^x-":{"type":"integer"}},"additionalProperties":false})",
               R"({"x-a":1,"x-b":"c","d":1})") ==
        "/d: unknown property\n/x-b: expected integer, got string \"c\"");
  CHECK(faults(R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})") ==
        "/ab: longer than 1 characters (has 2)");
}

TEST_CASE("arrays", "[schema]") {
  CHECK(faults(R"({"items":{"type":"integer"},"minItems":1,"maxItems":2})", "[1,2,\"x\"]") ==
        "arguments: allows at most 2 items (has 3)\n/2: expected integer, got string \"x\"");
  CHECK(faults(R"({"prefixItems":[{"type":"string"},{"type":"integer"}],"items":false})",
               R"(["a",1])") == "");
  CHECK(faults(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a",1])") ==
        "/1: nothing is allowed here");
  CHECK(faults(R"({"uniqueItems":true})", "[1,2,1]") == "/2: occurs twice");
}

TEST_CASE("of several forms the closest one is explained", "[schema]") {
  const char* schema = R"({"oneOf":[
      {"type":"object","properties":{"kind":{"const":"file"},"path":{"type":"string"}},"required":["kind","path"]},
      {"type":"object","properties":{"kind":{"const":"text"},"text":{"type":"string"}},"required":["kind","text"]},
      {"type":"string"}]})";
  CHECK(faults(schema, R"({"kind":"text","text":"x"})") == "");
  CHECK(faults(schema, R"("name")") == "");
  CHECK(faults(schema, R"({"kind":"text","text":7})") == "/text: expected string, got integer 7");
  CHECK(faults(schema, "7") == "arguments: expected object, object or string, got integer");
  CHECK(faults(R"({"oneOf":[{"minimum":1},{"maximum":5}]})", "3") ==
        "arguments: has 2 of the allowed forms at once");
  CHECK(faults(R"({"anyOf":[{"minimum":1},{"maximum":5}]})", "3") == "");
  CHECK(faults(R"({"allOf":[{"minimum":1},{"maximum":5}]})", "9") ==
        "arguments: above maximum 5 (is 9)");
  CHECK(faults(R"({"not":{"type":"null"}})", "null") ==
        "arguments: has a form that is excluded here");
  CHECK(faults(R"({"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}})",
               R"({"a":1})") == "/b: required, but missing");
}

TEST_CASE("references within the document, also recursive ones", "[schema]") {
  const char* tree = R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object",
      "properties":{"next":{"$ref":"#/$defs/node"}},"additionalProperties":false}}})";
  CHECK(faults(tree, R"({"next":{"next":{}}})") == "");
  CHECK(faults(tree, R"({"next":{"next":7}})") == "/next/next: expected object, got integer 7");
  CHECK(faults(R"({"$ref":"#"})", "1") == "arguments: nested too deeply to be checked");
  CHECK_THROWS_AS(Schema(Json::parse(R"({"$ref":"#/$defs/none"})")), std::invalid_argument);
  CHECK_THROWS_AS(Schema(Json::parse(R"({"$ref":"https://example.org/a.json"})")),
                  std::invalid_argument);
}

TEST_CASE("violations are all listed, up to a bound", "[schema]") {
  Json value = Json::array();
  for (int i = 0; i < 500; ++i) value.push_back("x");
  const auto found = Schema(Json::parse(R"({"items":{"type":"integer"}})")).check(value);
  CHECK(found.size() == kMaxViolations);
  CHECK_THAT(describe(found), Catch::Contains("further violations are not listed"));
}

TEST_CASE("a hostile name neither breaks the line nor floods the message", "[schema]") {
  Json value = Json::object();
  value[std::string(1'000'000, 'k')] = 1;
  value["two\nlines"] = 1;
  const std::string text =
      describe(Schema(Json::parse(R"({"additionalProperties":false})")).check(value));
  CHECK(text.size() < 1000);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("a keyword that is not checked is found and refused", "[schema]") {
  const Json schema = Json::parse(
      R"({"properties":{"a":{"format":"uri","minContains":1}},"$defs":{"d":{"unevaluatedItems":false}},
          "x-json-text":true,"title":"t","default":{"minContains":"data, not a keyword"}})");
  CHECK(Schema::unsupported_keywords(schema) ==
        std::vector<std::string>{"/$defs/d/unevaluatedItems", "/properties/a/minContains"});
  CHECK_THROWS_AS(Schema(schema), std::invalid_argument);
  CHECK(Schema::unsupported_keywords(Json::parse(R"({"properties":{"a":3}})")) ==
        std::vector<std::string>{"/properties/a (not a schema)"});
}

TEST_CASE("a keyword over what it does not take is refused, not stumbled over", "[schema]") {
  const std::map<std::string, std::vector<std::string>> wrong = {
      {"type", {"3", "null", "[1]"}},
      {"enum", {"\"a\"", "{}"}},
      {"required", {"\"a\"", "[1]", "{}"}},
      {"maxItems", {"\"1\"", "-1", "1.5", "[]"}},
      {"x-json-text", {"1", "[]", "\"true\""}},
      {"uniqueItems", {"1", "\"true\""}},
      {"minimum", {"\"1\"", "null", "[0]"}},
      {"multipleOf", {"0", "-2", "\"2\""}},
      {"pattern", {"1", "[]"}},
      {"$ref", {"1", "{}"}},
      {"items", {"3", "[]"}},
      {"prefixItems", {"3", "{}", "\"a\"", "[3]"}},
      {"anyOf", {"{}", "true"}},
      {"properties", {"[]", "3"}},
      {"patternProperties", {"[]", "\"a\""}}};
  for (const auto& [keyword, values] : wrong)
    for (const std::string& value : values) {
      INFO(keyword << ": " << value);
      const Json schema = {{"properties", {{"a", {{keyword, Json::parse(value)}}}}}};
      CHECK(Schema::unsupported_keywords(schema).size() == 1);
      CHECK_THROWS_AS(Schema(schema), std::invalid_argument);
    }
}

TEST_CASE("JSON text is read where the schema says so", "[schema]") {
  const Schema schema(Json::parse(R"({"properties":{
      "io":{"type":["object","string"],"x-json-text":true,"properties":{"deep":{"type":"array","x-json-text":true}}},
      "plain":{"type":"string"},
      "list":{"type":"array","items":{"type":"object","x-json-text":true}},
      "either":{"x-json-text":true,"oneOf":[{"type":"object"},{"type":"string"}]}}})"));
  const auto expanded = [&schema](const char* text) {
    Json value = Json::parse(text);
    const auto found = expand_json_text(schema, value);
    return found.empty() ? value.dump() : describe(found);
  };
  CHECK(expanded(R"({"io":" {\"a\":1}"})") == R"({"io":{"a":1}})");
  CHECK(expanded(R"({"io":"{\"deep\":\"[1,2]\"}"})") == R"({"io":{"deep":[1,2]}})");
  CHECK(expanded(R"({"io":"a_name"})") == R"({"io":"a_name"})");
  CHECK(expanded(R"({"plain":"{\"a\":1}"})") == R"({"plain":"{\"a\":1}"})");
  CHECK(expanded(R"({"list":["{}",{}]})") == R"({"list":[{},{}]})");
  CHECK(expanded(R"({"either":"{\"a\":{}}"})") == R"({"either":{"a":{}}})");
  CHECK_THAT(expanded(R"({"io":"{\"a\":"})"),
             Catch::Contains("/io: a string that should hold JSON does not"));
  CHECK(without_json_text_marks(OrderedJson(schema.document())).dump().find("x-json-text") ==
        std::string::npos);
}

TEST_CASE("the nearest name is near", "[schema]") {
  const std::vector<std::string> known{"grid", "block_dim", "shared_mem_bytes", "dtype"};
  CHECK(nearest_name("grdi", known) == "grid");
  CHECK(nearest_name("blockDim", known) == "block_dim");
  CHECK(nearest_name("sharedmem_byte", known) == "shared_mem_bytes");
  CHECK(nearest_name("shape", known) == "");
  CHECK(nearest_name("", known) == "");
  CHECK(nearest_name(std::string(100'000, 'g'), known) == "");
}

TEST_CASE("null is nothing said, but where the schema has a null or needs a value", "[schema]") {
  const Schema schema(Json::parse(R"({"required":["must"],"additionalProperties":false,
      "$defs":{"named":{"type":"string"}},"properties":{
      "must":{"type":"object","x-json-text":true},"count":{"type":"integer"},
      "either":{"type":["number","null"]},"word":{"enum":["a","b"]},"open":{"enum":["a",null]},
      "same":{"$ref":"#/$defs/named"},"free":{}}})"));
  const auto checked = [&schema](const char* text) {
    Json value = Json::parse(text);
    const auto found = check_arguments(schema, value);
    return found.empty() ? value.dump() : describe(found);
  };
  CHECK(checked(R"({"must":"{}","count":null,"word":null,"same":null})") == R"({"must":{}})");
  CHECK(checked(R"({"must":{},"either":null,"open":null,"free":null})") ==
        R"({"either":null,"free":null,"must":{},"open":null})");
  CHECK_THAT(checked(R"({"must":null})"), Catch::Contains("/must: "));
  CHECK_THAT(checked(R"({"must":{},"unknown":null})"), Catch::Contains("/unknown: "));
  CHECK_THAT(checked(R"({"must":{},"count":"3"})"), Catch::Contains("/count: "));
  for (const char* text : {"null", "[]", "3"}) {
    Json value = Json::parse(text);
    (void)check_arguments(schema, value);
    CHECK(value == Json::parse(text));
  }
}
