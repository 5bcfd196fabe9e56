#include "mcp/stdio_input.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace assay::mcp {
namespace {

constexpr std::size_t kReadBytes = std::size_t{64} << 10;

Message oversized(std::size_t max_bytes) {
  return Invalid{
      .error = {.code = ErrorCode::invalid_request,
                .message = "message larger than " + std::to_string(max_bytes) + " bytes"}};
}

}  // namespace

StdioInput::StdioInput(const OwnedFd& in, std::size_t max_message_bytes, EventQueue& queue,
                       std::shared_ptr<Peer> peer, Log log)
    : in_(in),
      queue_(queue),
      peer_(std::move(peer)),
      log_(std::move(log)),
      splitter_(
          max_message_bytes,
          [this](std::string_view line) { offer(decoder_.decode(line), line.size()); },
          [this, max_message_bytes] { offer(oversized(max_message_bytes), 0); }),
      ending_(OwnedFd::make_event()),
      thread_([this] { run(); }) {}

StdioInput::~StdioInput() {
  queue_.close();
  ending_.signal();
  thread_.join();
}

void StdioInput::offer(Message message, std::size_t bytes) {
  if (refused_) return;
  refused_ = !queue_.offer({.message = std::move(message), .bytes = bytes, .peer = peer_});
}

bool StdioInput::wait_for_bytes() const {
  std::array<pollfd, 2> waits{{{in_.get(), POLLIN, 0}, {ending_.get(), POLLIN, 0}}};
  while (::poll(waits.data(), waits.size(), -1) < 0)
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll the input");
  return waits[1].revents == 0;
}

void StdioInput::run() {
  try {
    std::vector<char> buffer(kReadBytes);
    while (!refused_ && wait_for_bytes()) {
      const ssize_t count = ::read(in_.get(), buffer.data(), buffer.size());
      if (count == 0) {
        splitter_.finish();
        break;
      }
      if (count > 0) {
        splitter_.feed({buffer.data(), static_cast<std::size_t>(count)});
      } else if (errno != EINTR && errno != EAGAIN) {
        // A peer that resets its socket has ended its input like one that closes it.
        if (log_)
          log_(Level::warning, "reading the input: " + std::generic_category().message(errno));
        break;
      }
    }
  } catch (const std::exception& exception) {
    if (log_) log_(Level::error, std::string("the reader ended: ") + exception.what());
  }
  queue_.end_input();
}

}  // namespace assay::mcp
