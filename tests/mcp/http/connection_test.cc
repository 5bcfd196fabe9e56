// One connection: what arrives in pieces, too early, too late, too large or not at all, and what
// happens to work whose client has gone.
#include "mcp/http/connection.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/mcp/http/running_server.h"

using namespace assay::mcp;
using namespace assay::mcp::http;
using std::chrono::milliseconds;

TEST_CASE("one connection serves one request after the other", "[http]") {
  RunningServer server;
  WireClient client(server.port());
  for (int i = 0; i < 50; ++i) {
    client.send(call_text("echo", {{"word", std::to_string(i)}}));
    const auto answer = client.receive();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->fields.at("content-type") == "application/json");
    CHECK(answer->fields.contains("date"));
    CHECK(said(*answer) == std::to_string(i));
  }
}

TEST_CASE("requests that come early are answered in their order", "[http]") {
  RunningServer server;
  WireClient client(server.port());
  std::string all = call_text("wait", {{"ms", 100}});
  for (int i = 0; i < 100; ++i) all += call_text("echo", {{"word", std::to_string(i)}});
  client.send(all);
  const auto first = client.receive();
  REQUIRE(first);
  CHECK(first->body.find("waited") != std::string::npos);
  for (int i = 0; i < 100; ++i) {
    const auto answer = client.receive();
    REQUIRE(answer);
    CHECK(said(*answer) == std::to_string(i));
  }
}

TEST_CASE("a request may come byte by byte, in chunks, or by its whole address", "[http]") {
  RunningServer server;
  WireClient client(server.port());
  for (const char byte : call_text("echo", {{"word", "slowly"}})) client.send({&byte, 1});
  auto answer = client.receive();
  REQUIRE(answer);
  CHECK(said(*answer) == "slowly");

  const HttpRequest request = modern_call("echo", {{"word", "chunks"}});
  std::string text =
      "POST http://localhost/mcp?x=1 HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n";
  for (const Field& field : request.fields)
    if (field.name != "Host") text += field.name + ": " + field.value + "\r\n";
  text += "\r\n";
  for (std::size_t i = 0; i < request.body.size(); i += 7) {
    const std::string piece = request.body.substr(i, 7);
    text += std::to_string(piece.size()) + ";note=1\r\n" + piece + "\r\n";
  }
  client.send(text + "0\r\n\r\n");
  answer = client.receive();
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(said(*answer) == "chunks");
}

TEST_CASE("a trailer is no part of the head, also in one packet with it", "[http]") {
  RunningServer server;
  HttpRequest request = modern_call("echo", {{"word", "late"}});
  std::string text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n";
  for (const Field& field : request.fields)
    if (field.name != "Host" && field.name != "Mcp-Method")
      text += field.name + ": " + field.value + "\r\n";
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx", request.body.size());
  WireClient client(server.port());
  client.send(text + "\r\n" + size.data() + "\r\n" + request.body +
              "\r\n0\r\nMcp-Method: tools/call\r\n\r\n");
  const auto answer = client.receive();
  REQUIRE(answer);
  CHECK(answer->status == 400);
  CHECK(answer->body.find("Mcp-Method is missing") != std::string::npos);
}

TEST_CASE("a client that asks first is told to go on", "[http]") {
  RunningServer server;
  WireClient client(server.port());
  const HttpRequest request = modern_call("echo", {{"word", "asked"}});
  const std::string text = call_text("echo", {{"word", "asked"}});
  const std::size_t head = text.find("\r\n\r\n");
  client.send(text.substr(0, head) + "\r\nExpect: 100-continue\r\n\r\n");
  const auto go_on = client.receive();
  REQUIRE(go_on);
  CHECK(go_on->status == 100);
  client.send(text.substr(head + 4));
  const auto answer = client.receive();
  REQUIRE(answer);
  CHECK(said(*answer) == "asked");
}

TEST_CASE("what is no request is refused and ends the connection", "[http]") {
  RunningServer server({.max_body_bytes = 1000, .max_header_bytes = 2000});
  struct Row {
    const char* what;
    std::string text;
    int status;
  };
  const std::string head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n";
  for (const Row& row : std::vector<Row>{
           {"no HTTP", "hello\r\n\r\n", 400},
           {"a TLS handshake",
            std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15), 400},
           {"another version", "POST /mcp HTTP/3.0\r\n\r\n", 505},
           {"a header without a colon", "GET / HTTP/1.1\r\nHost localhost\r\n\r\n", 400},
           {"a header that is too long", head + "X: " + std::string(3000, 'x') + "\r\n\r\n", 431},
           {"a header that never ends", head + std::string(3000, 'x'), 431},
           {"a body that is too long", head + "Content-Length: 1001\r\n\r\n", 413},
           {"a length that is none", head + "Content-Length: x\r\n\r\n", 400},
           {"a negative length", head + "Content-Length: -1\r\n\r\n", 400},
           {"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
           {"a length and chunks",
            head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
           {"a chunk that is too long",
            head + "Transfer-Encoding: chunked\r\n\r\n800\r\n" + std::string(2048, 'x'), 413},
           {"a note on a chunk without end",
            head + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(3000, 'x'), 431},
           {"a trailer without end",
            head + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(3000, 'x'), 431},
           {"a trailer that is too long for the parser",
            head + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: " + std::string(100'000, 'x') +
                "\r\n\r\n",
            431},
           {"a chunk size that is none", head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
       }) {
    INFO(row.what);
    WireClient client(server.port());
    client.send(row.text);
    const auto answer = client.receive();
    REQUIRE(answer);
    CHECK(answer->status == row.status);
    CHECK(answer->fields.at("connection") == "close");
    CHECK(client.at_end());
  }
}

TEST_CASE("a body at the limit is served, also when it is refused while it is being sent",
          "[http]") {
  const std::size_t limit = 100'000;
  RunningServer server({.max_body_bytes = limit});
  std::string body = modern("server/discover").body;
  body.insert(1, limit - body.size(), ' ');
  REQUIRE(body.size() == limit);
  const std::string fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: server/discover\r\n";
  WireClient client(server.port());
  client.send(post_text("/mcp", body, fields));
  const auto answer = client.receive();
  REQUIRE(answer);
  CHECK(answer->status == 200);

  // The refusal survives although the client goes on sending.
  WireClient heavy(server.port());
  heavy.send(post_text("/mcp", std::string(3'000'000, ' '), fields));
  const auto refused = heavy.receive();
  REQUIRE(refused);
  CHECK(refused->status == 413);
}

TEST_CASE("a client that is gone has cancelled, however it went", "[http]") {
  RunningServer server;
  const std::string waiting = call_text("wait", {{"ms", 600000}});
  int ended = 0;
  const auto lose = [&](const auto& go) {
    auto client = std::make_unique<WireClient>(server.port());
    client->send(waiting);
    REQUIRE(soon([&] { return server.counters->started == ended + 1; }));
    go(*client);
    ++ended;
    CHECK(soon([&] { return server.counters->stopped == ended; }));
  };
  lose([](WireClient& client) { client.close(); });
  lose([](WireClient& client) { client.reset(); });
  lose([](WireClient& client) { client.close_sending(); });
  // Also while the answer is a stream.
  auto client = std::make_unique<WireClient>(server.port());
  client->send(call_text("wait", {{"ms", 600000}}));
  const auto head = client->receive_head();  // comes with the silence
  REQUIRE(head);
  CHECK(head->fields.at("content-type") == "text/event-stream");
  client->close();
  CHECK(soon([&] { return server.counters->stopped == ended + 1; }));
}

TEST_CASE("who has closed its half is answered all that it asked", "[http]") {
  RunningServer server({.half_closed_time = std::chrono::minutes(10)});
  SECTION("one request") {
    WireClient client(server.port());
    client.send(call_text("wait", {{"ms", 300}}));
    client.close_sending();
    const auto answer = client.receive();
    REQUIRE(answer);
    CHECK(answer->body.find("waited") != std::string::npos);
    CHECK(client.at_end());
  }
  SECTION("many, and the beginning of another") {
    WireClient client(server.port());
    std::string all = call_text("wait", {{"ms", 100}});
    for (int i = 0; i < 100; ++i) all += call_text("echo", {{"word", std::to_string(i)}});
    client.send(all + "POST /mcp HTTP/1.1\r\nHo");
    client.close_sending();
    REQUIRE(client.receive());
    for (int i = 0; i < 100; ++i) {
      const auto answer = client.receive();
      REQUIRE(answer);
      CHECK(said(*answer) == std::to_string(i));
    }
    CHECK(client.at_end());
  }
  SECTION("then something that is no request") {
    WireClient client(server.port());
    client.send(list_text() + "no HTTP\r\n\r\n");
    client.close_sending();
    CHECK(client.receive()->status == 200);
    CHECK(client.receive()->status == 400);
    CHECK(client.at_end());
  }
  SECTION("nothing at all") {
    WireClient client(server.port());
    client.close_sending();
    CHECK(client.at_end());
  }
  SECTION("a reset is no half") {
    WireClient client(server.port());
    client.send(call_text("wait", {{"ms", 600000}}));
    REQUIRE(soon([&] { return server.counters->started == 1; }));
    client.reset();
    CHECK(soon([&] { return server.counters->stopped == 1; }));
  }
}

TEST_CASE("a request that does not come is not waited for", "[http]") {
  RunningServer server({.header_time = milliseconds(300),
                        .body_time = milliseconds(300),
                        .idle_time = milliseconds(300),
                        .tick = milliseconds(20)});
  // A header that trickles in: each byte is progress, and the time is up all the same.
  WireClient slow(server.port());
  std::thread trickle([&] {
    for (const char byte :
         std::string("POST /mcp HTTP/1.1\r\nX-Very-Long-Header-That-Never-Ends: aaaa")) {
      slow.send({&byte, 1});
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  const auto late = slow.receive();
  trickle.join();
  REQUIRE(late);
  CHECK(late->status == 408);

  WireClient half(server.port());
  const std::string text = list_text();
  half.send(text.substr(0, text.size() - 5));
  const auto answer = half.receive();
  REQUIRE(answer);
  CHECK(answer->status == 408);

  // A connection without any request is closed without a word.
  WireClient silent(server.port());
  CHECK(silent.read_some().empty());
  CHECK(silent.at_end());

  // A pending answer is no idling.
  WireClient patient(server.port());
  patient.send(call_text("wait", {{"ms", 800}}));
  const auto waited = patient.receive();
  REQUIRE(waited);
  CHECK(waited->status == 200);
}

// Connections whose streams stay open.
std::vector<std::unique_ptr<WireClient>> listening(RunningServer& server, int count) {
  std::vector<std::unique_ptr<WireClient>> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<WireClient>(server.port()));
    clients.back()->send("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
    REQUIRE(clients.back()->receive_head());
  }
  return clients;
}

bool serves_another(RunningServer& server) {
  WireClient next(server.port());
  next.send(list_text());
  const auto answer = next.receive();
  return answer && answer->status == 200;
}

TEST_CASE("one connection too many is told so", "[http]") {
  RunningServer server({.max_connections = 4});
  auto clients = listening(server, 4);
  WireClient fifth(server.port());
  const auto refused = fifth.receive();
  REQUIRE(refused);
  CHECK(refused->status == 503);
  CHECK(refused->fields.at("retry-after") == "1");
  CHECK(Json::parse(refused->body).at("error").is_string());
  clients.pop_back();
  CHECK(soon([&] { return serves_another(server); }));
}

TEST_CASE("a connection that asks for nothing gives way to one more, the longest idle first",
          "[http]") {
  RunningServer server({.max_connections = 4});
  auto busy = listening(server, 2);
  WireClient older(server.port());
  older.send(list_text());
  REQUIRE(older.receive());
  WireClient newer(server.port());
  newer.send(list_text());
  REQUIRE(newer.receive());

  CHECK(serves_another(server));
  CHECK(older.at_end());
  newer.send(list_text());
  CHECK(newer.receive());
  for (const auto& client : busy) {
    CHECK_FALSE(client->read_some().empty());  // the endpoint's name, and no end
  }
}

TEST_CASE("heads that trickle in shut nobody out", "[http]") {
  RunningServer server({.max_connections = 4});
  std::vector<std::unique_ptr<WireClient>> slow;
  for (int i = 0; i < 4; ++i) {
    slow.push_back(std::make_unique<WireClient>(server.port()));
    slow.back()->send(list_text());
    REQUIRE(slow.back()->receive());  // each is known to the server
    slow.back()->send("POST /mcp HT");
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the beginnings arrive
  CHECK(serves_another(server));
  CHECK(slow.front()->at_end());
}

// Posts to an HTTP+SSE session whose stream nobody reads, until the session is gone.
bool dropped_while_posting(RunningServer& server) {
  WireClient deaf(server.port());
  deaf.send("GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(deaf.receive_head());
  const std::string opening = deaf.read_some();
  const std::size_t at = opening.find("/messages?sessionId=");
  REQUIRE(at != std::string::npos);
  const std::string address = opening.substr(at, opening.find('\n', at) - at);
  WireClient poster(server.port());
  for (int i = 0; i < 40'000; ++i) {
    poster.send(post_text(address, modern("tools/list").body));
    const auto answer = poster.receive();
    REQUIRE(answer);
    if (answer->status == 404) return true;
    REQUIRE(answer->status == 202);
  }
  return false;
}

TEST_CASE("a client that does not read is dropped", "[http]") {
  SECTION("when too much waits for it") {
    RunningServer server({.max_unsent_bytes = 200'000});
    CHECK(dropped_while_posting(server));
  }
  SECTION("when it has taken nothing for too long") {
    RunningServer server({.unread_time = milliseconds(200), .tick = milliseconds(20)});
    CHECK(dropped_while_posting(server));
  }
}
