#include "mcp/http/post_peer.h"

#include <utility>

#include "mcp/http/event_stream.h"
#include "mcp/http/refusal.h"

namespace assay::mcp::http {

PostPeer::PostPeer(std::shared_ptr<Session> session, std::shared_ptr<Responder> responder,
                   Terms terms)
    : session_(std::move(session)),
      responder_(std::move(responder)),
      terms_(terms),
      open_requests_(terms.requests) {}

void PostPeer::notify(std::string message) {
  if (!responder_ || !terms_.streams) return;
  open_stream();
  say(message);
}

void PostPeer::answer(std::string message, std::optional<ErrorCode> error) {
  if (responder_ && streaming_) {
    say(message);
  } else {
    status_ = status_of(terms_.era, error);
    if (error) fields_.clear();
    answers_.push_back(std::move(message));
  }
  one_less();
}

void PostPeer::leave_unanswered() { one_less(); }

void PostPeer::tick(Clock::time_point now, const HttpLimits& limits) {
  if (!responder_ || !terms_.streams || done()) return;
  if (now - last_said_ < (streaming_ ? limits.keep_alive : limits.silence)) return;
  open_stream();
  responder_->write(keep_alive_comment());
  last_said_ = now;
}

void PostPeer::open_stream() {
  if (std::exchange(streaming_, true)) return;
  Fields fields = event_stream_fields();
  for (Field& field : fields_) fields.push_back(std::move(field));
  responder_->open_stream(std::move(fields));
  // Answers of a batch that were waiting for the rest.
  for (const std::string& waiting : std::exchange(answers_, {})) say(waiting);
}

void PostPeer::say(std::string_view message) {
  responder_->write(event("message", message));
  last_said_ = Clock::now();
}

void PostPeer::one_less() {
  if (open_requests_ == 0 || --open_requests_ > 0) return;
  const std::shared_ptr<Responder> responder = responder_;
  if (responder && !streaming_) answer_as_json();
  if (responder && streaming_) responder->finish();
  responder_.reset();
  if (const auto then = std::exchange(done_, nullptr)) then(*this);
}

void PostPeer::answer_as_json() {
  if (answers_.empty()) {
    // Everything was cancelled: a stream without an event, or nothing at all.
    if (terms_.streams) return open_stream();
    return responder_->answer({.status = 204, .fields = std::move(fields_)});
  }
  std::string body;
  if (!terms_.batch) {
    body = std::move(answers_.front());
  } else {
    for (const std::string& answer : answers_) body.append(body.empty() ? "[" : ",").append(answer);
    body.push_back(']');
  }
  responder_->answer({.status = terms_.batch ? 200 : status_,
                      .content_type = "application/json",
                      .body = std::move(body),
                      .fields = std::move(fields_)});
}

}  // namespace assay::mcp::http
