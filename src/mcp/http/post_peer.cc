#include "mcp/http/post_peer.h"

#include <utility>

#include "mcp/http/event_stream.h"
#include "mcp/http/refusal.h"

namespace assay::mcp::http {

PostPeer::PostPeer(std::shared_ptr<Session> session, std::shared_ptr<Responder> responder,
                   Terms terms)
    : session_(std::move(session)),
      responder_(std::move(responder)),
      terms_(std::move(terms)),
      open_requests_(terms_.requests) {}

void PostPeer::notify(std::string message) {
  // Before its stream has begun, a client that went has no id to come back with.
  if (!terms_.streams || (!responder_ && !stream_)) return;
  open_stream();
  say(message);
}

void PostPeer::answer(std::string message, std::optional<ErrorCode> error) {
  if (streaming_) {
    say(message);
  } else {
    status_ = status_of(terms_.era, error);
    if (error) fields_.clear();
    answers_.push_back(std::move(message));
  }
  one_less();
}

void PostPeer::leave_unanswered() { one_less(); }

void PostPeer::let_poll() {
  if (!responder_ || !terms_.kept || !terms_.retry || done()) return;
  open_stream();
  if (const auto responder = std::exchange(responder_, nullptr)) responder->finish();
}

void PostPeer::take_up(const std::shared_ptr<Responder>& responder,
                       const std::vector<std::string>& rest) {
  const std::shared_ptr<Responder> old = std::exchange(responder_, responder);
  begin_stream(*responder, rest);
  last_said_ = Clock::now();
  // Last: what has waited on its connection is served now.
  if (old) old->finish();
}

void PostPeer::tick(Clock::time_point now, const HttpLimits& limits) {
  if (!responder_ || !terms_.streams || done()) return;
  if (now - last_said_ < (streaming_ ? limits.keep_alive : limits.silence)) return;
  open_stream();
  if (responder_) responder_->write(keep_alive_comment());
  last_said_ = now;
}

void PostPeer::send_head() {
  streaming_ = true;
  Fields fields = event_stream_fields();
  for (Field& field : fields_) fields.push_back(std::move(field));
  responder_->open_stream(std::move(fields));
}

void PostPeer::open_stream() {
  if (streaming_) return;
  send_head();
  if (terms_.kept) stream_ = terms_.kept->open();
  // Any write may find out that the client has gone.
  if (responder_ && stream_ && terms_.retry)
    responder_->write(priming_event(text({.stream = *stream_}), *terms_.retry));
  // Answers of a batch that were waiting for the rest.
  for (const std::string& waiting : std::exchange(answers_, {})) say(waiting);
}

void PostPeer::say(std::string_view message) {
  last_said_ = Clock::now();
  if (stream_) {
    std::string numbered = terms_.kept->add(*stream_, message, last_said_);
    if (responder_) responder_->write(std::move(numbered));
  } else if (responder_) {
    responder_->write(event("message", message));
  }
}

void PostPeer::one_less() {
  if (open_requests_ == 0 || --open_requests_ > 0) return;
  const std::shared_ptr<Responder> responder = responder_;
  // An error has its status to tell, whatever its form.
  if (responder && !streaming_ && !terms_.takes_json && status_ == 200) open_stream();
  if (responder && !streaming_) answer_as_json();
  if (stream_) terms_.kept->close(*stream_, Clock::now());
  if (responder && streaming_) responder->finish();
  responder_.reset();
  if (const auto then = std::exchange(done_, nullptr)) then(*this);
}

void PostPeer::answer_as_json() {
  if (answers_.empty()) {
    // Everything was cancelled: a stream without an event, or nothing at all.
    if (terms_.streams) return send_head();
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
