// A file descriptor that closes itself: move-only, empty is -1. This room stands beside the
// engine's and uses none of it, hence its own. Not synchronised; its owner decides which thread
// uses it.
#pragma once

#include <utility>

namespace assay::mcp {

class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  OwnedFd(const OwnedFd&) = delete;
  OwnedFd& operator=(const OwnedFd&) = delete;
  ~OwnedFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void reset() noexcept;

  // A close-on-exec duplicate above the standard descriptors. Throws std::system_error.
  [[nodiscard]] static OwnedFd duplicate_of(int fd);
  // A non-blocking eventfd: signal() makes it readable, drain() unreadable again.
  [[nodiscard]] static OwnedFd make_event();
  void signal() const noexcept;
  void drain() const noexcept;

 private:
  int fd_ = -1;
};

}  // namespace assay::mcp
