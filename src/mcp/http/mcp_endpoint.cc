#include "mcp/http/mcp_endpoint.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "mcp/http/envelope_check.h"
#include "mcp/http/event_stream.h"

namespace assay::mcp::http {
namespace {

constexpr std::string_view kSessionHeader = "Mcp-Session-Id";
constexpr std::string_view kLastEventHeader = "Last-Event-ID";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kEventStream = "text/event-stream";
constexpr Revision kRevisionWithBatches = Revision::v2025_03_26;
constexpr Revision kFirstWithEventIds = Revision::v2025_03_26;
constexpr Revision kFirstWithPolling = Revision::v2025_11_25;

Refusal refused(int status, std::string message) {
  return {.status = status,
          .error = {.code = ErrorCode::refused_by_transport, .message = std::move(message)}};
}

Refusal bad_message(std::string message) {
  return {.status = 400,
          .error = {.code = ErrorCode::invalid_request, .message = std::move(message)}};
}

void refuse(const Refusal& refusal, Responder& responder) { responder.answer(answer_of(refusal)); }

void refuse_method(const char* allowed, Responder& responder) {
  HttpAnswer answer = answer_of(method_not_allowed(allowed));
  answer.fields.push_back({"Allow", allowed});
  responder.answer(std::move(answer));
}

bool claims_modern(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message))
    return mcp::era_of(request->params) == Era::modern;
  const auto* notification = std::get_if<Notification>(&message);
  return notification != nullptr && mcp::era_of(notification->params) == Era::modern;
}

bool is_initialize(const Message& message) {
  const auto* request = std::get_if<Request>(&message);
  return request != nullptr && request->method == "initialize";
}

// Whom a refusal of the whole body answers.
std::optional<RequestId> id_of(const Body& body) {
  const auto* request = std::get_if<Request>(&body.messages.front());
  return request != nullptr && !body.batch ? std::optional(request->id) : std::nullopt;
}

Refusal to(std::optional<RequestId> id, Refusal refusal) {
  refusal.id = std::move(id);
  return refusal;
}

// The messages that will be answered.
std::size_t count_requests(const std::vector<Message>& messages) {
  return static_cast<std::size_t>(
      std::count_if(messages.begin(), messages.end(), [](const Message& message) {
        const auto* invalid = std::get_if<Invalid>(&message);
        return std::holds_alternative<Request>(message) ||
               (invalid != nullptr && !invalid->notification);
      }));
}

// A disconnect does not cancel in the legacy era: the client may come back for the rest.
void watch(Responder& responder, const std::shared_ptr<PostPeer>& peer) {
  responder.when_gone([weak = std::weak_ptr(peer)] {
    if (const auto gone = weak.lock()) gone->lose_client();
  });
}

// Messages take their share of the body's bytes.
std::size_t share(const HttpRequest& http, const std::vector<Message>& messages) {
  return http.body.size() / std::max<std::size_t>(messages.size(), 1);
}

}  // namespace

McpEndpoint::McpEndpoint(Dispatcher& dispatcher, HttpLimits limits, std::size_t max_pending_bytes)
    : dispatcher_(dispatcher),
      limits_(limits),
      max_pending_bytes_(max_pending_bytes),
      sessions_(limits,
                [this](HttpSession& session) { dispatcher_.session_ended(*session.state); }) {}

void McpEndpoint::handle(HttpRequest request, const std::string& principal,
                         const std::shared_ptr<Responder>& responder) {
  const Asked asked{.http = std::move(request), .principal = principal, .responder = responder};
  if (asked.http.method == "POST") return post(asked);
  if (asked.http.method == "OPTIONS")
    return responder->answer({.status = 204, .fields = {{"Allow", "GET, POST, DELETE"}}});
  // The modern revision has one method.
  if (header_is_modern(asked.http)) return refuse_method("POST", *responder);
  if (asked.http.method == "GET") return get(asked);
  if (asked.http.method == "DELETE") return end_session(asked);
  refuse_method("GET, POST, DELETE", *responder);
}

void McpEndpoint::post(const Asked& asked) {
  Responder& responder = *asked.responder;
  if (!is_json(asked.http))
    return refuse(refused(415, "the Content-Type must be application/json"), responder);
  if (dispatcher_.pending_bytes() > max_pending_bytes_) {
    HttpAnswer busy = answer_of(refused(503, "too much is waiting to be answered; try again"));
    busy.fields.push_back({"Retry-After", "1"});
    return responder.answer(std::move(busy));
  }
  Body body = decoder_.decode_body(asked.http.body, limits_.max_batch);
  if (body.batch) return post_legacy(std::move(body), asked);
  Message& message = body.messages.front();
  if (const auto* invalid = std::get_if<Invalid>(&message))
    return refuse({.status = 400, .id = invalid->id, .error = invalid->error}, responder);
  if (auto* request = std::get_if<Request>(&message))
    return post_request(std::move(*request), asked);
  const auto* notification = std::get_if<Notification>(&message);
  const bool modern = notification != nullptr ? era_of(*notification, asked.http) == Era::modern
                                              : header_is_modern(asked.http);
  if (!modern) return post_legacy(std::move(body), asked);
  if (notification == nullptr)
    return refuse(bad_message("there are no requests to respond to in this revision"), responder);
  // Requests are cancelled by disconnecting; an id alone would let anybody cancel anything.
  responder.answer({.status = 202});
}

void McpEndpoint::post_request(Request request, const Asked& asked) {
  const auto era = era_of(request, asked.http);
  if (const auto* refusal = std::get_if<Refusal>(&era)) return refuse(*refusal, *asked.responder);
  if (std::get<Era>(era) == Era::modern) return post_modern(std::move(request), asked);
  if (request.method == "initialize") return post_initialize(std::move(request), asked);
  Body body;
  body.messages.emplace_back(std::move(request));
  post_legacy(std::move(body), asked);
}

void McpEndpoint::post_modern(Request request, const Asked& asked) {
  if (const auto refusal = check_modern(request, asked.http))
    return refuse(*refusal, *asked.responder);
  if (request.method == "tools/call") {
    // The name is the one in the body, which the header has been held against.
    const auto name = request.params.find("name");
    const auto headers = name != request.params.end() && name->is_string()
                             ? dispatcher_.param_headers(name->get_ref<const std::string&>())
                             : std::vector<ParamHeader>{};
    if (const auto refusal = check_param_headers(request, asked.http, headers))
      return refuse(*refusal, *asked.responder);
  }
  // What goes on until the client leaves has no other form than a stream.
  const bool is_endless = request.method == "subscriptions/listen";
  const bool streams =
      is_endless ? accepts(asked.http, kEventStream) : names(asked.http, kEventStream);
  const bool takes_json = accepts(asked.http, kJson);
  if (!streams && (is_endless || !takes_json))
    return refuse(to(request.id, refused(406, is_endless ? "the answer is text/event-stream"
                                                         : "the answer is application/json or "
                                                           "text/event-stream")),
                  *asked.responder);
  auto session = std::make_shared<Session>();
  session->principal = asked.principal;
  auto peer = std::make_shared<PostPeer>(
      std::move(session), asked.responder,
      PostPeer::Terms{.era = Era::modern, .streams = streams, .takes_json = takes_json});
  asked.responder->when_gone([this, weak = std::weak_ptr(peer)] {
    const auto gone = weak.lock();
    if (!gone) return;
    gone->lose_client();
    dispatcher_.peer_gone(*gone);
    exchange_done(*gone);
  });
  std::vector<Message> messages;
  messages.emplace_back(std::move(request));
  dispatch(std::move(messages), asked, peer, nullptr);
}

std::optional<Refusal> McpEndpoint::check_legacy(const HttpRequest& http) {
  if (!http.field("Accept") || !accepts(http, kJson) || !accepts(http, kEventStream))
    return refused(406, "the client must accept both application/json and text/event-stream");
  return check_version(http);
}

std::optional<Refusal> McpEndpoint::check_version(const HttpRequest& http) {
  const auto version = http.field(kVersionHeader);
  if (version && !revision_from(*version))
    return refused(400, "unsupported " + std::string(kVersionHeader) + " header");
  return std::nullopt;
}

void McpEndpoint::post_initialize(Request request, const Asked& asked) {
  if (const auto refusal = check_legacy(asked.http))
    return refuse(to(request.id, *refusal), *asked.responder);
  if (asked.http.field(kSessionHeader)) {
    // Of a session that is gone the client must learn just that, to begin anew without it.
    const auto found = session_of(asked);
    if (const auto* refusal = std::get_if<Refusal>(&found))
      return refuse(to(request.id, *refusal), *asked.responder);
    return refuse({.status = 400,
                   .id = request.id,
                   .error = {.code = ErrorCode::invalid_request,
                             .message = "this session has been initialized"}},
                  *asked.responder);
  }
  const auto session = sessions_.add(asked.principal);
  if (!session)
    return refuse(to(request.id, refused(503, "too many sessions are busy")), *asked.responder);
  auto peer = std::make_shared<PostPeer>(session->state, asked.responder,
                                         PostPeer::Terms{.era = Era::legacy});
  peer->send_with_result({std::string(kSessionHeader), session->id});
  std::vector<Message> messages;
  messages.emplace_back(std::move(request));
  dispatch(std::move(messages), asked, peer, session);
  // Refused: nobody was told of this session.
  if (!session->state->legacy_client) sessions_.end(session->id);
}

McpEndpoint::FoundSession McpEndpoint::session_of(const Asked& asked) {
  const auto id = asked.http.field(kSessionHeader);
  if (!id) return refused(400, "the Mcp-Session-Id header is required; send \"initialize\" first");
  if (auto session = sessions_.find(*id, asked.principal)) return session;
  return Refusal{.status = 404,
                 .error = {.code = ErrorCode::session_not_found, .message = "Session not found"}};
}

void McpEndpoint::post_legacy(Body body, const Asked& asked) {
  Responder& responder = *asked.responder;
  if (std::any_of(body.messages.begin(), body.messages.end(), claims_modern))
    return refuse(bad_message("the revision that the envelope names has no batches"), responder);
  if (const auto refusal = check_legacy(asked.http))
    return refuse(to(id_of(body), *refusal), responder);
  auto found = session_of(asked);
  if (const auto* refusal = std::get_if<Refusal>(&found))
    return refuse(to(id_of(body), *refusal), responder);
  auto& session = std::get<std::shared_ptr<HttpSession>>(found);
  if (body.batch) {
    if (session->state->legacy_client->revision != kRevisionWithBatches)
      return refuse(bad_message("the revision of this session has no batches"), responder);
    if (std::any_of(body.messages.begin(), body.messages.end(), is_initialize))
      return refuse(bad_message("\"initialize\" cannot be part of a batch"), responder);
    // An empty or overlong one.
    const auto* invalid = std::get_if<Invalid>(&body.messages.front());
    if (invalid != nullptr && body.messages.size() == 1 && !invalid->id)
      return refuse({.status = 400, .error = invalid->error}, responder);
  }
  PostPeer::Terms terms{
      .era = Era::legacy, .batch = body.batch, .requests = count_requests(body.messages)};
  const Revision revision = session->state->legacy_client->revision;
  if (revision >= kFirstWithEventIds) terms.kept = session->kept;
  if (revision >= kFirstWithPolling) terms.retry = limits_.retry;
  auto peer = std::make_shared<PostPeer>(session->state, asked.responder, std::move(terms));
  watch(*asked.responder, peer);
  dispatch(std::move(body.messages), asked, peer, session);
}

void McpEndpoint::dispatch(std::vector<Message> messages, const Asked& asked,
                           const std::shared_ptr<PostPeer>& peer,
                           std::shared_ptr<HttpSession> session) {
  const std::size_t bytes = share(asked.http, messages);
  if (peer->done()) {
    asked.responder->answer({.status = 202});
  } else {
    if (session) ++session->exchanges;
    open_.emplace(peer.get(), Open{.peer = peer, .session = std::move(session)});
    peer->when_done([this](const PostPeer& done) { exchange_done(done); });
  }
  for (Message& message : messages)
    dispatcher_.receive({.message = std::move(message), .bytes = bytes, .peer = peer});
}

void McpEndpoint::exchange_done(const PostPeer& peer) {
  const auto entry = open_.extract(&peer);
  if (entry.empty()) return;
  if (const auto& session = entry.mapped().session) {
    --session->exchanges;
    session->last_used = Clock::now();
  }
}

void McpEndpoint::get(const Asked& asked) {
  Responder& responder = *asked.responder;
  if (!accepts(asked.http, kEventStream))
    return refuse(refused(406, "the client must accept text/event-stream"), responder);
  if (const auto refusal = check_version(asked.http)) return refuse(*refusal, responder);
  const auto found = session_of(asked);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*refusal, responder);
  const auto& session = std::get<std::shared_ptr<HttpSession>>(found);
  const auto last_event = asked.http.field(kLastEventHeader);
  if (last_event && !last_event->empty()) return take_up(asked, *session, *last_event);
  if (session->stream) return refuse(refused(409, "this session has a stream already"), responder);
  session->stream = asked.responder;
  session->last_said = Clock::now();
  responder.when_gone([weak = std::weak_ptr(session)] {
    if (const auto left = weak.lock()) {
      left->stream.reset();
      left->last_used = Clock::now();
    }
  });
  begin_stream(responder, {});
}

void McpEndpoint::take_up(const Asked& asked, const HttpSession& session,
                          std::string_view last_event) {
  Responder& responder = *asked.responder;
  const auto place = place_from(last_event);
  const auto rest = place ? session.kept->after(*place) : std::nullopt;
  if (!rest)
    return refuse(refused(400, "this session keeps nothing that followed this Last-Event-ID"),
                  responder);
  if (const auto peer = peer_of(session, place->stream)) {
    watch(responder, peer);
    return peer->take_up(asked.responder, *rest);
  }
  // 204 is how a client of event streams is told not to come back.
  if (rest->empty()) return responder.answer({.status = 204});
  begin_stream(responder, *rest);
  responder.finish();
}

std::shared_ptr<PostPeer> McpEndpoint::peer_of(const HttpSession& session,
                                               std::uint64_t stream) const {
  for (const auto& [key, open] : open_)
    // One that is done may be about to leave: the end of its connection's turn begins the next.
    if (open.session.get() == &session && open.peer->stream() == stream && !open.peer->done())
      return open.peer;
  return nullptr;
}

void McpEndpoint::end_session(const Asked& asked) {
  if (const auto refusal = check_version(asked.http)) return refuse(*refusal, *asked.responder);
  const auto found = session_of(asked);
  if (const auto* refusal = std::get_if<Refusal>(&found)) return refuse(*refusal, *asked.responder);
  sessions_.end(std::get<std::shared_ptr<HttpSession>>(found)->id);
  asked.responder->answer({.status = 200});
}

void McpEndpoint::tick(Clock::time_point now) {
  sessions_.tick(now);
  // A peer may find its client gone and leave the table while it is told.
  std::vector<std::shared_ptr<PostPeer>> open;
  open.reserve(open_.size());
  for (const auto& [key, entry] : open_) open.push_back(entry.peer);
  for (const auto& peer : open) peer->tick(now, limits_);
}

}  // namespace assay::mcp::http
