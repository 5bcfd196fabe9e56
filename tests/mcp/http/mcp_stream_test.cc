// When an answer becomes a stream, and what becomes of it when its client goes away.
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

namespace {

HttpRequest waiting(Json progress_token = nullptr) {
  Json params = {{"name", "wait"}, {"arguments", {{"ms", 600000}}}};
  if (!progress_token.is_null()) params["_meta"]["progressToken"] = std::move(progress_token);
  return modern("tools/call", params);
}

}  // namespace

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

TEST_CASE("a server that owes too much asks for patience", "[http]") {
  Stage stage({}, {.max_pending_bytes = 1000});
  const auto pending = stage.start(waiting());
  const auto refused = stage.ask(modern("tools/list"));
  CHECK(refused->status() == 503);
  CHECK(refused->field("Retry-After") == "1");
  pending->go_away();
  CHECK(stage.ask(modern("tools/list"))->status() == 200);
}
