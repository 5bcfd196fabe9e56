#include "mcp/http/sse_endpoint.h"

#include <utility>
#include <variant>

#include "mcp/http/envelope_check.h"
#include "mcp/http/event_stream.h"
#include "mcp/http/refusal.h"
#include "mcp/http/sessions.h"

namespace assay::mcp::http {
namespace {

HttpAnswer refused(int status, std::string message,
                   ErrorCode code = ErrorCode::refused_by_transport) {
  return answer_of({.status = status, .error = {.code = code, .message = std::move(message)}});
}

HttpAnswer only(const char* method) {
  HttpAnswer answer = answer_of(method_not_allowed(method));
  answer.fields.push_back({"Allow", method});
  return answer;
}

}  // namespace

// One stream: everything that is said to the client goes there.
class SseEndpoint::StreamPeer final : public Peer {
 public:
  StreamPeer(const std::string& principal, std::shared_ptr<Responder> responder)
      : responder_(std::move(responder)) {
    session_.principal = principal;
  }

  Session& session() override { return session_; }
  void notify(std::string message) override { say("message", message); }
  void answer(std::string message, std::optional<ErrorCode>) override { say("message", message); }

  void say(std::string_view name, std::string_view data) {
    if (!responder_) return;
    responder_->write(event(name, data));
    last_said_ = Clock::now();
  }
  void keep_alive(Clock::time_point now, std::chrono::milliseconds interval) {
    if (!responder_ || now - last_said_ < interval) return;
    responder_->write(keep_alive_comment());
    last_said_ = now;
  }
  [[nodiscard]] std::shared_ptr<Responder> lose_client() { return std::exchange(responder_, {}); }

 private:
  Session session_{};
  std::shared_ptr<Responder> responder_;
  Clock::time_point last_said_ = Clock::now();
};

SseEndpoint::SseEndpoint(Dispatcher& dispatcher, HttpLimits limits)
    : dispatcher_(dispatcher), limits_(limits) {}

SseEndpoint::~SseEndpoint() = default;

void SseEndpoint::open(const HttpRequest& request, const std::string& principal,
                       const std::shared_ptr<Responder>& responder) {
  if (request.method == "OPTIONS")
    return responder->answer({.status = 204, .fields = {{"Allow", "GET"}}});
  if (request.method != "GET") return responder->answer(only("GET"));
  if (!accepts(request, "text/event-stream"))
    return responder->answer(refused(406, "the client must accept text/event-stream"));
  const std::string id = random_id();
  const auto peer = std::make_shared<StreamPeer>(principal, responder);
  peers_.emplace(id, peer);
  responder->when_gone([this, id] { close(id); });
  responder->open_stream(event_stream_fields());
  peer->say("endpoint", "/messages?sessionId=" + id);
}

void SseEndpoint::post(const HttpRequest& request, const std::string& principal,
                       Responder& responder) {
  if (request.method == "OPTIONS")
    return responder.answer({.status = 204, .fields = {{"Allow", "POST"}}});
  if (request.method != "POST") return responder.answer(only("POST"));
  const auto id = request.parameter("sessionId");
  if (!id) return responder.answer(refused(400, "the parameter sessionId is required"));
  const auto found = peers_.find(*id);
  if (found == peers_.end() || found->second->session().principal != principal)
    return responder.answer(refused(404, "Session not found", ErrorCode::session_not_found));
  if (!is_json(request))
    return responder.answer(refused(400, "the Content-Type must be application/json"));
  Message message = decoder_.decode(request.body);
  if (const auto* invalid = std::get_if<Invalid>(&message))
    return responder.answer(answer_of({.status = 400, .id = invalid->id, .error = invalid->error}));
  if (std::holds_alternative<Batch>(message)) {
    return responder.answer(
        refused(400, "this revision has no batches", ErrorCode::invalid_request));
  }
  responder.answer({.status = 202, .content_type = "text/plain", .body = "Accepted"});
  const std::shared_ptr<StreamPeer> peer = found->second;
  dispatcher_.receive({.message = std::move(message), .bytes = request.body.size(), .peer = peer});
}

void SseEndpoint::close(const std::string& id) {
  const auto entry = peers_.extract(id);
  if (entry.empty()) return;
  static_cast<void>(entry.mapped()->lose_client());
  dispatcher_.peer_gone(*entry.mapped());
}

void SseEndpoint::tick(Clock::time_point now) {
  for (const auto& [id, peer] : std::map(peers_)) peer->keep_alive(now, limits_.keep_alive);
}

void SseEndpoint::stop() {
  for (const auto& [id, peer] : std::exchange(peers_, {}))
    if (const auto responder = peer->lose_client()) responder->finish();
}

}  // namespace assay::mcp::http
