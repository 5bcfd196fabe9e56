// Every status and code of Streamable HTTP.
#include "mcp/http/sessions.h"
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

namespace {

struct Row {
  const char* what;
  HttpRequest request;
  int status;
  int code;  // of the JSON-RPC error; 0: none
};

HttpRequest with_body(HttpRequest request, const std::string& body) {
  request.body = body;
  return request;
}

// The envelope of a modern request, changed.
HttpRequest with_meta(const std::string& key, const Json& value) {
  HttpRequest request = modern("tools/list");
  Json body = Json::parse(request.body);
  if (value.is_null())
    body["params"]["_meta"].erase("io.modelcontextprotocol/" + key);
  else
    body["params"]["_meta"]["io.modelcontextprotocol/" + key] = value;
  request.body = body.dump();
  return request;
}

void check(const std::vector<Row>& rows, Stage& stage) {
  for (const Row& row : rows) {
    INFO(row.what);
    const auto answer = stage.ask(row.request);
    CHECK(answer->status() == row.status);
    CHECK(answer->error_code() == row.code);
  }
}

}  // namespace

TEST_CASE("the status and code of every modern request", "[http]") {
  Stage stage;
  const HttpRequest list = modern("tools/list");
  const HttpRequest echo = modern_call("echo", {{"word", "x"}});
  const std::string body = list.body;
  const Json cancelled = {{"jsonrpc", "2.0"},
                          {"method", "notifications/cancelled"},
                          {"params", {{"requestId", 1}, {"_meta", modern_meta()}}}};
  check(
      {
          {"a list", list, 200, 0},
          {"a call", echo, 200, 0},
          {"server/discover", modern("server/discover"), 200, 0},
          {"no Accept", with(list, "Accept", ""), 200, 0},
          {"JSON only", with(list, "Accept", "application/json"), 200, 0},
          {"anything", with(list, "Accept", "*/*"), 200, 0},
          {"neither kind", with(list, "Accept", "text/html"), 406, -32000},
          {"JSON refused", with(list, "Accept", "application/json;q=0"), 406, -32000},
          {"no Content-Type", with(list, "Content-Type", ""), 415, -32000},
          {"another Content-Type", with(list, "Content-Type", "text/plain"), 415, -32000},
          {"broken JSON", with_body(list, body.substr(0, body.size() / 2)), 400, -32700},
          {"no body", with_body(list, ""), 400, -32700},
          {"no message", with_body(list, "7"), 400, -32600},
          {"an id that is null", with_body(list, R"({"jsonrpc":"2.0","id":null,"method":"x"})"),
           400, -32600},
          {"a batch", with_body(list, "[" + body + "]"), 400, -32600},
          {"no envelope under a modern header", with_body(list, kPing.dump()), 400, -32602},
          {"initialize under a modern header",
           with(initialize("2025-11-25"), "MCP-Protocol-Version", "2026-07-28"), 400, -32020},
          {"no capabilities", with_meta("clientCapabilities", nullptr), 400, -32602},
          {"capabilities that are no object", with_meta("clientCapabilities", 7), 400, -32602},
          {"a version that is no string", with_meta("protocolVersion", 7), 400, -32602},
          {"no version header", with(list, "MCP-Protocol-Version", ""), 400, -32020},
          {"another version header", with(list, "MCP-Protocol-Version", "2025-11-25"), 400, -32020},
          {"an unknown revision in the body only", with_meta("protocolVersion", "2099-01-01"), 400,
           -32020},
          {"an unknown revision",
           with(with_meta("protocolVersion", "2099-01-01"), "MCP-Protocol-Version", "2099-01-01"),
           400, -32022},
          {"a legacy revision",
           with(with_meta("protocolVersion", "2025-11-25"), "MCP-Protocol-Version", "2025-11-25"),
           400, -32022},
          {"no Mcp-Method", with(list, "Mcp-Method", ""), 400, -32020},
          {"another Mcp-Method", with(list, "Mcp-Method", "tools/call"), 400, -32020},
          {"values are case-sensitive", with(list, "Mcp-Method", "Tools/List"), 400, -32020},
          {"no Mcp-Name", with(echo, "Mcp-Name", ""), 400, -32020},
          {"another Mcp-Name", with(echo, "Mcp-Name", "wait"), 400, -32020},
          {"Mcp-Name in Base64", with(echo, "Mcp-Name", "=?base64?ZWNobw==?="), 200, 0},
          {"another one in Base64", with(echo, "Mcp-Name", "=?base64?ZWNobzI=?="), 400, -32020},
          {"bad Base64", with(echo, "Mcp-Name", "=?base64?ZWNobw?="), 400, -32020},
          {"bad UTF-8 in Base64", with(echo, "Mcp-Name", "=?base64?//8=?="), 400, -32020},
          {"white space around a value", with(echo, "Mcp-Name", "  echo\t"), 200, 0},
          {"an unknown method", modern("no/such"), 404, -32601},
          {"initialize with an envelope", modern("initialize"), 404, -32601},
          {"ping with an envelope", modern("ping"), 404, -32601},
          {"logging/setLevel with an envelope", modern("logging/setLevel"), 404, -32601},
          {"resources/subscribe with an envelope", modern("resources/subscribe"), 404, -32601},
          {"tasks/list", modern("tasks/list"), 404, -32601},
          {"tasks/result", modern("tasks/result", {{"taskId", "x"}}), 404, -32601},
          {"tasks/get without Mcp-Name", modern("tasks/get", {{"taskId", "x"}}), 400, -32020},
          {"an unknown tool", modern_call("no_such", Json::object()), 200, -32602},
          {"an empty cursor", modern("tools/list", {{"cursor", ""}}), 200, 0},
          {"an unknown cursor", modern("tools/list", {{"cursor", "x"}}), 200, -32602},
          {"a tool that throws", modern_call("fail", Json::object()), 200, -32603},
          {"a tool that refuses", modern_call("refuse", Json::object()), 200, 0},
          {"a notification", with_body(list, cancelled.dump()), 202, 0},
          {"a response", with_body(list, R"({"jsonrpc":"2.0","id":1,"result":{}})"), 400, -32600},
          {"GET", with_method(list, "GET"), 405, -32000},
          {"DELETE", with_method(list, "DELETE"), 405, -32000},
          {"PUT", with_method(list, "PUT"), 405, -32000},
          {"OPTIONS", with_method(list, "OPTIONS"), 204, 0},
      },
      stage);
  CHECK(stage.mcp.sessions() == 0);
  CHECK(stage.mcp.open_exchanges() == 0);
}

TEST_CASE("a field that is sent twice equals nothing", "[http]") {
  Stage stage;
  HttpRequest echo = modern_call("echo", {{"word", "x"}});
  echo.fields.push_back({"mcp-name", "echo"});
  const auto answer = stage.ask(echo);
  CHECK(answer->status() == 400);
  CHECK(answer->error_code() == -32020);
}

TEST_CASE("a refusal names what is supported, and the request it refuses", "[http]") {
  Stage stage;
  const auto answer = stage.ask(
      with(with_meta("protocolVersion", "2099-01-01"), "MCP-Protocol-Version", "2099-01-01"));
  CHECK(answer->body()["id"] == 1);
  CHECK(answer->body()["error"]["data"] ==
        Json({{"supported", {"2026-07-28"}}, {"requested", "2099-01-01"}}));
  CHECK(stage.ask(with_method(modern("tools/list"), "GET"))->field("Allow") == "POST");
}

TEST_CASE("the status and code of every legacy request", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const HttpRequest ping = legacy(kPing, session);
  const HttpRequest get = with_method(ping, "GET");
  const HttpRequest twice = with(initialize("2025-11-25"), "Mcp-Session-Id", session);
  check(
      {
          {"a request", ping, 200, 0},
          {"any legacy revision in the header", with(ping, "MCP-Protocol-Version", "2024-11-05"),
           200, 0},
          {"no Accept at all", with(ping, "Accept", ""), 406, -32000},
          {"JSON only", with(ping, "Accept", "application/json"), 406, -32000},
          {"a stream only", with(ping, "Accept", "text/event-stream"), 406, -32000},
          {"another Content-Type", with(ping, "Content-Type", "application/jsonx"), 415, -32000},
          {"broken JSON", with_body(ping, "{"), 400, -32700},
          {"no message", with_body(ping, "{}"), 400, -32600},
          {"a revision nobody speaks", with(ping, "MCP-Protocol-Version", "1999-01-01"), 400,
           -32000},
          {"no session", with(ping, "Mcp-Session-Id", ""), 400, -32000},
          {"an unknown session", with(ping, "Mcp-Session-Id", random_id()), 404, -32001},
          {"a second initialize", twice, 400, -32600},
          {"initialize in a session that is gone", with(twice, "Mcp-Session-Id", random_id()), 404,
           -32001},
          {"initialize in somebody's session that never was", with(twice, "Mcp-Session-Id", "x"),
           404, -32001},
          {"initialize without its parameters",
           legacy({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}}), 200, -32602},
          {"an unknown method", legacy({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "x"}}, session),
           200, -32601},
          {"an unknown tool", legacy_call(session, "no_such", Json::object()), 200, -32602},
          {"a notification", legacy(kInitialized, session), 202, 0},
          {"a notification without a session", legacy(kInitialized), 400, -32000},
          {"a response",
           legacy({{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}}, session), 202, 0},
          {"a batch", with_body(ping, "[" + kPing.dump() + "]"), 400, -32600},
          {"GET that takes no stream", with(get, "Accept", "application/json"), 406, -32000},
          {"GET in a revision nobody speaks", with(get, "MCP-Protocol-Version", "1999-01-01"), 400,
           -32000},
          {"DELETE in a revision nobody speaks",
           with(with_method(ping, "DELETE"), "MCP-Protocol-Version", "1999-01-01"), 400, -32000},
          {"GET without a session", with(get, "Mcp-Session-Id", ""), 400, -32000},
          {"GET of an unknown session", with(get, "Mcp-Session-Id", "x"), 404, -32001},
          {"DELETE without a session", with_method(legacy(kPing), "DELETE"), 400, -32000},
          {"DELETE of an unknown session", with(with_method(ping, "DELETE"), "Mcp-Session-Id", "x"),
           404, -32001},
          {"PUT", with_method(ping, "PUT"), 405, -32000},
          {"DELETE", with_method(ping, "DELETE"), 200, 0},
          {"a request after it", ping, 404, -32001},
      },
      stage);
  CHECK(stage.mcp.sessions() == 0);
}

TEST_CASE("a refusal names the request it refuses wherever that could be read", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const Json named = {{"jsonrpc", "2.0"}, {"id", "seven"}, {"method", "ping"}};
  const HttpRequest ping = legacy(named, session);
  HttpRequest begin = initialize("2025-11-25");
  Json body = Json::parse(begin.body);
  body["id"] = "seven";
  begin.body = body.dump();
  HttpRequest batch = with(ping, "MCP-Protocol-Version", "1999-01-01");
  batch.body = "[" + named.dump() + "]";
  const auto id_told = [&stage](const HttpRequest& request) {
    const auto answer = stage.ask(request);
    CHECK(answer->status() >= 400);
    return answer->body()["id"];
  };
  for (const HttpRequest& request : {ping, begin}) {
    CHECK(id_told(with(request, "Accept", "text/html")) == "seven");
    CHECK(id_told(with(request, "MCP-Protocol-Version", "1999-01-01")) == "seven");
    CHECK(id_told(with(request, "Mcp-Session-Id", "x")) == "seven");
  }
  CHECK(id_told(with(modern("tools/list", Json::object(), "seven"), "Accept", "text/html")) ==
        "seven");
  CHECK(id_told(batch).is_null());
}

TEST_CASE("who takes no JSON is answered by a stream, who takes no stream cannot listen",
          "[http]") {
  Stage stage;
  for (const char* accepted : {"application/json;q=0, text/event-stream", "text/event-stream"}) {
    const auto answer = stage.ask(with(modern("tools/list"), "Accept", accepted));
    CHECK(answer->status() == 200);
    REQUIRE(answer->stream_fields);
    REQUIRE(answer->events().size() == 1);
    CHECK(answer->events().front().contains("result"));
    // The status of an error says more than its form.
    CHECK(stage.ask(with(modern("no/such"), "Accept", accepted))->status() == 404);
  }
  const HttpRequest listen = modern("subscriptions/listen", {{"notifications", Json::object()}});
  for (const char* accepted :
       {"application/json", "text/event-stream;q=0", "text/html", "application/*"}) {
    INFO(accepted);
    const auto answer = stage.ask(with(listen, "Accept", accepted));
    CHECK(answer->status() == 406);
    CHECK(answer->error_code() == -32000);
  }
}

TEST_CASE("a batch is answered by a batch where the revision has them", "[http]") {
  Stage stage;
  const std::string session = stage.session("2025-03-26");
  const auto batch = [&](const Json& body) { return stage.ask(legacy(body, session)); };

  const auto answer =
      batch({kPing, kInitialized, {{"jsonrpc", "2.0"}, {"id", "b"}, {"method", "x"}}, 7});
  REQUIRE(answer->status() == 200);
  const Json body = answer->body();
  REQUIRE(body.is_array());
  REQUIRE(body.size() == 3);
  CHECK(body[0]["result"] == Json::object());
  CHECK(body[1]["id"] == "b");
  CHECK(body[1]["error"]["code"] == -32601);
  CHECK(body[2]["id"].is_null());
  CHECK(body[2]["error"]["code"] == -32600);

  CHECK(batch({kInitialized, kInitialized})->status() == 202);
  CHECK(batch(Json::array())->error_code() == -32600);
  CHECK(batch(Json::array())->status() == 400);
  CHECK(batch(Json(std::vector<Json>(101, kInitialized)))->status() == 400);
  CHECK(batch(Json(std::vector<Json>(100, kInitialized)))->status() == 202);
  Json modern_one = Json::parse(modern("tools/list").body);
  CHECK(batch({kPing, modern_one})->status() == 400);
  CHECK(batch({Json::parse(initialize("2025-03-26").body)})->status() == 400);
  CHECK(stage.mcp.open_exchanges() == 0);
}
