// HTTP+SSE: what is posted is answered on the stream.
#include "tests/catch.h"
#include "tests/mcp/http/stage.h"

using namespace assay::mcp;
using namespace assay::mcp::http;

namespace {

HttpRequest get_stream() {
  return {.method = "GET", .path = "/sse", .fields = {{"Accept", "text/event-stream"}}};
}

HttpRequest message(const std::string& address, const Json& body) {
  HttpRequest request = legacy(body);
  const std::size_t mark = address.find('?');
  request.path = address.substr(0, mark);
  request.query = mark == std::string::npos ? "" : address.substr(mark + 1);
  return request;
}

std::string address_on(const FakeResponder& stream) {
  const std::string opening = "event: endpoint\ndata: ";
  if (!stream.streamed.starts_with(opening)) return {};
  return stream.streamed.substr(opening.size(), stream.streamed.find("\n\n") - opening.size());
}

}  // namespace

TEST_CASE("a stream names where to post, and carries the answers", "[http]") {
  Stage stage;
  const auto stream = stage.start(get_stream());
  CHECK(stream->field("Content-Type") == "text/event-stream");
  const std::string address = address_on(*stream);
  REQUIRE(address.starts_with("/messages?sessionId="));

  Json hello = Json::parse(initialize("2024-11-05").body);
  CHECK(stage.ask(message(address, hello))->status() == 202);
  CHECK(stage.ask(message(address, {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}))
            ->status() == 202);
  const Json call = {
      {"jsonrpc", "2.0"},
      {"id", "c"},
      {"method", "tools/call"},
      {"params",
       {{"name", "count"}, {"arguments", {{"n", 2}}}, {"_meta", {{"progressToken", 9}}}}}};
  CHECK(stage.ask(message(address, call))->status() == 202);
  REQUIRE(stage.until([&] { return stream->events().size() == 4; }));
  const auto events = stream->events();
  CHECK(events[0]["result"]["protocolVersion"] == "2024-11-05");
  CHECK(events[1]["params"]["progress"] == 1);
  CHECK(events[2]["params"]["progress"] == 2);
  CHECK(events[3]["id"] == "c");
  CHECK_FALSE(stream->finished);
}

TEST_CASE("the status of every post to a stream", "[http]") {
  Stage stage;
  const auto stream = stage.start(get_stream());
  const std::string address = address_on(*stream);
  HttpRequest broken = message(address, kPing);
  broken.body = "{";
  struct Row {
    const char* what;
    HttpRequest request;
    int status;
  };
  HttpRequest get = message(address, kPing);
  get.method = "GET";
  HttpRequest posted = get_stream();
  posted.method = "POST";
  for (const Row& row : std::vector<Row>{
           {"a message", message(address, kPing), 202},
           {"no session", message("/messages", kPing), 400},
           {"another parameter", message("/messages?session=1", kPing), 400},
           {"an unknown session", message("/messages?sessionId=1", kPing), 404},
           {"an empty session", message("/messages?sessionId=", kPing), 404},
           {"another type", with(message(address, kPing), "Content-Type", "text/plain"), 400},
           {"no JSON", broken, 400},
           {"a batch", message(address, Json::array({kPing})), 400},
           {"GET of the messages", get, 405},
           {"POST of the stream", posted, 405},
           {"a stream that is not accepted", with(get_stream(), "Accept", "text/html"), 406},
       }) {
    INFO(row.what);
    CHECK(stage.ask(row.request)->status() == row.status);
  }
  CHECK(stage.ask(message(address, kPing), "somebody else")->status() == 404);
}

TEST_CASE("closing the stream ends the session and what it asked for", "[http]") {
  Stage stage;
  const auto stream = stage.start(get_stream());
  const std::string address = address_on(*stream);
  stage.ask(message(address, Json::parse(initialize("2024-11-05").body)));
  stage.ask(message(address, Json::parse(legacy_call("", "wait", {{"ms", 600000}}).body)));
  REQUIRE(stage.until([&] { return stage.counters->started == 1; }));
  stream->go_away();
  CHECK(stage.until([&] { return stage.counters->stopped == 1; }));
  CHECK(stage.sse.sessions() == 0);
  CHECK(stage.dispatcher.idle());
  CHECK(stage.ask(message(address, kPing))->status() == 404);
}

TEST_CASE("a silent stream is kept alive", "[http]") {
  Stage stage;
  const auto stream = stage.start(get_stream());
  const std::size_t before = stream->streamed.size();
  stage.sse.tick(Clock::now() + std::chrono::seconds(14));
  CHECK(stream->streamed.size() == before);
  stage.sse.tick(Clock::now() + std::chrono::seconds(16));
  CHECK(stream->streamed.substr(before) == ":\n\n");
}
