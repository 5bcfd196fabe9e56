// HTTP+SSE, the transport of revision 2024-11-05: a GET of /sse is the session and carries every
// answer; its first event names where to POST messages, which are only acknowledged there. Closing
// the GET ends the session and cancels what it asked for. Event thread only.
//
//   POST without a session id, of another type, or no message  400
//   POST to a session that is not there, or somebody else's    404
//   POST of a message                                          202
#pragma once

#include <map>
#include <memory>
#include <string>

#include "mcp/codec.h"
#include "mcp/dispatcher.h"
#include "mcp/http/http_config.h"
#include "mcp/http/responder.h"

namespace assay::mcp::http {

class SseEndpoint {
 public:
  // `dispatcher` must outlive this object.
  SseEndpoint(Dispatcher& dispatcher, HttpLimits limits);
  ~SseEndpoint();
  SseEndpoint(const SseEndpoint&) = delete;
  SseEndpoint& operator=(const SseEndpoint&) = delete;

  // A request of /sse.
  void open(const HttpRequest& request, const std::string& principal,
            const std::shared_ptr<Responder>& responder);
  // A request of /messages.
  void post(const HttpRequest& request, const std::string& principal, Responder& responder);
  void tick(Clock::time_point now);
  void stop();

  [[nodiscard]] std::size_t sessions() const { return peers_.size(); }

 private:
  class StreamPeer;

  void close(const std::string& id);

  Dispatcher& dispatcher_;
  const HttpLimits limits_;
  Decoder decoder_{};
  std::map<std::string, std::shared_ptr<StreamPeer>, std::less<>> peers_{};
};

}  // namespace assay::mcp::http
