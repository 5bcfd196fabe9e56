#include "engine/confinement/canaries.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>

namespace assay::confinement {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "assay-canary-";
constexpr std::string_view kPlanted = "-planted";
// Between a folder's making and its lock.
constexpr std::time_t kGraceSeconds = 60;

posix::Descriptor open_folder(const std::string& path) {
  return posix::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// Whoever made it is dead: its lock is gone.
bool is_left(const std::string& path) {
  const posix::Descriptor folder = open_folder(path);
  struct stat about {};
  return folder && ::fstat(folder.get(), &about) == 0 && about.st_uid == ::geteuid() &&
         about.st_mtime + kGraceSeconds < std::time(nullptr) &&
         ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

// A server that was killed in its first moments could not.
void remove_what_was_left(const std::string& where) {
  std::error_code ignored;
  for (fs::directory_iterator entry(where, ignored), end; entry != end; entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(kPrefix) || !is_left(entry->path())) continue;
    ::unlink(("/tmp/" + name + std::string(kPlanted)).c_str());
    fs::remove_all(entry->path(), ignored);
  }
}

std::string make_folder(const std::string& where) {
  std::string name = where + "/" + std::string(kPrefix) + "XXXXXX";
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
  remove_what_was_left(folder);
  targets_.folder = make_folder(folder);
  lock_ = open_folder(targets_.folder);
  if (lock_) ::flock(lock_.get(), LOCK_EX | LOCK_NB);
  targets_.secret = targets_.folder + "/secret";
  const std::string unique = std::filesystem::path(targets_.folder).filename();
  targets_.path_socket = targets_.folder + "/control";
  targets_.abstract_socket = unique;
  targets_.planted_socket = "/tmp/" + unique + std::string(kPlanted);
  targets_.environment = {"PATH", "LANG", "HOME", "TMPDIR", "ASAN_OPTIONS", "TSAN_OPTIONS"};
  try {
    write_secret(targets_.secret);
    listen_everywhere();
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(targets_.folder, ignored);
    throw;
  }
  share_memory();
}

// Removed at once, so that it goes with this process however that ends; until then whoever knows
// its number attaches it as any other.
void Canaries::share_memory() {
  const int id = ::shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
  if (id < 0) return;
  void* const attached = ::shmat(id, nullptr, 0);
  ::shmctl(id, IPC_RMID, nullptr);
  if (reinterpret_cast<std::intptr_t>(attached) == -1) return;
  shared_memory_ = attached;
  targets_.shared_memory_id = id;
}

void Canaries::listen_everywhere() {
  tcp_ = bind_loopback(SOCK_STREAM, targets_.tcp_port);
  udp_ = bind_loopback(SOCK_DGRAM, targets_.udp_port);
  path_ = bind_unix(targets_.path_socket, false);
  abstract_ = bind_unix(targets_.abstract_socket, true);
}

Canaries::~Canaries() {
  if (shared_memory_ != nullptr) ::shmdt(shared_memory_);
  ::unlink(targets_.planted_socket.c_str());
  std::error_code ignored;
  std::filesystem::remove_all(targets_.folder, ignored);
}

bool Canaries::socket_was_planted() const {
  return ::access(targets_.planted_socket.c_str(), F_OK) == 0;
}

}  // namespace assay::confinement
