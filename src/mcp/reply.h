// The duty to answer one request: move-only, and fulfilled exactly once. A Reply that is destroyed
// unanswered answers -32603 itself and logs it, because a client that waits for ever is worse than
// one that is told of our bug. A cancelled request's reply is disarmed: whatever it is given is
// dropped. Event thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "mcp/log.h"
#include "mcp/message.h"
#include "mcp/peer.h"

namespace assay::mcp {

// What a Reply and the in-flight table both hold of a request.
struct Exchange {
  std::shared_ptr<Peer> peer{};
  RequestId id{};
  bool open = true;
  // Called once, when the exchange closes by an answer.
  std::function<void()> closed{};
};

class [[nodiscard]] Reply {
 public:
  Reply(std::shared_ptr<Exchange> exchange, Log log);
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&& other) noexcept;
  Reply(const Reply&) = delete;
  Reply& operator=(const Reply&) = delete;
  ~Reply();

  // `result_text` is the encoded result member.
  void result(std::string_view result_text);
  void error(const RpcError& error);
  // A notification that belongs to this request; dropped once the request is answered or cancelled.
  void notify(std::string message) const;
  // The client need not hold a connection until then.
  void let_poll() const;

  // REQUIRES: not moved from.
  [[nodiscard]] const RequestId& id() const { return exchange_->id; }
  [[nodiscard]] bool open() const { return exchange_ && exchange_->open; }

 private:
  void finish(std::string message, std::optional<ErrorCode> error);
  void abandon();

  std::shared_ptr<Exchange> exchange_;
  Log log_;
};

}  // namespace assay::mcp
