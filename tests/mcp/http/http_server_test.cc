// The server behind its sockets: who is let in, which path leads where, and how it ends.
#include "mcp/http/http_server.h"

#include <sys/resource.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/mcp/http/running_server.h"

using namespace assay::mcp;
using namespace assay::mcp::http;
using std::chrono::milliseconds;

namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("paths, methods and old clients", "[http]") {
  RunningServer server;
  const auto ask = [&](const std::string& text) {
    WireClient client(server.port());
    client.send(text);
    const auto answer = client.receive();
    REQUIRE(answer);
    return *answer;
  };
  CHECK(ask(list_text()).status == 200);
  CHECK(ask("GET /no/such HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 404);
  CHECK(
      ask("GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: localhost\r\n\r\n").status ==
      404);
  CHECK(ask("GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n").status == 421);
  CHECK(ask("GET /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n").status ==
        403);
  CHECK(ask("GET /mcp HTTP/1.1\r\n\r\n").status == 400);

  const WireAnswer preflight =
      ask("OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:6274\r\n"
          "Access-Control-Request-Headers: mcp-method\r\n\r\n");
  CHECK(preflight.status == 204);
  CHECK(preflight.fields.at("access-control-allow-origin") == "http://localhost:6274");
  CHECK(preflight.fields.at("access-control-allow-headers") == "mcp-method");

  // HTTP/1.0 knows no chunks and no second request.
  std::string old = call_text("count", {{"n", 2}}, {{"_meta", {{"progressToken", 1}}}});
  old.replace(old.find("HTTP/1.1"), 8, "HTTP/1.0");
  const WireAnswer streamed = ask(old);
  CHECK_FALSE(streamed.fields.contains("transfer-encoding"));
  CHECK(streamed.fields.at("connection") == "close");
  CHECK(streamed.body.find("counted to 2") != std::string::npos);

  WireClient head(server.port());
  head.send("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const auto answer = head.receive_head();
  REQUIRE(answer);
  CHECK(answer->status == 405);
  CHECK(head.read_some().empty());
}

TEST_CASE("tokens are asked for where there are some", "[http]") {
  RunningServer server({}, {.tokens = {"a-token-of-sixteen"}});
  WireClient client(server.port());
  client.send(list_text());
  auto answer = client.receive();
  REQUIRE(answer);
  CHECK(answer->status == 401);
  // Who looks for a way to log in finds that there is none, and nothing else without a token.
  const auto status_of = [&client](const std::string& path) {
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto told = client.receive();
    return told ? told->status : 0;
  };
  CHECK(status_of("/.well-known/oauth-protected-resource") == 404);
  CHECK(status_of("/.well-known/oauth-authorization-server/mcp") == 404);
  CHECK(status_of("/.well-known/../mcp") == 404);
  CHECK(status_of("/.well-known") == 401);
  CHECK(status_of("/no/such") == 401);
  std::string text = list_text();
  text.insert(text.find("Host:"), "Authorization: Bearer a-token-of-sixteen\r\n");
  client.send(text);
  answer = client.receive();
  REQUIRE(answer);
  CHECK(answer->status == 200);
}

TEST_CASE("a stopped server answers what is pending and leaves nothing open", "[http]") {
  const std::size_t before = open_descriptors();
  {
    RunningServer server;
    WireClient pending(server.port());
    pending.send(call_text("wait", {{"ms", 600000}}));
    WireClient stream(server.port());
    stream.send("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
    REQUIRE(stream.receive_head());
    REQUIRE(soon([&] { return server.counters->started == 1; }));
    server.end();
    const auto answer = pending.receive();
    REQUIRE(answer);
    CHECK(Json::parse(answer->body)["error"]["code"] == -32603);
    CHECK(stream.at_end());
    CHECK(server.outcome.ended == Ended::stop_requested);
    CHECK(server.outcome.abandoned_calls == 0);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("a tool that was quick and no longer is makes nobody wait for it", "[http]") {
  RunningServer server;
  WireClient quick(server.port());
  // Long enough that the event thread runs them itself.
  for (int i = 0; i < 50; ++i) {
    quick.send(call_text("wait", {{"ms", 0}}));
    REQUIRE(quick.receive());
  }
  std::vector<std::unique_ptr<WireClient>> slow;
  for (int i = 0; i < 6; ++i) {
    slow.push_back(std::make_unique<WireClient>(server.port()));
    slow.back()->send(call_text("wait", {{"ms", 600000}}));
    // The pace of the tool is that of the last call that ended.
    quick.send(call_text("wait", {{"ms", 0}}));
    REQUIRE(quick.receive());
    quick.send(call_text("echo", {{"word", "still here"}}));
    const auto answer = quick.receive();
    REQUIRE(answer);
    CHECK(said(*answer) == "still here");
  }
  const int ended = server.counters->stopped;
  slow.pop_back();  // a client that goes away has cancelled, whatever thread its call is on
  CHECK(soon([&] { return server.counters->stopped == ended + 1; }));
  server.end();
  for (const auto& client : slow) {
    const auto answer = client->receive();
    REQUIRE(answer);
    CHECK(answer->body.find("stopping") != std::string::npos);
  }
  CHECK(server.outcome.abandoned_calls == 0);
}

TEST_CASE("quick tools of many clients at once are each answered by their own", "[http]") {
  RunningServer server;
  std::vector<std::thread> clients;
  std::atomic<int> right{0};
  for (int who = 0; who < 8; ++who)
    clients.emplace_back([&, who] {
      WireClient client(server.port());
      for (int i = 0; i < 200; ++i) {
        const std::string word = std::to_string(who) + '.' + std::to_string(i);
        client.send(call_text("echo", {{"word", word}}));
        const auto answer = client.receive();
        if (answer && said(*answer) == word) ++right;
        // Now and then a pause in which everybody falls asleep.
        if (i % 67 == 66) std::this_thread::sleep_for(milliseconds(60));
      }
    });
  for (std::thread& client : clients) client.join();
  CHECK(right == 8 * 200);
}

TEST_CASE("a port that is taken is an error at the start", "[http]") {
  RunningServer server;
  CHECK_THROWS_AS(HttpServer({.version = "1"}, {.port = server.port()}), std::system_error);
  CHECK_THROWS_AS(HttpServer({.version = "1"}, {.address = "no address"}), std::system_error);
}

TEST_CASE("after many random ends nothing is left", "[http]") {
  RunningServer server;
  WireClient warm(server.port());
  warm.send(list_text());
  REQUIRE(warm.receive());
  const std::size_t before = open_descriptors();
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed)
    threads.emplace_back([&server, seed] {
      unsigned state = seed * 2654435761U + 1;
      const auto random = [&state] { return (state = state * 1664525U + 1013904223U) >> 16U; };
      for (int i = 0; i < 50; ++i) {
        WireClient client(server.port());
        const std::string text = call_text("wait", {{"ms", 600000}});
        const std::size_t cut = random() % 3 == 0 ? random() % text.size() : text.size();
        client.send(text.substr(0, cut));
        std::this_thread::sleep_for(milliseconds(random() % 15));
        if (random() % 2 == 0) client.reset();
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(soon([&] { return server.counters->started == server.counters->stopped; }));
  CHECK(soon([&] { return open_descriptors() <= before; }));
  warm.send(list_text());
  CHECK(warm.receive());
}
