#include "mcp/stdio_output.h"

#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace assay::mcp {

StdioOutput::StdioOutput(const OwnedFd& out) : out_(out) {
  struct stat status {};
  is_socket_ = ::fstat(out.get(), &status) == 0 && S_ISSOCK(status.st_mode);
}

void StdioOutput::send(std::string line) {
  if (broken_) return;
  line.push_back('\n');
  pending_bytes_ += line.size();
  lines_.push_back(std::move(line));
  flush();
}

void StdioOutput::flush() {
  while (!broken_ && !lines_.empty()) {
    const std::string& line = lines_.front();
    const long count = write_some(line.data() + written_of_first_, line.size() - written_of_first_);
    if (count < 0) break_off();
    if (count <= 0) return;
    written_of_first_ += static_cast<std::size_t>(count);
    pending_bytes_ -= static_cast<std::size_t>(count);
    if (written_of_first_ < line.size()) continue;
    lines_.pop_front();
    written_of_first_ = 0;
  }
}

void StdioOutput::break_off() {
  broken_ = true;
  lines_.clear();
  pending_bytes_ = 0;
  written_of_first_ = 0;
}

// The descriptor is not made non-blocking, because its open file may be shared with a terminal or a
// shell. A socket has a flag per call; anything else that polls writable takes PIPE_BUF bytes
// without blocking.
long StdioOutput::write_some(const char* data, std::size_t size) const {
  ssize_t count = -1;
  if (is_socket_) {
    count = ::send(out_.get(), data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  } else {
    pollfd ready{out_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0 || (ready.revents & (POLLOUT | POLLERR)) == 0) return 0;
    count = ::write(out_.get(), data, std::min<std::size_t>(size, PIPE_BUF));
  }
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
}

}  // namespace assay::mcp
