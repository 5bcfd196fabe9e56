#include "tests/mcp/http/stage.h"

#include <poll.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace assay::mcp::http {

Json FakeResponder::body() const {
  return answered ? Json::parse(answered->body, nullptr, false) : Json();
}

int FakeResponder::error_code() const {
  const Json json = body();
  return json.is_object() && json.contains("error") ? json["error"]["code"].get<int>() : 0;
}

std::optional<std::string> FakeResponder::field(std::string_view name) const {
  const Fields fields = answered ? answered->fields : stream_fields.value_or(Fields());
  for (const Field& field : fields)
    if (same_name(field.name, name)) return field.value;
  return std::nullopt;
}

std::vector<Json> FakeResponder::events() const {
  std::vector<Json> events;
  std::istringstream lines(streamed);
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event: ")) name = line.substr(7);
    if (line.starts_with("data: ") && name == "message")
      events.push_back(Json::parse(line.substr(6)));
  }
  return events;
}

Json modern_meta() {
  return {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
          {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
}

HttpRequest modern(const std::string& method, Json params, const Json& id) {
  if (!params.contains("_meta")) params["_meta"] = Json::object();
  params["_meta"].update(modern_meta());
  const Json body = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
  HttpRequest request{.method = "POST",
                      .path = "/mcp",
                      .fields = {{"Host", "127.0.0.1:8000"},
                                 {"Content-Type", "application/json"},
                                 {"Accept", "application/json, text/event-stream"},
                                 {"MCP-Protocol-Version", "2026-07-28"},
                                 {"Mcp-Method", method}},
                      .body = body.dump()};
  if (params.contains("name")) request.fields.push_back({"Mcp-Name", params["name"]});
  return request;
}

HttpRequest modern_call(const std::string& tool, Json arguments, const Json& id) {
  return modern("tools/call", {{"name", tool}, {"arguments", std::move(arguments)}}, id);
}

HttpRequest legacy(const Json& body, const std::string& session) {
  HttpRequest request{.method = "POST",
                      .path = "/mcp",
                      .fields = {{"Host", "localhost"},
                                 {"Content-Type", "application/json; charset=utf-8"},
                                 {"Accept", "application/json, text/event-stream"}},
                      .body = body.dump()};
  if (!session.empty()) request.fields.push_back({"Mcp-Session-Id", session});
  return request;
}

HttpRequest legacy_call(const std::string& session, const std::string& tool, Json arguments,
                        const Json& id) {
  return legacy({{"jsonrpc", "2.0"},
                 {"id", id},
                 {"method", "tools/call"},
                 {"params", {{"name", tool}, {"arguments", std::move(arguments)}}}},
                session);
}

HttpRequest initialize(const std::string& revision) {
  return legacy({{"jsonrpc", "2.0"},
                 {"id", 0},
                 {"method", "initialize"},
                 {"params",
                  {{"protocolVersion", revision},
                   {"capabilities", Json::object()},
                   {"clientInfo", {{"name", "t"}, {"version", "0"}}}}}});
}

HttpRequest with(HttpRequest request, const std::string& field, const std::string& value) {
  std::erase_if(request.fields, [&](const Field& one) { return same_name(one.name, field); });
  if (!value.empty()) request.fields.push_back({field, value});
  return request;
}

HttpRequest with_method(HttpRequest request, const std::string& method) {
  request.method = method;
  return request;
}

Stage::Stage(HttpLimits limits, Limits protocol)
    : dispatcher({.version = "1.2.3",
                  .instructions = "Try echo first.",
                  .tools = fake_tools(counters),
                  .limits = protocol},
                 queue),
      mcp(dispatcher, limits, protocol.max_pending_bytes),
      sse(dispatcher, limits) {}

Stage::~Stage() {
  dispatcher.stop_all();
  static_cast<void>(dispatcher.drain(nullptr));
}

std::shared_ptr<FakeResponder> Stage::start(HttpRequest request, const std::string& principal) {
  auto responder = std::make_shared<FakeResponder>();
  if (request.path == "/sse")
    sse.open(request, principal, responder);
  else if (request.path == "/messages")
    sse.post(request, principal, *responder);
  else
    mcp.handle(std::move(request), principal, responder);
  return responder;
}

std::shared_ptr<FakeResponder> Stage::ask(HttpRequest request, const std::string& principal) {
  auto responder = start(std::move(request), principal);
  if (!until([&] { return responder->complete(); })) throw std::runtime_error("no answer");
  return responder;
}

bool Stage::until(const std::function<bool()>& happened) {
  const auto deadline = Clock::now() + std::chrono::seconds(20);
  while (true) {
    queue.run_tasks();
    if (happened()) return true;
    if (Clock::now() > deadline) return false;
    pollfd ready{queue.wake_fd(), POLLIN, 0};
    ::poll(&ready, 1, 5);
  }
}

std::string Stage::session(const std::string& revision, const std::string& principal) {
  const auto answer = ask(initialize(revision), principal);
  const auto id = answer->field("Mcp-Session-Id");
  if (!id) throw std::runtime_error("no session");
  return *id;
}

}  // namespace assay::mcp::http
