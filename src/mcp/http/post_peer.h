// The peer of one POST: gathers what its requests are answered and decides how that is sent. One
// JSON text if every answer comes soon and nothing is said before; a stream from the first
// notification, or when nothing has been said for a while, so that it can be kept alive.
//
// It lives until its last answer. In a session whose revision has them, the events of its stream
// are numbered and kept: a client that has gone may take the stream up again. Otherwise what is
// said after the client has gone is dropped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mcp/event_loop.h"
#include "mcp/http/http_config.h"
#include "mcp/http/kept_events.h"
#include "mcp/http/responder.h"
#include "mcp/peer.h"
#include "mcp/revision.h"

namespace assay::mcp::http {

class PostPeer final : public Peer {
 public:
  struct Terms {
    Era era = Era::modern;
    // The client can read a stream.
    bool streams = true;
    // The client can read plain JSON; if not, a result is a stream of one event.
    bool takes_json = true;
    // The body was a batch: so is the answer.
    bool batch = false;
    std::size_t requests = 1;
    // Keeps what the stream says; null: it cannot be taken up again.
    std::shared_ptr<KeptEvents> kept{};
    // The stream begins by saying when to come back, so that the client can be asked to; nothing:
    // the revision does not know that.
    std::optional<std::chrono::milliseconds> retry{};
  };

  PostPeer(std::shared_ptr<Session> session, std::shared_ptr<Responder> responder, Terms terms);

  Session& session() override { return *session_; }
  void notify(std::string message) override;
  void answer(std::string message, std::optional<ErrorCode> error) override;
  void leave_unanswered() override;
  void let_poll() override;

  // Goes with the head of the answer, unless that is an error.
  void send_with_result(Field field) { fields_.push_back(std::move(field)); }
  // `then` is called once, when nothing is owed any more.
  void when_done(std::function<void(const PostPeer&)> then) { done_ = std::move(then); }
  // The client has gone: nothing more is said, until it is there again.
  void lose_client() { responder_.reset(); }
  // The client is there again, on a connection of its own. One that is still open ends: it may have
  // broken without a word. `rest`: what the client has missed.
  void take_up(const std::shared_ptr<Responder>& responder, const std::vector<std::string>& rest);
  // Called every now and then: opens the stream of a silent request, keeps a silent stream alive.
  void tick(Clock::time_point now, const HttpLimits& limits);

  [[nodiscard]] bool done() const { return open_requests_ == 0; }
  // The number of its stream, if that can be taken up again.
  [[nodiscard]] std::optional<std::uint64_t> stream() const { return stream_; }

 private:
  void send_head();
  void open_stream();
  void say(std::string_view message);
  void one_less();
  void answer_as_json();

  std::shared_ptr<Session> session_;
  std::shared_ptr<Responder> responder_;
  const Terms terms_;
  std::size_t open_requests_;
  bool streaming_ = false;
  std::optional<std::uint64_t> stream_{};
  int status_ = 200;
  Fields fields_{};
  std::function<void(const PostPeer&)> done_{};
  std::vector<std::string> answers_{};
  Clock::time_point last_said_ = Clock::now();
};

}  // namespace assay::mcp::http
