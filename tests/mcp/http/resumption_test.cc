// A client whose stream broke, or was told to come back, hears the rest of it: all of it, once, in
// order, and nobody else's.
#include <chrono>

#include "mcp/http/post_peer.h"
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;
using std::chrono::milliseconds;

namespace {

HttpRequest resuming(const std::string& session, const std::string& last_event) {
  HttpRequest request = with(legacy(Json::object(), session), "Last-Event-ID", last_event);
  request.method = "GET";
  request.body.clear();
  return request;
}

HttpRequest cancelling(const std::string& session, const Json& id) {
  return legacy(
      {{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}},
      session);
}

HttpRequest counting(const std::string& session, int to, const Json& id = 1) {
  return legacy(
      {{"jsonrpc", "2.0"},
       {"id", id},
       {"method", "tools/call"},
       {"params",
        {{"name", "count"}, {"arguments", {{"n", to}}}, {"_meta", {{"progressToken", "p"}}}}}},
      session);
}

// The ids of a stream, as they come.
std::vector<std::string> ids_of(const FakeResponder& responder) {
  std::vector<std::string> ids;
  const std::string& text = responder.streamed;
  for (std::size_t at = text.find("id: "); at != std::string::npos; at = text.find("\nid: ", at)) {
    at = text.find("id: ", at) + 4;
    ids.push_back(text.substr(at, text.find('\n', at) - at));
  }
  return ids;
}

template <typename T>
std::vector<T> without_first(std::size_t count, const std::vector<T>& all) {
  return {all.begin() + static_cast<std::ptrdiff_t>(count), all.end()};
}

// A call that takes its time; its stream has begun.
std::shared_ptr<FakeResponder> silent_call(Stage& stage, const std::string& session, int ms,
                                           const Json& id = 1) {
  auto responder = stage.start(legacy_call(session, "wait", {{"ms", ms}}, id));
  stage.mcp.tick(Clock::now() + std::chrono::seconds(3));
  return responder;
}

}  // namespace

TEST_CASE("wherever a stream breaks, the rest of it comes, and nothing twice", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto whole = stage.ask(counting(session, 5));
  const auto ids = ids_of(*whole);
  const auto events = whole->events();
  REQUIRE(events.size() == 6);  // five steps and the answer
  REQUIRE(ids.size() == 7);     // and where the stream begins
  CHECK(whole->streamed.starts_with("id: " + ids[0] + "\nretry: 1000\ndata: \n\n"));
  for (std::size_t seen = 0; seen < ids.size(); ++seen) {
    INFO("the last one seen is " << ids[seen]);
    const auto rest = stage.ask(resuming(session, ids[seen]));
    if (seen + 1 == ids.size()) {
      CHECK(rest->status() == 204);
      continue;
    }
    CHECK(rest->field("Content-Type") == "text/event-stream");
    CHECK(rest->finished);
    CHECK(ids_of(*rest) == without_first(seen + 1, ids));
    CHECK(rest->events() == without_first(seen, events));
  }
}

TEST_CASE("a client that comes back before the answer is told it there", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto broken = silent_call(stage, session, 300);
  const auto ids = ids_of(*broken);
  REQUIRE(ids.size() == 1);
  broken->go_away();
  const auto back = stage.start(resuming(session, ids[0]));
  CHECK(back->streamed == ":\n\n");
  stage.mcp.tick(Clock::now() + std::chrono::seconds(20));
  CHECK(back->streamed == ":\n\n:\n\n");
  REQUIRE(stage.until([&] { return back->finished; }));
  REQUIRE(back->events().size() == 1);
  CHECK(back->events()[0]["id"] == 1);
  CHECK(stage.mcp.open_exchanges() == 0);
  CHECK(stage.counters->stopped == 0);
}

TEST_CASE("an answer that nobody was there to hear is kept", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto broken = silent_call(stage, session, 50);
  broken->go_away();
  REQUIRE(stage.until([&] { return stage.dispatcher.idle(); }));
  CHECK(broken->events().empty());
  const auto back = stage.ask(resuming(session, ids_of(*broken).at(0)));
  REQUIRE(back->events().size() == 1);
  CHECK(back->events()[0]["id"] == 1);
  // As often as it is asked for: the answer to the last asking may have been lost too.
  CHECK(stage.ask(resuming(session, ids_of(*broken).at(0)))->events() == back->events());
}

TEST_CASE("a connection that broke without a word gives way to the next", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto first = silent_call(stage, session, 600000, 5);
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  const std::string last = ids_of(*first).at(0);
  const auto second = stage.start(resuming(session, last));
  CHECK(first->finished);
  const auto third = stage.start(resuming(session, last));
  CHECK(second->finished);
  // The end of one that has given way changes nothing.
  first->go_away();
  second->go_away();
  CHECK_FALSE(third->finished);
  stage.ask(cancelling(session, 5));
  CHECK(third->finished);
  CHECK(third->events().empty());
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
}

TEST_CASE("a cancelled request ends its stream, also for who comes back to it", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto broken = silent_call(stage, session, 600000, 5);
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  broken->go_away();
  CHECK(stage.mcp.open_exchanges() == 1);
  stage.ask(cancelling(session, 5));
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
  CHECK(stage.mcp.open_exchanges() == 0);
  CHECK(stage.ask(resuming(session, ids_of(*broken).at(0)))->status() == 204);
}

TEST_CASE("two streams of one session are taken up each for itself", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto slow = silent_call(stage, session, 300, "slow");
  const auto quick = stage.ask(counting(session, 3, "quick"));
  slow->go_away();
  const auto of_slow = stage.ask(resuming(session, ids_of(*slow).at(0)));
  const auto of_quick = stage.ask(resuming(session, ids_of(*quick).at(0)));
  REQUIRE(of_slow->events().size() == 1);
  CHECK(of_slow->events()[0]["id"] == "slow");
  CHECK(of_quick->events() == quick->events());
  CHECK(of_quick->events().back()["id"] == "quick");
}

TEST_CASE("an id is worth nothing outside its session, or to anybody else", "[http]") {
  Stage stage;
  const std::string session = stage.session("2025-11-25", "alice");
  const auto whole = stage.ask(counting(session, 3), "alice");
  const std::string id = ids_of(*whole).at(0);
  CHECK(stage.ask(resuming(session, id), "alice")->status() == 200);

  const auto stranger = stage.ask(resuming(session, id), "bob");
  CHECK(stranger->status() == 404);
  CHECK(stranger->error_code() == -32001);
  for (const char* who : {"alice", "bob"}) {
    const auto elsewhere = stage.ask(resuming(stage.session("2025-11-25", who), id), who);
    CHECK(elsewhere->status() == 400);
    CHECK(elsewhere->error_code() == -32000);
  }
  CHECK(stage.ask(resuming("", id), "alice")->status() == 400);
  // The modern era has neither.
  CHECK(stage.ask(with(resuming(session, id), "MCP-Protocol-Version", "2026-07-28"), "alice")
            ->status() == 405);
  HttpRequest end = resuming(session, "");
  end.method = "DELETE";
  REQUIRE(stage.ask(end, "alice")->status() == 200);
  CHECK(stage.ask(resuming(session, id), "alice")->status() == 404);
}

TEST_CASE("an id that nobody was given is refused; an empty one is none", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  static_cast<void>(stage.ask(counting(session, 3)));
  for (const char* id :
       {"1-5", "2-0", "0-0", "1", "x", "1-0, 1-0", "18446744073709551616-0", "-1-0", "1-0;1-1"}) {
    INFO(id);
    const auto refused = stage.ask(resuming(session, id));
    CHECK(refused->status() == 400);
    CHECK(refused->error_code() == -32000);
  }
  HttpRequest twice = resuming(session, "1-0");
  twice.fields.push_back({"Last-Event-ID", "1-1"});
  CHECK(stage.ask(twice)->status() == 400);
  HttpRequest plain = resuming(session, "");
  plain.fields.push_back({"Last-Event-ID", " "});
  CHECK(stage.start(plain)->stream_fields);
  // The session's own stream stands in nobody's way.
  CHECK(stage.ask(resuming(session, "1-0"))->status() == 200);
}

TEST_CASE("what has fallen out is not told", "[http]") {
  Stage stage({.kept_events = 4});
  const std::string session = stage.session();
  const auto whole = stage.ask(counting(session, 8));
  const auto ids = ids_of(*whole);
  const auto events = whole->events();
  // The latest four, whatever came before them.
  const auto rest = stage.ask(resuming(session, ids.at(1)));
  CHECK(rest->events() == without_first(5, events));
  stage.mcp.tick(Clock::now() + std::chrono::minutes(6));
  CHECK(stage.ask(resuming(session, ids.at(1)))->status() == 400);
}

TEST_CASE("each revision has the events it knows", "[http]") {
  Stage stage;
  const auto streamed = [&](const std::string& revision) {
    return stage.ask(counting(stage.session(revision), 2))->streamed;
  };
  CHECK(streamed("2025-11-25").starts_with("id: 1-0\nretry: 1000\ndata: \n\nevent: message\nid: "));
  for (const char* revision : {"2025-06-18", "2025-03-26"}) {
    INFO(revision);
    CHECK(streamed(revision).starts_with("event: message\nid: 1-1\ndata: {"));
    CHECK(streamed(revision).find("\ndata: \n") == std::string::npos);
  }
  CHECK(streamed("2024-11-05").find("id: ") == std::string::npos);
  const Json params = {
      {"name", "count"}, {"arguments", {{"n", 2}}}, {"_meta", {{"progressToken", "p"}}}};
  CHECK(stage.ask(modern("tools/call", params))->streamed.find("id: ") == std::string::npos);
}

TEST_CASE("a batch is taken up like any other stream", "[http]") {
  Stage stage;
  const std::string session = stage.session("2025-03-26");
  Json batch = Json::array();
  for (const char* id : {"a", "b"}) batch.push_back(Json::parse(counting(session, 2, id).body));
  const auto whole = stage.ask(legacy(batch, session));
  const auto events = whole->events();
  const auto ids = ids_of(*whole);
  REQUIRE(events.size() == 6);
  REQUIRE(ids.size() == 6);
  const auto rest = stage.ask(resuming(session, ids[2]));
  CHECK(rest->events() == without_first(3, events));
}

TEST_CASE("who went before the stream began has no id, and nothing is kept for him", "[http]") {
  Stage stage;
  const std::string session = stage.session();
  const auto broken = stage.start(counting(session, 3));
  broken->go_away();
  REQUIRE(stage.until([&] { return stage.dispatcher.idle(); }));
  CHECK(broken->streamed.empty());
  CHECK(stage.ask(resuming(session, "1-0"))->status() == 400);
}

TEST_CASE("a client is let go only where it can come back", "[http]") {
  const auto kept =
      std::make_shared<KeptEvents>(HttpLimits(), std::make_shared<KeptEvents::Ledger>());
  const auto let_go = [&](const PostPeer::Terms& terms) {
    const auto responder = std::make_shared<FakeResponder>();
    PostPeer peer(std::make_shared<Session>(), responder, terms);
    peer.let_poll();
    const bool gone = responder->finished;
    peer.answer("{}", std::nullopt);
    CHECK((gone || responder->body() == Json::object()));
    return gone;
  };
  CHECK_FALSE(let_go({.era = Era::modern}));
  CHECK_FALSE(let_go({.era = Era::legacy, .kept = kept}));
  CHECK(kept->streams() == 0);
  CHECK(let_go({.era = Era::legacy, .kept = kept, .retry = milliseconds(40)}));
  // It went with the event to come back with, and the answer waits for it.
  const auto rest = kept->after({.stream = 1, .event = 0});
  REQUIRE(rest);
  CHECK(*rest == std::vector<std::string>{"event: message\nid: 1-1\ndata: {}\n\n"});
}
