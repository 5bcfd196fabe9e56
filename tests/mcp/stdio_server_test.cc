#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mcp/server.h"
#include "tests/catch.h"
#include "tests/mcp/fake_tools.h"
#include "tests/transcripts/pipe_endpoint.h"
#include "tests/transcripts/replay.h"

namespace {

using namespace assay::mcp;
using assay::transcripts::PipeEndpoint;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPatience{20'000};
const std::string kPing = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
const std::string kPong = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

std::string call(const std::string& id, const std::string& tool, const std::string& arguments,
                 const std::string& meta = "") {
  return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":{"name":")" + tool +
         R"(","arguments":)" + arguments +
         R"(,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" + meta +
         R"("io.modelcontextprotocol/clientCapabilities":{}}}})" + "\n";
}

std::pair<OwnedFd, OwnedFd> make_pipe() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

std::pair<OwnedFd, OwnedFd> make_socket_pair() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {OwnedFd(ends[0]), OwnedFd(ends[1])};
}

OwnedFd file_holding(const std::string& bytes) {
  std::string name = "/tmp/assay_stdio_XXXXXX";
  OwnedFd file(::mkstemp(name.data()));
  REQUIRE(file);
  ::unlink(name.c_str());
  REQUIRE(::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string read_all(const OwnedFd& fd) {
  std::string bytes;
  std::array<char, 65536> buffer{};
  for (ssize_t count = 0; (count = ::read(fd.get(), buffer.data(), buffer.size())) > 0;)
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  return bytes;
}

void write_all(const OwnedFd& fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

// A server whose streams the test holds the other ends of.
struct Served {
  std::shared_ptr<FakeToolCounters> counters = std::make_shared<FakeToolCounters>();
  std::stop_source stop{};
  std::future<Outcome> outcome{};

  Served(StdioStreams streams, Limits limits = {}) {
    outcome =
        std::async(std::launch::async, [this, limits, streams = std::move(streams)]() mutable {
          StdioServer server({.version = "1", .tools = fake_tools(counters), .limits = limits},
                             std::move(streams));
          return server.run(stop.get_token());
        });
  }
  Outcome end() {
    REQUIRE(outcome.wait_for(kPatience) == std::future_status::ready);
    return outcome.get();
  }
  void wait_for_started(int count) const {
    const auto deadline = steady_clock::now() + kPatience;
    while (counters->started < count && steady_clock::now() < deadline)
      std::this_thread::sleep_for(milliseconds(1));
    REQUIRE(counters->started == count);
  }
};

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("the input may be a file, a pipe or a socket, the output too", "[stdio]") {
  SECTION("files") {
    OwnedFd out = file_holding("");
    Served served({.in = file_holding(kPing + kPing), .out = OwnedFd::duplicate_of(out.get())});
    CHECK(served.end().ended == Ended::input_ended);
    ::lseek(out.get(), 0, SEEK_SET);
    CHECK(read_all(out) == kPong + kPong);
  }
  SECTION("pipes, with a last line that has no line feed") {
    auto [in, to_server] = make_pipe();
    auto [from_server, out] = make_pipe();
    Served served({.in = std::move(in), .out = std::move(out)});
    write_all(to_server, kPing + kPing.substr(0, kPing.size() - 1));
    to_server.reset();
    CHECK(served.end().ended == Ended::input_ended);
    CHECK(read_all(from_server) == kPong + kPong);
  }
  SECTION("one socket for both directions, half closed by the client") {
    auto [client, server] = make_socket_pair();
    OwnedFd out = OwnedFd::duplicate_of(server.get());
    Served served({.in = std::move(server), .out = std::move(out)});
    write_all(client, kPing + call("2", "wait", R"({"ms":50})"));
    ::shutdown(client.get(), SHUT_WR);
    CHECK(served.end().ended == Ended::input_ended);
    CHECK(count_lines(read_all(client)) == 2);
  }
  SECTION("an input that does not block") {
    auto [in, to_server] = make_pipe();
    auto [from_server, out] = make_pipe();
    ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
    ::fcntl(out.get(), F_SETFL, O_NONBLOCK);
    Served served({.in = std::move(in), .out = std::move(out)});
    write_all(to_server, kPing);
    to_server.reset();
    CHECK(read_all(from_server) == kPong);
    CHECK(served.end().ended == Ended::input_ended);
  }
}

TEST_CASE("a line far above the cap costs no memory and one answer", "[stdio]") {
  constexpr std::size_t kHugeMib = 200;
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)}, {.max_message_bytes = 1 << 20});
  rusage before{};
  ::getrusage(RUSAGE_SELF, &before);
  const std::string piece(1 << 20, 'x');
  for (std::size_t i = 0; i < kHugeMib; ++i) write_all(to_server, piece);
  write_all(to_server, "\n" + kPing);
  to_server.reset();
  CHECK(served.end().ended == Ended::input_ended);
  rusage after{};
  ::getrusage(RUSAGE_SELF, &after);
  CHECK(after.ru_maxrss - before.ru_maxrss < 32 * 1024);  // KiB
  CHECK(read_all(from_server) ==
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,\"message\":"
        "\"message larger than 1048576 bytes\"}}\n" +
            kPong);
}

TEST_CASE("a client that reads late gets every answer, whole and in order", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  // Small enough that the server stops reading long before the client starts.
  Served served({.in = std::move(in), .out = std::move(out)}, {.max_pending_bytes = 100'000});
  constexpr int kPings = 30'000;
  std::thread writer([&to_server = to_server] {
    for (int i = 0; i < kPings; ++i) write_all(to_server, kPing);
    to_server.reset();
  });
  std::this_thread::sleep_for(milliseconds(200));
  const std::string received = read_all(from_server);
  writer.join();
  CHECK(served.end().ended == Ended::input_ended);
  CHECK(received.size() == kPings * kPong.size());
  bool all_alike = true;
  for (std::size_t at = 0; at < received.size(); at += kPong.size())
    all_alike &= received.compare(at, kPong.size(), kPong) == 0;
  CHECK(all_alike);
}

TEST_CASE("a broken output stops what runs, at once", "[stdio]") {
  const auto breaks = [](OwnedFd in, OwnedFd to_server, OwnedFd from_server, OwnedFd out) {
    Served served({.in = std::move(in), .out = std::move(out)});
    write_all(to_server, call("1", "wait", R"({"ms":600000})"));
    served.wait_for_started(1);
    from_server.reset();
    const auto start = steady_clock::now();
    CHECK(served.end().ended == Ended::output_broken);
    CHECK(steady_clock::now() - start < milliseconds(3000));
    CHECK(served.counters->stopped == 1);
  };
  SECTION("a pipe") {
    auto [in, to_server] = make_pipe();
    auto [from_server, out] = make_pipe();
    breaks(std::move(in), std::move(to_server), std::move(from_server), std::move(out));
  }
  SECTION("a socket") {
    auto [in, to_server] = make_pipe();
    auto [from_server, out] = make_socket_pair();
    breaks(std::move(in), std::move(to_server), std::move(from_server), std::move(out));
  }
}

TEST_CASE("a stop request ends running calls, answers them and returns", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)});
  write_all(to_server,
            call("1", "wait", R"({"ms":600000})") + call("\"b\"", "wait", R"({"ms":600000})"));
  served.wait_for_started(2);
  const auto start = steady_clock::now();
  served.stop.request_stop();
  const Outcome outcome = served.end();
  CHECK(steady_clock::now() - start < milliseconds(3000));
  CHECK(outcome.ended == Ended::stop_requested);
  CHECK(outcome.abandoned_calls == 0);
  CHECK(served.counters->stopped == 2);
  const std::string received = read_all(from_server);
  CHECK(count_lines(received) == 2);
  CHECK_THAT(received, Catch::Contains("the server is stopping"));
}

TEST_CASE("a stop request is heard while the client reads nothing", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)}, {.max_pending_bytes = 100'000});
  std::thread writer([&to_server = to_server] {
    for (int i = 0; i < 20'000; ++i) write_all(to_server, kPing);
  });
  std::this_thread::sleep_for(milliseconds(100));
  served.stop.request_stop();
  const auto start = steady_clock::now();
  CHECK(served.end().ended == Ended::stop_requested);
  CHECK(steady_clock::now() - start < milliseconds(5000));
  writer.join();
}

TEST_CASE("a tool that ignores its stop request is given up after the grace", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)}, {.stop_grace = milliseconds(50)});
  write_all(to_server, call("1", "wait", R"({"ms":800,"deaf":true})"));
  served.wait_for_started(1);
  served.stop.request_stop();
  CHECK(served.end().abandoned_calls == 1);
  std::this_thread::sleep_for(milliseconds(1000));  // it ends while the test still stands
}

TEST_CASE("cancelling a call that waits for a thread keeps it from running", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)}, {.max_tool_threads = 1});
  write_all(to_server, call("1", "wait", R"({"ms":300})") + call("2", "wait", R"({"ms":600000})") +
                           "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                           "\"params\":{\"requestId\":2}}\n");
  to_server.reset();
  CHECK(served.end().ended == Ended::input_ended);
  CHECK(served.counters->started == 1);
  CHECK(count_lines(read_all(from_server)) == 1);
}

TEST_CASE("hundreds of calls share few threads, and each is answered once", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)}, {.max_tool_threads = 8});
  constexpr int kCalls = 300;
  for (int i = 0; i < kCalls; ++i)
    write_all(to_server, call(std::to_string(i), "wait", R"({"ms":3})"));
  to_server.reset();
  const std::string received = read_all(from_server);
  CHECK(served.end().ended == Ended::input_ended);
  std::set<std::int64_t> ids;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos;
       begin = end + 1)
    ids.insert(Json::parse(received.substr(begin, end - begin)).at("id").get<std::int64_t>());
  CHECK(ids.size() == kCalls);
  CHECK(count_lines(received) == kCalls);
}

TEST_CASE("a flood of progress is thinned out, grows and ends before the answer", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  Served served({.in = std::move(in), .out = std::move(out)});
  write_all(to_server, call("1", "count", R"({"n":100000})", R"("progressToken":"t",)"));
  to_server.reset();
  const std::string received = read_all(from_server);
  CHECK(served.end().ended == Ended::input_ended);
  CHECK(count_lines(received) >= 17);
  CHECK(count_lines(received) < 500);
  double last = 0;
  std::size_t begin = 0;
  bool answered = false;
  for (std::size_t end = 0; (end = received.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const Json message = Json::parse(received.substr(begin, end - begin));
    CHECK_FALSE(answered);
    answered = message.contains("id");
    if (answered) continue;
    CHECK(message.at("params").at("progress").get<double>() > last);
    last = message.at("params").at("progress").get<double>();
  }
  CHECK(answered);
}

TEST_CASE("a broken promise about a result is logged when results are checked", "[stdio]") {
  auto [in, to_server] = make_pipe();
  auto [from_server, out] = make_pipe();
  std::mutex mutex;
  std::vector<std::string> errors;
  write_all(to_server, call("1", "broken_promise", "{}") + call("2", "fail", "{}"));
  to_server.reset();
  StdioServer server({.tools = fake_tools(),
                      .log =
                          [&](Level level, std::string_view text) {
                            const std::lock_guard lock(mutex);
                            if (level == Level::error) errors.emplace_back(text);
                          },
                      .check_results = true},
                     {.in = std::move(in), .out = std::move(out)});
  CHECK(server.run({}).ended == Ended::input_ended);
  std::sort(errors.begin(), errors.end());
  REQUIRE(errors.size() == 2);
  CHECK(errors[0] ==
        "tool broken_promise broke its output schema: /verdict: required, but missing");
  CHECK(errors[1] == "tool fail threw: the ship sinks");
}

TEST_CASE("nothing but the protocol reaches the standard output of a process", "[stdio]") {
  PipeEndpoint server(std::vector<std::string>{FAKE_MCP_SERVER});
  const auto transcript =
      assay::transcripts::read_transcript("tests/transcripts/protocol/both_eras.transcript");
  CHECK(assay::transcripts::replay(transcript, server) == "");
}

TEST_CASE("the standard input of a process stays the protocol's", "[stdio]") {
  // The child that the server starts reads its stdin: it must find nothing there.
  PipeEndpoint server(std::vector<std::string>{FAKE_MCP_SERVER});
  server.send(kPing);
  CHECK(server.receive(kPatience) == kPong.substr(0, kPong.size() - 1));
  CHECK(server.finish(kPatience) == "");
}

TEST_CASE("the time of a tools/list", "[.latency]") {
  const std::string list =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})"
      "\n";
  const auto measure = [&](const char* what, PipeEndpoint& server, const std::string& request) {
    std::vector<double> us;
    for (int i = 0; i < 5'000; ++i) {
      const auto start = steady_clock::now();
      server.send(request);
      REQUIRE(server.receive(kPatience));
      us.push_back(std::chrono::duration<double, std::micro>(steady_clock::now() - start).count());
    }
    std::sort(us.begin(), us.end());
    WARN(what << ": p50 " << us[us.size() / 2] << " us, p90 " << us[us.size() * 9 / 10]
              << " us, p99 " << us[us.size() * 99 / 100] << " us");
  };
  const std::string echo = call("1", "echo", R"({"word":"hello"})");
  PipeEndpoint inside(ServerConfig{.version = "1", .tools = fake_tools()});
  measure("tools/list, same process, pipes", inside, list);
  measure("tools/call, same process, pipes", inside, echo);
  PipeEndpoint outside(std::vector<std::string>{FAKE_MCP_SERVER});
  measure("tools/list, another process, pipes", outside, list);
  measure("tools/call, another process, pipes", outside, echo);
}
