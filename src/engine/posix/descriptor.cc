#include "engine/posix/descriptor.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace assay::posix {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Descriptor::~Descriptor() { reset(); }

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Descriptor Descriptor::duplicate() const {
  const int copy = ::fcntl(fd_, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) fail("duplicate descriptor");
  return Descriptor(copy);
}

Pair make_socket_pair() {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) fail("socketpair");
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

Pair make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) fail("pipe2");
  return {Descriptor(fds[0]), Descriptor(fds[1])};
}

Descriptor make_event() {
  const int fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (fd < 0) fail("eventfd");
  return Descriptor(fd);
}

void signal_event(const Descriptor& event) noexcept {
  const std::uint64_t one = 1;
  // A full counter is readable already, which is all that is wanted.
  [[maybe_unused]] const auto written = ::write(event.get(), &one, sizeof one);
}

SharedMemory SharedMemory::create(const char* name, std::size_t bytes) {
  Descriptor memfd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memfd) fail("memfd_create");
  if (::ftruncate(memfd.get(), static_cast<off_t>(bytes)) != 0) fail("size of shared memory");
  if (::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    fail("seal shared memory");
  }
  return adopt(std::move(memfd), bytes);
}

SharedMemory SharedMemory::adopt(Descriptor memfd, std::size_t bytes) {
  struct stat status {};
  if (::fstat(memfd.get(), &status) != 0) fail("fstat shared memory");
  if (static_cast<std::size_t>(status.st_size) != bytes) {
    throw std::runtime_error("shared memory has " + std::to_string(status.st_size) +
                             " bytes, expected " + std::to_string(bytes));
  }
  const int seals = ::fcntl(memfd.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    throw std::runtime_error("shared memory is not sealed against shrinking");
  }
  SharedMemory memory;
  memory.memfd_ = std::move(memfd);
  memory.size_ = bytes;
  if (bytes > 0) {
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.memfd_.get(), 0);
    if (data == MAP_FAILED) fail("map shared memory");
    memory.data_ = static_cast<std::byte*>(data);
  }
  return memory;
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : memfd_(std::move(other.memfd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(memfd_, other.memfd_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace assay::posix
