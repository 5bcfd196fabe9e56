#include "engine/confinement/notices.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace assay::confinement {

posix::Pair make_notice_line() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw SetupFailure("keeper", "socketpair", errno);
  }
  posix::Pair line{posix::Descriptor(ends[0]), posix::Descriptor(ends[1])};
  const int on = 1;
  if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    throw SetupFailure("keeper", "SO_PASSCRED", errno);
  }
  return line;
}

void send_notice(const posix::Descriptor& line, const Notice& notice) noexcept {
  static_cast<void>(::send(line.get(), &notice, sizeof notice, MSG_NOSIGNAL));
}

std::optional<ReceivedNotice> next_notice(const posix::Descriptor& line) {
  ReceivedNotice received;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  iovec into{.iov_base = &received.notice, .iov_len = sizeof received.notice};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto length = ::recvmsg(line.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (length != static_cast<ssize_t>(sizeof received.notice)) return std::nullopt;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_CREDENTIALS) {
    ucred sender{};
    std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
    received.sender = sender.pid;
  }
  return received;
}

bool wait_to_proceed(const posix::Descriptor& line) {
  Notice notice;
  ssize_t length = 0;
  do {
    length = ::recv(line.get(), &notice, sizeof notice, 0);
  } while (length < 0 && errno == EINTR);
  return length == static_cast<ssize_t>(sizeof notice) && notice.kind == Notice::Kind::proceed;
}

// A peer that died before it had read every notice leaves ECONNRESET, not an end of the line: what
// is neither a notice nor "not yet" is an end.
bool peer_is_gone(const posix::Descriptor& line) {
  char byte = 0;
  ssize_t length = 0;
  do {
    length = ::recv(line.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  } while (length < 0 && errno == EINTR);
  return length == 0 || (length < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
}

}  // namespace assay::confinement
