// A server to talk to in lines, whatever carries them. Used by one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay::transcripts {

class Endpoint {
 public:
  Endpoint() = default;
  virtual ~Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // One message and a line feed, or several. A server that has gone swallows it.
  virtual void send(std::string_view bytes) = 0;
  virtual void close_input() = 0;
  // The next message; nothing if none comes within `patience` or the server has gone.
  [[nodiscard]] virtual std::optional<std::string> receive(std::chrono::milliseconds patience) = 0;
  // Says goodbye and waits for the server. Empty: it ended well.
  [[nodiscard]] virtual std::string finish(std::chrono::milliseconds patience) = 0;
};

}  // namespace assay::transcripts
