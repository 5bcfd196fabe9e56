#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "engine/confinement/attacks.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

int open_file(const std::string& path, int flags) {
  const posix::Descriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  return file ? 0 : errno;
}

int read_secret(const Targets& targets) { return open_file(targets.secret, O_RDONLY); }

int read_system_accounts(const Targets&) { return open_file("/etc/passwd", O_RDONLY); }

// The name alone shows that it got through; the engine takes it away with the folder.
int write_outside(const Targets& targets) {
  return open_file(targets.folder + "/written", O_CREAT | O_WRONLY);
}

int overwrite_file(const Targets& targets) { return open_file(targets.secret, O_WRONLY); }

int truncate_file(const Targets& targets) {
  return stopped_by(::truncate(targets.secret.c_str(), 0));
}

int rename_file(const Targets& targets) {
  return stopped_by(::rename(targets.secret.c_str(), (targets.secret + "-renamed").c_str()));
}

int open_raw_devices(const Targets&) {
  int error = ENOENT;
  for (const char* device : {"/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm", "/dev/tty",
                             "/dev/vda", "/dev/sda", "/dev/nvme0n1"}) {
    error = open_file(device, O_RDONLY | O_NONBLOCK);
    if (error == 0) return 0;
  }
  return error;
}

int change_kernel_settings(const Targets&) {
  return open_file("/proc/sys/kernel/core_pattern", O_WRONLY);
}

int reach_ip(const Targets& targets, int type, std::uint16_t port) {
  const posix::Descriptor socket(::socket(AF_INET, type | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  static_cast<void>(targets);
  if (type == SOCK_STREAM) return stopped_by(::connect(socket.get(), to, sizeof address));
  return stopped_by(::sendto(socket.get(), "x", 1, 0, to, sizeof address));
}

int reach_tcp(const Targets& targets) { return reach_ip(targets, SOCK_STREAM, targets.tcp_port); }
int reach_udp(const Targets& targets) { return reach_ip(targets, SOCK_DGRAM, targets.udp_port); }

// An abstract name is the path after a zero byte.
socklen_t unix_address(const std::string& name, bool abstract, sockaddr_un& address) {
  address.sun_family = AF_UNIX;
  const std::size_t offset = abstract ? 1 : 0;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1 - offset);
  std::memcpy(address.sun_path + offset, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + length);
}

int reach_unix(const std::string& name, bool abstract) {
  // Whichever type a profile lets through.
  int error = EPERM;
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const posix::Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    sockaddr_un address{};
    const auto length = unix_address(name, abstract, address);
    error =
        stopped_by(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length));
    // A listener of another type was found, and would have been reached.
    if (error == EPROTOTYPE) return 0;
    if (error == 0) return 0;
  }
  return error;
}

int reach_path_socket(const Targets& targets) { return reach_unix(targets.path_socket, false); }
int reach_abstract_socket(const Targets& targets) {
  return reach_unix(targets.abstract_socket, true);
}

// As a fake MPS control socket, which the next CUDA process would connect to. Succeeding here is no
// harm where /tmp is private; the engine looks whether the socket is there.
int plant_socket(const Targets& targets) {
  for (const int type : {SOCK_SEQPACKET, SOCK_STREAM}) {
    const posix::Descriptor socket(::socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    if (!socket) continue;
    sockaddr_un address{};
    const auto length = unix_address(targets.planted_socket, false, address);
    return stopped_by(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length));
  }
  return errno;
}

std::string temporary_name(const char* name) {
  const char* folder = std::getenv("TMPDIR");
  return std::string(folder == nullptr ? "/tmp" : folder) + "/" + name;
}

int make_big_file(const Targets& targets) {
  ::signal(SIGXFSZ, SIG_IGN);
  const auto beyond = static_cast<off_t>(targets.limits.file_bytes) + 1;
  const posix::Descriptor file(::memfd_create("big", MFD_CLOEXEC));
  if (!file) return errno;
  return stopped_by(::ftruncate(file.get(), beyond));
}

int make_many_files(const Targets& targets) {
  const auto beyond = targets.limits.temporary_files + 1;
  std::vector<std::string> made;
  int error = 0;
  for (std::uint64_t i = 0; i < beyond && error == 0; ++i) {
    made.push_back(temporary_name(("many" + std::to_string(i)).c_str()));
    error = open_file(made.back(), O_CREAT | O_WRONLY);
  }
  for (const auto& name : made) ::unlink(name.c_str());
  return error;
}

int open_many_descriptors(const Targets& targets) {
  std::vector<posix::Descriptor> open;
  for (std::uint64_t i = 0; i <= targets.limits.open_files; ++i) {
    const int fd = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return errno;
    open.emplace_back(fd);
  }
  return 0;
}

constexpr AttackKind kAttacks[] = {
    {"read_secret_file", read_secret},
    {"read_system_accounts", read_system_accounts},
    {"write_outside", write_outside},
    {"overwrite_file", overwrite_file},
    {"truncate_file", truncate_file},
    {"rename_file", rename_file},
    {"open_raw_devices", open_raw_devices},
    {"change_kernel_settings", change_kernel_settings},
    {"reach_tcp", reach_tcp},
    {"reach_udp", reach_udp},
    {"reach_path_socket", reach_path_socket},
    {"reach_abstract_socket", reach_abstract_socket},
    {"plant_socket", plant_socket},
    {"make_big_file", make_big_file},
    {"make_many_files", make_many_files},
    {"open_many_descriptors", open_many_descriptors},
};

}  // namespace

std::span<const AttackKind> attacks_on_files() { return kAttacks; }

}  // namespace assay::confinement
