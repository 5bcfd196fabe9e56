#include "mcp/owned_fd.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace assay::mcp {

void OwnedFd::reset() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

OwnedFd OwnedFd::duplicate_of(int fd) {
  OwnedFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  if (!copy) throw std::system_error(errno, std::generic_category(), "duplicate a descriptor");
  return copy;
}

OwnedFd OwnedFd::make_event() {
  OwnedFd event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) throw std::system_error(errno, std::generic_category(), "eventfd");
  return event;
}

void OwnedFd::signal() const noexcept {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then it is readable already.
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof one);
}

void OwnedFd::drain() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(fd_, &count, sizeof count);
}

}  // namespace assay::mcp
