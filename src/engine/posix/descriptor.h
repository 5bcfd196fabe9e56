// A file descriptor that closes itself. Value-like ownership: move-only, empty is -1. Any thread
// may own one; nothing here is synchronised. Every descriptor the project opens is close-on-exec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace assay::posix {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  // Gives the descriptor away; the caller closes it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset();
  // A second descriptor for the same open file, close-on-exec. Throws std::system_error.
  [[nodiscard]] Descriptor duplicate() const;

 private:
  int fd_ = -1;
};

struct Pair {
  Descriptor ours{};
  Descriptor theirs{};
};

// All throw std::system_error: running out of descriptors is our failure, never a verdict.
[[nodiscard]] Pair make_socket_pair();  // AF_UNIX stream: carries descriptors too
[[nodiscard]] Pair make_pipe();         // ours = read end, theirs = write end
[[nodiscard]] Descriptor
make_event();  // eventfd, non-blocking: signal() makes it readable for ever
void signal_event(const Descriptor& event) noexcept;

// A memfd of exactly `bytes` bytes, sealed against growing and shrinking, mapped while the object
// lives. The peer that receives the descriptor maps the same pages.
class SharedMemory {
 public:
  SharedMemory() = default;
  [[nodiscard]] static SharedMemory create(const char* name, std::size_t bytes);
  // Maps what a peer sent. Throws std::runtime_error if its size is not `bytes` or it could still
  // shrink (a peer that shrinks it later would make us die of SIGBUS).
  [[nodiscard]] static SharedMemory adopt(Descriptor memfd, std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const Descriptor& descriptor() const { return memfd_; }

 private:
  Descriptor memfd_{};
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace assay::posix
