// Streamable HTTP: every revision from 2025-03-26 on behind one path. A modern request stands alone
// and ends when its client disconnects; a legacy one belongs to a session that `initialize` made.
// Which of both it is, is decided per request. A legacy stream whose connection broke is taken up
// again by a GET that names the last event received. Event thread only; knows no sockets.
//
// Besides what envelope_check.h refuses:
//   a method that is none of GET, POST, DELETE, OPTIONS    405
//   a body that is not declared as JSON                    415, -32000
//   no message in the body                                 400, -32700 or -32600
//   more is owed to clients than the server can hold       503, -32000
//   subscriptions/listen by who takes no stream            406, -32000
// and in the legacy era:
//   Accept is missing or does not admit both kinds         406, -32000
//   a revision in the header that nobody speaks            400, -32000
//   no session header                                      400, -32000
//   a session that is not there, or somebody else's        404, -32001
//   a second `initialize`, a batch where there are none    400, -32600
//   a second GET                                           409, -32000
//   Last-Event-ID: no event of this session, or one whose stream has been forgotten since
//                                                          400, -32000
//   Last-Event-ID: the stream is over, and that was all    204
//   notifications and responses                            202
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/codec.h"
#include "mcp/dispatcher.h"
#include "mcp/http/http_config.h"
#include "mcp/http/post_peer.h"
#include "mcp/http/refusal.h"
#include "mcp/http/responder.h"
#include "mcp/http/sessions.h"

namespace assay::mcp::http {

class McpEndpoint {
 public:
  // `dispatcher` must outlive this object.
  McpEndpoint(Dispatcher& dispatcher, HttpLimits limits, std::size_t max_pending_bytes);
  McpEndpoint(const McpEndpoint&) = delete;
  McpEndpoint& operator=(const McpEndpoint&) = delete;

  void handle(HttpRequest request, const std::string& principal,
              const std::shared_ptr<Responder>& responder);
  void tick(Clock::time_point now);
  // Closes every stream that a session holds open.
  void stop() { sessions_.end_all(); }

  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] std::size_t open_exchanges() const { return open_.size(); }

 private:
  struct Asked {
    HttpRequest http{};
    std::string principal{};
    std::shared_ptr<Responder> responder{};
  };
  struct Open {
    std::shared_ptr<PostPeer> peer{};
    std::shared_ptr<HttpSession> session{};  // null in the modern era
  };
  using FoundSession = std::variant<std::shared_ptr<HttpSession>, Refusal>;

  void post(const Asked& asked);
  void post_request(Request request, const Asked& asked);
  void post_modern(Request request, const Asked& asked);
  void post_initialize(Request request, const Asked& asked);
  void post_legacy(Body body, const Asked& asked);
  void get(const Asked& asked);
  // The rest of a stream of this session, for a client that has lost its connection.
  void take_up(const Asked& asked, const HttpSession& session, std::string_view last_event);
  // Who still speaks on this stream; null: it is over.
  [[nodiscard]] std::shared_ptr<PostPeer> peer_of(const HttpSession& session,
                                                  std::uint64_t stream) const;
  void end_session(const Asked& asked);

  // What stands against any legacy POST, apart from its session.
  [[nodiscard]] static std::optional<Refusal> check_legacy(const HttpRequest& http);
  [[nodiscard]] static std::optional<Refusal> check_version(const HttpRequest& http);
  [[nodiscard]] FoundSession session_of(const Asked& asked);
  // Hands the messages over; the peer answers from now on.
  void dispatch(std::vector<Message> messages, const Asked& asked,
                const std::shared_ptr<PostPeer>& peer, std::shared_ptr<HttpSession> session);
  void exchange_done(const PostPeer& peer);

  Dispatcher& dispatcher_;
  const HttpLimits limits_;
  const std::size_t max_pending_bytes_;
  Decoder decoder_{};
  Sessions sessions_;
  std::map<const PostPeer*, Open> open_{};
};

}  // namespace assay::mcp::http
