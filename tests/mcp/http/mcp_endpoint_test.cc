// Every status and code of Streamable HTTP, and what a disconnect, a session and silence do.
#include <set>

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

HttpRequest with_method(HttpRequest request, const std::string& method) {
  request.method = method;
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

const Json kPing = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
const Json kInitialized = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};

void check(const std::vector<Row>& rows, Stage& stage) {
  for (const Row& row : rows) {
    INFO(row.what);
    const auto answer = stage.ask(row.request);
    CHECK(answer->status() == row.status);
    CHECK(answer->error_code() == row.code);
  }
}

HttpRequest waiting(Json progress_token = nullptr) {
  Json params = {{"name", "wait"}, {"arguments", {{"ms", 600000}}}};
  if (!progress_token.is_null()) params["_meta"]["progressToken"] = std::move(progress_token);
  return modern("tools/call", params);
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

TEST_CASE("only an initialize that succeeds makes a session", "[http]") {
  Stage stage;
  const auto refused = stage.ask(legacy({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}}));
  CHECK_FALSE(refused->field("Mcp-Session-Id"));
  CHECK(stage.mcp.sessions() == 0);
  const std::string first = stage.session();
  const std::string second = stage.session();
  CHECK(first != second);
  CHECK(first.size() == 36);
  for (const char c : first) CHECK((c >= 0x21 && c <= 0x7e));
  CHECK(stage.mcp.sessions() == 2);
}

TEST_CASE("a session belongs to whoever made it", "[http]") {
  Stage stage;
  const std::string session = stage.session("2025-11-25", "anna");
  CHECK(stage.ask(legacy(kPing, session), "anna")->status() == 200);
  CHECK(stage.ask(legacy(kPing, session), "bert")->status() == 404);
  CHECK(stage.ask(with_method(legacy(kPing, session), "DELETE"), "bert")->status() == 404);
  const auto echoed = stage.ask(legacy_call(session, "echo", {{"word", "x"}}), "anna");
  CHECK(echoed->body()["result"]["structuredContent"]["by"] == "anna");
  CHECK(stage.ask(modern_call("echo", {{"word", "x"}}), "bert")
            ->body()["result"]["structuredContent"]["by"] == "bert");
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

TEST_CASE("an answer is JSON until something is to be said before it", "[http]") {
  Stage stage;
  const HttpRequest silent = modern("tools/call", {{"name", "count"}, {"arguments", {{"n", 3}}}});
  CHECK(stage.ask(silent)->answered);

  const HttpRequest telling =
      modern("tools/call",
             {{"name", "count"}, {"arguments", {{"n", 3}}}, {"_meta", {{"progressToken", "p"}}}});
  const auto stream = stage.ask(telling);
  CHECK(stream->field("Content-Type") == "text/event-stream");
  CHECK(stream->field("X-Accel-Buffering") == "no");
  const auto events = stream->events();
  REQUIRE(events.size() == 4);
  for (int i = 0; i < 3; ++i) {
    CHECK(events[static_cast<std::size_t>(i)]["method"] == "notifications/progress");
    CHECK(events[static_cast<std::size_t>(i)]["params"]["progress"] == i + 1);
  }
  CHECK(events[3]["id"] == 1);
  CHECK(events[3]["result"]["isError"] == false);

  // A client that cannot read a stream is spared the progress, not the answer.
  const auto plain = stage.ask(with(telling, "Accept", "application/json"));
  CHECK(plain->status() == 200);
  CHECK(plain->body()["result"]["isError"] == false);
}

TEST_CASE("silence becomes a stream that is kept alive", "[http]") {
  Stage stage({.silence = std::chrono::milliseconds(1000), .keep_alive = std::chrono::seconds(15)});
  const auto pending = stage.start(waiting());
  const auto unable = stage.start(with(waiting(), "Accept", "application/json"));
  const auto start = Clock::now();
  stage.mcp.tick(start + std::chrono::milliseconds(500));
  CHECK_FALSE(pending->stream_fields);
  stage.mcp.tick(start + std::chrono::milliseconds(1500));
  CHECK(pending->stream_fields);
  CHECK(pending->streamed == ":\n\n");
  stage.mcp.tick(start + std::chrono::seconds(10));
  CHECK(pending->streamed == ":\n\n");
  stage.mcp.tick(start + std::chrono::seconds(17));
  CHECK(pending->streamed == ":\n\n:\n\n");
  CHECK_FALSE(unable->stream_fields);
  pending->go_away();
  unable->go_away();
}

TEST_CASE("a modern client that disconnects has cancelled", "[http]") {
  Stage stage;
  const auto pending = stage.start(waiting());
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  pending->go_away();
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
  CHECK(stage.dispatcher.idle());
  CHECK(stage.mcp.open_exchanges() == 0);
  CHECK_FALSE(pending->complete());
}

TEST_CASE("ids of different modern clients do not meet", "[http]") {
  Stage stage;
  const auto first = stage.start(waiting());
  const auto second = stage.ask(modern_call("echo", {{"word", "x"}}));
  CHECK(second->status() == 200);
  CHECK(second->error_code() == 0);
  first->go_away();
}

TEST_CASE("a legacy client that disconnects has not cancelled; a notification does", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto pending = stage.start(legacy_call(session, "wait", {{"ms", 600000}}, 5));
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  pending->go_away();
  CHECK(stage.mcp.open_exchanges() == 1);
  CHECK_FALSE(stage.dispatcher.idle());

  // Not from another session.
  const Json cancel = {
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 5}}}};
  const std::string other = stage.session();
  CHECK(stage.ask(legacy(cancel, other))->status() == 202);
  CHECK_FALSE(stage.dispatcher.idle());
  CHECK(stage.ask(legacy(cancel, session))->status() == 202);
  CHECK(stage.dispatcher.idle());
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
  CHECK(stage.mcp.open_exchanges() == 0);
}

TEST_CASE("a cancelled legacy request is ended without an answer", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto pending = stage.start(legacy_call(session, "wait", {{"ms", 600000}}, 5));
  stage.ask(legacy(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 5}}}},
      session));
  CHECK(pending->finished);
  CHECK(pending->streamed.empty());
}

TEST_CASE("the end of a session ends what it asked for", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto pending = stage.start(legacy_call(session, "wait", {{"ms", 600000}}));
  const auto stream = stage.start(with_method(legacy(kPing, session), "GET"));
  REQUIRE(stream->stream_fields);
  CHECK(stage.ask(with_method(legacy(kPing, session), "GET"))->status() == 409);
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  CHECK(stage.ask(with_method(legacy(kPing, session), "DELETE"))->status() == 200);
  CHECK(stream->finished);
  CHECK(pending->finished);
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
  CHECK(stage.mcp.sessions() == 0);
}

TEST_CASE("a GET stream may be opened again once it is closed, and is kept alive", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const HttpRequest get = with_method(legacy(kPing, session), "GET");
  const auto first = stage.start(get);
  stage.mcp.tick(Clock::now() + std::chrono::seconds(16));
  CHECK(first->streamed == ":\n\n:\n\n");
  first->go_away();
  const auto second = stage.start(get);
  CHECK(second->stream_fields);
}

TEST_CASE("sessions end when nobody uses them, busy ones do not", "[http]") {
  Stage stage({.max_sessions = 2, .session_time = std::chrono::hours(1)});
  const std::string busy = stage.session();
  const auto stream = stage.start(with_method(legacy(kPing, busy), "GET"));
  const std::string idle = stage.session();
  const std::string newest = stage.session();  // makes room by ending the idle one
  CHECK(stage.mcp.sessions() == 2);
  CHECK(stage.ask(legacy(kPing, idle))->status() == 404);
  CHECK(stage.ask(legacy(kPing, busy))->status() == 200);
  stage.mcp.tick(Clock::now() + std::chrono::minutes(61));
  CHECK(stage.mcp.sessions() == 1);
  CHECK(stage.ask(legacy(kPing, newest))->status() == 404);
  CHECK(stage.ask(legacy(kPing, busy))->status() == 200);

  const auto call = stage.start(legacy_call(stage.session(), "wait", {{"ms", 600000}}));
  CHECK(stage.ask(initialize("2025-11-25"))->status() == 503);
}

TEST_CASE("nobody's sessions end because others open many", "[http]") {
  Stage stage({.max_sessions = 4, .max_sessions_each = 2});
  const std::string quiet = stage.session("2025-11-25", "alice");
  std::vector<std::string> many;
  for (int i = 0; i < 10; ++i) many.push_back(stage.session("2025-11-25", "bob"));
  CHECK(stage.mcp.sessions() == 3);
  CHECK(stage.ask(legacy(kPing, quiet), "alice")->status() == 200);
  CHECK(stage.ask(legacy(kPing, many[7]), "bob")->status() == 404);
  CHECK(stage.ask(legacy(kPing, many[8]), "bob")->status() == 200);
  CHECK(stage.ask(legacy(kPing, many[9]), "bob")->status() == 200);

  // A full server refuses who has none of his own to give up.
  const std::string fourth = stage.session("2025-11-25", "carol");
  CHECK(stage.ask(initialize("2025-11-25"), "dave")->status() == 503);
  CHECK(stage.ask(legacy(kPing, fourth), "carol")->status() == 200);
}

TEST_CASE("a server that owes too much asks for patience", "[http]") {
  Stage stage({}, {.max_pending_bytes = 1000});
  const auto pending = stage.start(waiting());
  const auto refused = stage.ask(modern("tools/list"));
  CHECK(refused->status() == 503);
  CHECK(refused->field("Retry-After") == "1");
  pending->go_away();
  CHECK(stage.ask(modern("tools/list"))->status() == 200);
}

TEST_CASE("random ids are UUIDs and do not repeat", "[http]") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    CHECK(id.size() == 36);
    CHECK(id[14] == '4');
    CHECK(seen.insert(id).second);
  }
}
