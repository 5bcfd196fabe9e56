#include "engine/frames/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace assay::frames {
namespace {

constexpr std::uint32_t kMagic = 0x31595341;  // "ASY1"
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kMaxDescriptorsPerMessage = 16;

struct Header {
  std::uint32_t magic = kMagic;
  std::uint32_t body_bytes = 0;
  std::uint64_t blob_bytes = 0;
  std::uint32_t descriptors = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Header) == kHeaderBytes);

bool is_too_deep(std::string_view body, std::size_t most) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      if (++depth > most) return true;
    } else if (!quoted && (c == '}' || c == ']') && depth > 0) {
      --depth;
    }
  }
  return false;
}

std::string encode(const Frame& frame) {
  // A runner's output may hold any bytes: replace what is no UTF-8 rather than lose the frame.
  const std::string body =
      frame.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const Header header{.body_bytes = static_cast<std::uint32_t>(body.size()),
                      .blob_bytes = frame.blob.size(),
                      .descriptors = static_cast<std::uint32_t>(frame.descriptors.size())};
  std::string bytes(kHeaderBytes, '\0');
  std::memcpy(bytes.data(), &header, kHeaderBytes);
  bytes += body;
  bytes += frame.blob;
  return bytes;
}

void wait_for(int fd, short events) {
  pollfd entry{fd, events, 0};
  while (::poll(&entry, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string Frame::type() const {
  const auto found = body.find("type");
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Channel::Channel(posix::Descriptor stream, Caps caps, bool passes_descriptors)
    : stream_(std::move(stream)), caps_(caps), passes_descriptors_(passes_descriptors) {
  if (!stream_.valid()) return;
  const int flags = ::fcntl(stream_.get(), F_GETFL);
  ::fcntl(stream_.get(), F_SETFL, flags | O_NONBLOCK);
}

void Channel::fail(std::string why) {
  state_ = State::malformed;
  complaint_ = std::move(why);
  pending_.clear();
  received_.clear();
}

long Channel::read_some(char* into, std::size_t room) {
  if (!passes_descriptors_) return ::read(stream_.get(), into, room);
  iovec part{into, room};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptorsPerMessage * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const long got = ::recvmsg(stream_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof fd);
      received_.emplace_back(fd);
    }
  }
  // A flood of descriptors must not exhaust ours: none beyond one frame's worth may wait.
  if ((message.msg_flags & MSG_CTRUNC) != 0 || received_.size() > 2 * caps_.descriptors) {
    fail("more descriptors than a frame may carry");
  }
  return got;
}

void Channel::read_available() {
  std::array<char, 65536> block;
  while (state_ == State::open) {
    const long got = read_some(block.data(), block.size());
    if (state_ != State::open) return;
    if (got > 0) {
      pending_.append(block.data(), static_cast<std::size_t>(got));
      take_frames();
      if (!ready_.empty()) return;  // let the owner act before more is read
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    // A reset connection is an end like any other: what matters is the frame that did not come.
    if (!pending_.empty()) {
      fail("the stream ended inside a frame");
    } else {
      state_ = State::ended;
    }
  }
}

void Channel::take_frames() {
  while (pending_.size() >= kHeaderBytes) {
    Header header;
    std::memcpy(&header, pending_.data(), kHeaderBytes);
    if (header.magic != kMagic || header.reserved != 0) return fail("not a frame");
    if (header.body_bytes > caps_.body_bytes) return fail("frame body larger than its cap");
    if (header.blob_bytes > caps_.blob_bytes) return fail("frame blob larger than its cap");
    if (header.descriptors > caps_.descriptors) return fail("too many descriptors in a frame");
    const std::size_t blob_bytes = static_cast<std::size_t>(header.blob_bytes);
    const std::size_t total = kHeaderBytes + header.body_bytes + blob_bytes;
    if (pending_.size() < total) {
      pending_.reserve(total);
      return;
    }
    Frame frame;
    const char* body = pending_.data() + kHeaderBytes;
    if (is_too_deep({body, header.body_bytes}, caps_.depth))
      return fail("frame body nested too deeply");
    frame.body = nlohmann::json::parse(body, body + header.body_bytes, nullptr, false);
    if (!frame.body.is_object()) return fail("frame body is not a JSON object");
    frame.blob.assign(body + header.body_bytes, blob_bytes);
    if (received_.size() < header.descriptors) return fail("descriptors missing from a frame");
    for (std::uint32_t i = 0; i < header.descriptors; ++i) {
      frame.descriptors.push_back(std::move(received_.front()));
      received_.pop_front();
    }
    pending_.erase(0, total);
    ready_.push_back(std::move(frame));
  }
}

std::optional<Frame> Channel::next() {
  if (ready_.empty()) return std::nullopt;
  Frame frame = std::move(ready_.front());
  ready_.pop_front();
  return frame;
}

void Channel::queue(Frame frame) {
  Outgoing out{.bytes = encode(frame), .descriptors = std::move(frame.descriptors)};
  outgoing_.push_back(std::move(out));
}

long Channel::write_some(Outgoing& frame) {
  const char* from = frame.bytes.data() + frame.written;
  const std::size_t left = frame.bytes.size() - frame.written;
  if (!passes_descriptors_) return ::write(stream_.get(), from, left);
  iovec part{const_cast<char*>(from), left};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptorsPerMessage * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (frame.written == 0 && !frame.descriptors.empty()) {
    const std::size_t count = std::min(frame.descriptors.size(), kMaxDescriptorsPerMessage);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) {
      const int fd = frame.descriptors[i].get();
      std::memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof fd);
    }
  }
  return ::sendmsg(stream_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void Channel::flush() {
  while (!outgoing_.empty()) {
    Outgoing& frame = outgoing_.front();
    const long wrote = write_some(frame);
    if (wrote < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      outgoing_.clear();  // the peer is gone: reading says so, with what it still sent before
      return;
    }
    frame.written += static_cast<std::size_t>(wrote);
    if (frame.written == frame.bytes.size()) outgoing_.pop_front();
  }
}

std::optional<Frame> Channel::receive() {
  for (;;) {
    if (auto frame = next()) return frame;
    if (state_ != State::open) return std::nullopt;
    wait_for(stream_.get(), POLLIN);
    read_available();
  }
}

void Channel::send(Frame frame) {
  queue(std::move(frame));
  for (;;) {
    flush();
    if (!wants_write()) return;
    wait_for(stream_.get(), POLLOUT);
  }
}

}  // namespace assay::frames
