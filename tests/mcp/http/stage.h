// An endpoint without a network: requests are function calls, answers are looked at.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/dispatcher.h"
#include "mcp/event_queue.h"
#include "mcp/http/http_config.h"
#include "mcp/http/mcp_endpoint.h"
#include "mcp/http/responder.h"
#include "mcp/http/sse_endpoint.h"
#include "tests/mcp/fake_tools.h"

namespace assay::mcp::http {

class FakeResponder final : public Responder {
 public:
  void answer(HttpAnswer given) override {
    answered = std::move(given);
    forget_watcher();
  }
  void open_stream(Fields fields) override { stream_fields = std::move(fields); }
  void write(std::string bytes) override { streamed += bytes; }
  void finish() override {
    finished = true;
    forget_watcher();
  }
  void go_away() { client_is_gone(); }

  [[nodiscard]] bool complete() const { return answered || finished; }
  [[nodiscard]] int status() const {
    if (answered) return answered->status;
    return stream_fields ? 200 : 0;
  }
  [[nodiscard]] Json body() const;
  // The JSON-RPC error code in the body; 0: none.
  [[nodiscard]] int error_code() const;
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
  // The data of every "message" event so far.
  [[nodiscard]] std::vector<Json> events() const;

  std::optional<HttpAnswer> answered{};
  std::optional<Fields> stream_fields{};
  std::string streamed{};
  bool finished = false;
};

[[nodiscard]] Json modern_meta();
// A modern request with the headers that belong to it.
[[nodiscard]] HttpRequest modern(const std::string& method, Json params = Json::object(),
                                 const Json& id = 1);
[[nodiscard]] HttpRequest modern_call(const std::string& tool, Json arguments, const Json& id = 1);
[[nodiscard]] HttpRequest legacy(const Json& body, const std::string& session = {});
[[nodiscard]] HttpRequest legacy_call(const std::string& session, const std::string& tool,
                                      Json arguments, const Json& id = 1);
[[nodiscard]] HttpRequest initialize(const std::string& revision);
// The request with a field replaced, or taken out if `value` is empty.
[[nodiscard]] HttpRequest with(HttpRequest request, const std::string& field,
                               const std::string& value);
[[nodiscard]] HttpRequest with_method(HttpRequest request, const std::string& method);

inline const Json kPing = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "ping"}};
inline const Json kInitialized = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};

class Stage {
 public:
  explicit Stage(HttpLimits limits = {}, Limits protocol = {});
  ~Stage();

  std::shared_ptr<FakeResponder> start(HttpRequest request, const std::string& principal = "local");
  // Waits for the whole answer.
  std::shared_ptr<FakeResponder> ask(HttpRequest request, const std::string& principal = "local");
  // False: it did not happen in time.
  [[nodiscard]] bool until(const std::function<bool()>& happened);
  // The id of a fresh session.
  std::string session(const std::string& revision = "2025-11-25",
                      const std::string& principal = "local");

  std::shared_ptr<FakeToolCounters> counters = std::make_shared<FakeToolCounters>();
  EventQueue queue{};
  Dispatcher dispatcher;
  McpEndpoint mcp;
  SseEndpoint sse;
};

}  // namespace assay::mcp::http
