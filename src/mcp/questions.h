// What this server asks a legacy client in the course of a call: sent on the call's own stream, and
// answered by a response under an id that we chose. (A modern client is never asked: a call that
// needs something says so in its result.) ask() blocks a pool thread; the rest belongs to the event
// thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "mcp/event_loop.h"
#include "mcp/message.h"
#include "mcp/peer.h"

namespace assay::mcp {

class Questions {
 public:
  // Hands an encoded request to the call it belongs to; event thread. False: the call is over.
  using Send = std::function<bool(std::string message)>;

  explicit Questions(EventLoop& loop) : loop_(loop) {}

  // The client's result; nothing if it refuses, if nobody answers in time, or at a stop.
  [[nodiscard]] std::optional<Json> ask(const Session* session, const std::string& method,
                                        const OrderedJson& params, const std::stop_token& stop,
                                        std::chrono::milliseconds patience, Send send);
  // A response arrived. What nobody asked is ignored.
  void answered(const Session& session, const Response& response);

 private:
  struct Question {
    std::mutex mutex{};
    std::condition_variable_any changed{};
    bool settled = false;
    std::optional<Json> result{};
    void settle(std::optional<Json> with);
  };
  using Key = std::pair<const Session*, RequestId>;

  EventLoop& loop_;
  std::int64_t last_id_ = 0;
  std::map<Key, std::shared_ptr<Question>> open_{};
};

}  // namespace assay::mcp
