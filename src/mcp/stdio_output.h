// The writer: whole lines, in order, never blocking the event thread. What the client does not take
// yet waits here. Once a write fails for good the output is broken and swallows everything.
// Event thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "mcp/owned_fd.h"

namespace assay::mcp {

class StdioOutput {
 public:
  // `out` must outlive this object and have no other writer.
  explicit StdioOutput(const OwnedFd& out);

  // Adds the line feed, and writes at once what can be written.
  void send(std::string line);
  // Writes what can be written now.
  void flush();
  void break_off();

  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] bool empty() const { return lines_.empty(); }
  [[nodiscard]] std::size_t pending_bytes() const { return pending_bytes_; }
  [[nodiscard]] int fd() const { return out_.get(); }

 private:
  // Bytes written; 0: not now; -1: never again.
  [[nodiscard]] long write_some(const char* data, std::size_t size) const;

  const OwnedFd& out_;
  bool is_socket_ = false;
  bool broken_ = false;
  std::deque<std::string> lines_{};
  std::size_t written_of_first_ = 0;
  std::size_t pending_bytes_ = 0;
};

}  // namespace assay::mcp
