// Where an answer goes. A transport hands over (message, peer): on stdio there is one peer for the
// whole run; over HTTP each exchange is a peer of its own and several may share a session.
// Everything here belongs to the event thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mcp/message.h"
#include "mcp/tool.h"

namespace assay::mcp {

// What a legacy client negotiated, and who it is. Request ids are unique within a session.
struct Session {
  std::string principal = "local";
  // Set by `initialize`, possibly more than once. Modern requests neither read nor write it.
  std::optional<Client> legacy_client{};
  // The least severe message a legacy client wants to hear.
  LogLevel log_level = LogLevel::info;
};

class Peer {
 public:
  virtual ~Peer() = default;
  [[nodiscard]] virtual Session& session() = 0;
  // One encoded message each, without the line feed. A dead peer swallows them.
  virtual void notify(std::string message) = 0;
  // The one answer to a request; `error` is its code if it is an error.
  virtual void answer(std::string message, std::optional<ErrorCode> error) = 0;
  // The request was cancelled: there will be no answer.
  virtual void leave_unanswered() {}
  // What is still to be said may take long: the client may hang up and come back for it, where the
  // transport and the revision have that.
  virtual void let_poll() {}
};

struct Incoming {
  Message message{};
  std::size_t bytes = 0;  // of the message as it arrived
  std::shared_ptr<Peer> peer{};
};

}  // namespace assay::mcp
