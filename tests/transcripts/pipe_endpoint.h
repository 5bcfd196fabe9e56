// A server to talk to over two descriptors: one in this process with a made-up tool set, or any
// command. Used by one thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "mcp/owned_fd.h"
#include "mcp/server.h"
#include "tests/transcripts/endpoint.h"

namespace assay::transcripts {

class PipeEndpoint final : public Endpoint {
 public:
  // A server in this process that serves `config` on a thread.
  explicit PipeEndpoint(mcp::ServerConfig config);
  // A command (looked up in PATH), its stdin and stdout connected, its stderr inherited.
  explicit PipeEndpoint(const std::vector<std::string>& command);
  ~PipeEndpoint() override;

  // Everything, whatever is received meanwhile. A server that has gone swallows it.
  void send(std::string_view bytes) override;
  void close_input() override { to_server_.reset(); }
  // The next line; nothing if none comes within `patience` or the server has closed its output.
  [[nodiscard]] std::optional<std::string> receive(std::chrono::milliseconds patience) override;
  // Closes both directions and waits for the server. Empty: it ended well.
  [[nodiscard]] std::string finish(std::chrono::milliseconds patience) override;

 private:
  // Reads what is there; false after `patience` or at the end.
  bool read_more(std::chrono::milliseconds patience);

  mcp::OwnedFd to_server_{};
  mcp::OwnedFd from_server_{};
  std::string received_{};
  bool output_closed_ = false;
  pid_t child_ = -1;
  std::stop_source stop_{};
  std::thread thread_{};
};

}  // namespace assay::transcripts
