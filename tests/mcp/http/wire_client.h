// A TCP client that says exactly what it is told to and reads HTTP answers in the simplest way: the
// other side of the wire, written without the server's code. Blocking, with a limit on every wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "mcp/owned_fd.h"

namespace assay::mcp::http {

struct WireAnswer {
  int status = 0;
  std::map<std::string, std::string> fields{};  // names in lower case
  std::string body{};                           // chunks put together
};

class WireClient {
 public:
  explicit WireClient(std::uint16_t port);

  void send(std::string_view bytes) const;
  // A whole answer; nothing if it does not come, or not whole.
  [[nodiscard]] std::optional<WireAnswer> receive();
  // The head only: the body of a stream is read by read_some().
  [[nodiscard]] std::optional<WireAnswer> receive_head();
  // The next chunk of a body that comes in chunks; empty: the last one; nothing: it did not come.
  [[nodiscard]] std::optional<std::string> next_chunk();
  // Ends what another thread waits for here.
  void abort() const;
  // Whatever comes next; empty: nothing came, or the end.
  [[nodiscard]] std::string read_some();
  // The server has closed the connection.
  [[nodiscard]] bool at_end();
  void close() { socket_.reset(); }
  void close_sending() const;
  // The end will be a reset instead of an orderly one.
  void reset();

 private:
  [[nodiscard]] bool fill();
  [[nodiscard]] std::optional<std::string> take(std::size_t count);
  [[nodiscard]] std::optional<std::string> take_line();

  OwnedFd socket_{};
  std::string received_{};
  bool ended_ = false;
};

// "POST path" with a body and the fields that every request of these tests has.
[[nodiscard]] std::string post_text(std::string_view path, std::string_view body,
                                    std::string_view more_fields = {});

}  // namespace assay::mcp::http
