#include <fcntl.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "engine/confinement/attacks.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

// A system call whose arguments make no sense to it: any complaint but these means that it looked
// at them.
int call_into(long result) {
  if (result >= 0) {
    ::close(static_cast<int>(result));
    return 0;
  }
  return errno == EPERM || errno == EACCES || errno == ENOSYS ? errno : 0;
}

int make_socket(int family, int type, int protocol) {
  const posix::Descriptor socket(::socket(family, type | SOCK_CLOEXEC, protocol));
  // A family that the kernel lacks has been asked for all the same, but cannot be attacked.
  return socket ? 0 : errno;
}

int attach_shared_memory(const Targets& targets) {
  void* memory = ::shmat(targets.shared_memory_id, nullptr, SHM_RDONLY);
  if (reinterpret_cast<std::intptr_t>(memory) == -1) return errno;
  ::shmdt(memory);
  return 0;
}

// What a setuid program gives, it gives unless new privileges are refused.
int gain_privileges(const Targets&) {
  return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? EPERM : 0;
}

// Last of all: what the probe tried in a user namespace of its own would prove nothing.
int make_user_namespace(const Targets&) { return stopped_by(::unshare(CLONE_NEWUSER)); }

int make_mount(const Targets&) {
  return stopped_by(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
}

int use_io_uring(const Targets&) {
  std::array<char, 256> parameters{};
  return call_into(::syscall(SYS_io_uring_setup, 1, parameters.data()));
}

int use_keyrings(const Targets&) {
  constexpr int kGetKeyringId = 0;
  constexpr int kSessionKeyring = -3;
  const long result = ::syscall(SYS_keyctl, kGetKeyringId, kSessionKeyring, 0);
  return result >= 0 ? 0 : call_into(result);
}

int use_userfaultfd(const Targets&) {
  constexpr int kUserModeOnly = 1;
  return call_into(::syscall(SYS_userfaultfd, kUserModeOnly));
}

int use_bpf(const Targets&) {
  std::array<char, 128> attributes{};
  return call_into(::syscall(SYS_bpf, 0, attributes.data(), attributes.size()));
}

int use_perf_events(const Targets&) {
  return call_into(::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
}

int use_netlink(const Targets&) { return make_socket(AF_NETLINK, SOCK_RAW, 6); }
int use_kernel_crypto(const Targets&) { return make_socket(AF_ALG, SOCK_SEQPACKET, 0); }
int use_vsock(const Targets&) { return make_socket(AF_VSOCK, SOCK_STREAM, 0); }

// Asked for, never touched.
int take_memory(const Targets& targets) {
  const std::size_t beyond = targets.limits.data_bytes + (1U << 20);
  void* memory = ::mmap(nullptr, beyond, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return errno;
  ::munmap(memory, beyond);
  return 0;
}

int raise_own_limits(const Targets&) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_max = limit.rlim_cur = 1U << 20;
  return stopped_by(::setrlimit(RLIMIT_CORE, &limit));
}

constexpr AttackKind kAttacks[] = {
    {"attach_shared_memory", attach_shared_memory},
    {"gain_privileges", gain_privileges},
    {"take_memory", take_memory},
    {"raise_own_limits", raise_own_limits},
    {"use_io_uring", use_io_uring},
    {"use_keyrings", use_keyrings},
    {"use_userfaultfd", use_userfaultfd},
    {"use_bpf", use_bpf},
    {"use_perf_events", use_perf_events},
    {"use_netlink", use_netlink},
    {"use_kernel_crypto", use_kernel_crypto},
    {"use_vsock", use_vsock},
    {"make_mount", make_mount},
    {"make_user_namespace", make_user_namespace},
};

}  // namespace

std::span<const AttackKind> attacks_on_the_kernel() { return kAttacks; }

}  // namespace assay::confinement
