// A server on a free port with the tools that tests use, and what is sent to it as text. For tests:
// a requirement that fails ends the test.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "mcp/http/http_server.h"
#include "tests/mcp/fake_tools.h"
#include "tests/mcp/http/stage.h"
#include "tests/mcp/http/wire_client.h"

namespace assay::mcp::http {

class RunningServer {
 public:
  explicit RunningServer(HttpLimits limits = {}, AccessRules access = {})
      : server_({.version = "1.2.3", .tools = fake_tools(counters)},
                {.port = 0, .access = std::move(access), .limits = limits}),
        thread_([this] { outcome = server_.run(stop_.get_token()); }) {}
  ~RunningServer() { end(); }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  void end() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }

  std::shared_ptr<FakeToolCounters> counters = std::make_shared<FakeToolCounters>();
  Outcome outcome{};

 private:
  std::stop_source stop_{};
  HttpServer server_;
  std::thread thread_;
};

// A call in today's revision.
std::string call_text(const std::string& tool, const Json& arguments,
                      const Json& more = Json::object());

std::string list_text();

// Whether it happens within 20 s.
bool soon(const std::function<bool()>& happened);

// What the tools that speak have said.
std::string said(const WireAnswer& answer);

}  // namespace assay::mcp::http
