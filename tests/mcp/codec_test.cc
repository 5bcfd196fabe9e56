#include "mcp/codec.h"

#include <string>
#include <variant>

#include "tests/catch.h"

namespace {

using namespace assay::mcp;

Invalid invalid(const std::string& line) {
  const Message message = Decoder().decode(line);
  REQUIRE(std::holds_alternative<Invalid>(message));
  return std::get<Invalid>(message);
}

std::string nested(std::size_t depth) {
  return R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":)" + std::string(depth, '[') +
         std::string(depth, ']') + "}}";
}

}  // namespace

TEST_CASE("a request keeps the type of its id", "[codec]") {
  const auto id_of = [](const char* id) {
    const Message message =
        Decoder().decode(std::string(R"({"jsonrpc":"2.0","method":"m","id":)") + id + "}");
    return std::get<Request>(message).id;
  };
  CHECK(id_of("7") == RequestId{std::int64_t{7}});
  CHECK(id_of("\"7\"") == RequestId{std::string("7")});
  CHECK(id_of("7") != id_of("\"7\""));
  CHECK(encode_result(id_of("0"), "{}") == R"({"jsonrpc":"2.0","id":0,"result":{}})");
  CHECK(encode_result(id_of(R"("a\nb")"), "{}") == R"({"jsonrpc":"2.0","id":"a\nb","result":{}})");
}

TEST_CASE("every JSON value survives decoding", "[codec]") {
  const std::string text =
      R"({"a":[],"b":{},"c":-1,"d":18446744073709551615,"e":0.1,"f":1e300,"g":"ü😀\u0000","h":[true,false,null]})";
  const auto decoded = Decoder().decode_json(text);
  REQUIRE(std::holds_alternative<Json>(decoded));
  CHECK(std::get<Json>(decoded) == Json::parse(text));
  CHECK(std::get<Json>(decoded).dump() == Json::parse(text).dump());
}

TEST_CASE("nesting is answered, not followed", "[codec]") {
  CHECK(std::holds_alternative<Request>(Decoder().decode(nested(250))));
  const Invalid deep = invalid(nested(300));
  CHECK(deep.error.code == ErrorCode::invalid_request);
  CHECK_THAT(deep.error.message, Catch::Contains("deeper than 256"));
  CHECK(invalid(nested(100'000)).error.code == ErrorCode::invalid_request);
  CHECK(invalid(std::string(100'000, '[')).error.code == ErrorCode::parse_error);
  CHECK(invalid(std::string(1'000'000, '{')).id == std::nullopt);
}

TEST_CASE("a message of too many values is refused and the next one is served", "[codec]") {
  Decoder decoder({.max_values = 1000});
  std::string many = R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[0)";
  for (int i = 0; i < 2000; ++i) many += ",0";
  const Message refused = decoder.decode(many + "]}}");
  REQUIRE(std::holds_alternative<Invalid>(refused));
  CHECK_THAT(std::get<Invalid>(refused).error.message, Catch::Contains("more than 1000 values"));
  CHECK(
      std::holds_alternative<Request>(decoder.decode(R"({"jsonrpc":"2.0","id":1,"method":"m"})")));
}

TEST_CASE("a large message is decoded whole", "[codec]") {
  Decoder decoder;
  const std::string word(8 << 20, 'x');
  const Message message =
      decoder.decode(R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"w":")" + word + "\"}}");
  CHECK(std::get<Request>(message).params.at("w").get_ref<const std::string&>() == word);
  CHECK(
      std::holds_alternative<Request>(decoder.decode(R"({"jsonrpc":"2.0","id":1,"method":"m"})")));
}

TEST_CASE("an id is echoed whenever it can be read", "[codec]") {
  CHECK(invalid(R"({"jsonrpc":"1.0","id":"a"})").id == RequestId{std::string("a")});
  CHECK(invalid(R"({"jsonrpc":"2.0","id":5,"method":[]})").id == RequestId{std::int64_t{5}});
  CHECK(invalid(R"({"jsonrpc":"2.0","id":5,"method":"m","x":1,"x":2})").id ==
        RequestId{std::int64_t{5}});
  CHECK(invalid(R"({"jsonrpc":"2.0","id":5,"method":)").id == std::nullopt);
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  const auto id_of = [&](const std::string& before, const std::string& behind = "") {
    return invalid("{" + before + R"("params":{"id":9,"x\"{":)" + deep + "}" + behind + "}").id;
  };
  CHECK(id_of(R"("id":5,)") == RequestId{std::int64_t{5}});
  CHECK(id_of("", R"(,"method":"m", "id" : "a,}\"b" )") == RequestId{std::string("a,}\"b")});
  CHECK(id_of(R"("id":5,)", R"(,"id":6)") == std::nullopt);
  CHECK(id_of(R"("id":null,)") == std::nullopt);
  CHECK(id_of(R"("x":"id",)") == std::nullopt);
  CHECK(invalid(deep).id == std::nullopt);
  CHECK(encode_error(std::nullopt, {.code = ErrorCode::parse_error, .message = "no"}) ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}})");
}

TEST_CASE("a notification with bad params is not answered", "[codec]") {
  CHECK(invalid(R"({"jsonrpc":"2.0","method":"m","params":[]})").notification);
  CHECK_FALSE(invalid(R"({"jsonrpc":"2.0","id":1,"method":"m","params":[]})").notification);
}

TEST_CASE("what is encoded is one line of UTF-8, whatever the strings hold", "[codec]") {
  const std::string line = encode_notification(
      "m", {{"bad", "\xff\xc3"}, {"lines", "a\nb\r\nc"}, {"nul", std::string(1, '\0')}});
  CHECK(line.find_first_of("\n\r") == std::string::npos);
  CHECK(Json::parse(line).at("params").at("bad") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(Json::parse(line).at("params").at("lines") == "a\nb\r\nc");
}

TEST_CASE("what leaves keeps the order in which it was written", "[codec]") {
  CHECK(encode({{"z", 1}, {"a", 2}}) == R"({"z":1,"a":2})");
}

TEST_CASE("an array is a batch whose members are messages or faults of their own") {
  Decoder decoder;
  const Message message = decoder.decode(
      R"([{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},3,[],{"id":4}])");
  const auto* batch = std::get_if<Batch>(&message);
  REQUIRE(batch != nullptr);
  REQUIRE(batch->members.size() == 5);
  CHECK(std::get<Request>(batch->members[0]).method == "a");
  CHECK(std::get<Notification>(batch->members[1]).method == "b");
  CHECK_FALSE(std::get<Invalid>(batch->members[2]).id);
  CHECK_FALSE(std::get<Invalid>(batch->members[3]).id);
  CHECK(std::get<Invalid>(batch->members[4]).id == RequestId{std::int64_t{4}});
  CHECK(std::get<Batch>(decoder.decode("[]")).members.empty());
}
