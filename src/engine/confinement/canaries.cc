#include "engine/confinement/canaries.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace assay::confinement {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

std::string make_folder(const std::string& where) {
  std::string name = where + "/assay-canary-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) fail("folder of the self-test");
  return name;
}

// A machine without a network has no loopback either; then there is nothing to be reached.
posix::Descriptor bind_loopback(int type, std::uint16_t& port) {
  posix::Descriptor socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* where = reinterpret_cast<sockaddr*>(&address);
  if (socket && ::bind(socket.get(), where, length) == 0 &&
      ::getsockname(socket.get(), where, &length) == 0) {
    port = ntohs(address.sin_port);
    if (type == SOCK_STREAM) ::listen(socket.get(), 1);
  }
  return socket;
}

posix::Descriptor bind_unix(const std::string& name, bool abstract) {
  posix::Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t offset = abstract ? 1 : 0;
  if (!socket || name.size() + offset >= sizeof address.sun_path) fail("socket of the self-test");
  std::memcpy(address.sun_path + offset, name.data(), name.size());
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + name.size());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::listen(socket.get(), 1) != 0) {
    fail("socket of the self-test");
  }
  return socket;
}

void write_secret(const std::string& path) {
  const posix::Descriptor file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), "secret", 6) != 6) fail("secret of the self-test");
}

}  // namespace

Canaries::Canaries(const std::string& folder) {
  targets_.supervisor = ::getpid();
  targets_.folder = make_folder(folder);
  targets_.secret = targets_.folder + "/secret";
  const std::string unique = std::filesystem::path(targets_.folder).filename();
  targets_.path_socket = targets_.folder + "/control";
  targets_.abstract_socket = unique;
  targets_.planted_socket = "/tmp/" + unique + "-planted";
  targets_.environment = {"PATH", "LANG", "HOME", "TMPDIR", "ASAN_OPTIONS", "TSAN_OPTIONS"};
  try {
    write_secret(targets_.secret);
    listen_everywhere();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(targets_.folder, ignored);
    throw;
  }
  targets_.shared_memory_id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
}

void Canaries::listen_everywhere() {
  tcp_ = bind_loopback(SOCK_STREAM, targets_.tcp_port);
  udp_ = bind_loopback(SOCK_DGRAM, targets_.udp_port);
  path_ = bind_unix(targets_.path_socket, false);
  abstract_ = bind_unix(targets_.abstract_socket, true);
}

Canaries::~Canaries() {
  if (targets_.shared_memory_id >= 0) ::shmctl(targets_.shared_memory_id, IPC_RMID, nullptr);
  ::unlink(targets_.planted_socket.c_str());
  std::error_code ignored;
  std::filesystem::remove_all(targets_.folder, ignored);
}

bool Canaries::socket_was_planted() const {
  return ::access(targets_.planted_socket.c_str(), F_OK) == 0;
}

}  // namespace assay::confinement
