// Sessions of the older revisions: who has one, what it outlives, what ends with it.
#include <set>

#include "mcp/http/sessions.h"
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

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

TEST_CASE("random ids are UUIDs and do not repeat", "[http]") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    CHECK(id.size() == 36);
    CHECK(id[14] == '4');
    CHECK(seen.insert(id).second);
  }
}
