#include "engine/confinement/identity.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <string>

#include "engine/confinement/wire.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

constexpr const char* kUid = "uid";
constexpr const char* kUserNamespace = "user namespace";

// pids are below 2^22, so these uids are unique on the machine. A container may map fewer.
constexpr std::uint64_t kWideBase = 2'000'000;
constexpr std::uint64_t kWideSpan = 1ULL << 22;
constexpr std::uint64_t kNarrowBase = 20'000;
constexpr std::uint64_t kNarrowSpan = 40'000;

bool is_mapped(const char* map, std::uint64_t first, std::uint64_t count) {
  std::ifstream lines(map);
  std::uint64_t inside = 0;
  std::uint64_t outside = 0;
  std::uint64_t length = 0;
  while (lines >> inside >> outside >> length) {
    if (inside <= first && first + count <= inside + length) return true;
  }
  return false;
}

bool is_mapped(std::uint64_t first, std::uint64_t count) {
  return is_mapped("/proc/self/uid_map", first, count) &&
         is_mapped("/proc/self/gid_map", first, count);
}

void write_file(const std::string& path, const std::string& text) {
  const posix::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) < 0) {
    throw SetupFailure(kUserNamespace, path, errno);
  }
}

std::string identity_map(std::uint64_t id) {
  return std::to_string(id) + " " + std::to_string(id) + " 1";
}

}  // namespace

uid_t unused_uid(pid_t keeper) {
  const auto pid = static_cast<std::uint64_t>(keeper);
  if (is_mapped(kWideBase, kWideSpan)) return static_cast<uid_t>(kWideBase + pid % kWideSpan);
  if (is_mapped(kNarrowBase, kNarrowSpan)) {
    return static_cast<uid_t>(kNarrowBase + pid % kNarrowSpan);
  }
  throw SetupFailure(kUid, "no range of uids is mapped in this container", EINVAL);
}

void map_own_identity(uid_t uid, gid_t gid) {
  write_file("/proc/self/setgroups", "deny");
  write_file("/proc/self/uid_map", identity_map(uid));
  write_file("/proc/self/gid_map", identity_map(gid));
}

void map_identity_of(pid_t pid, uid_t uid) {
  const std::string process = "/proc/" + std::to_string(pid);
  write_file(process + "/uid_map", identity_map(uid));
  write_file(process + "/gid_map", identity_map(uid));
}

void become(uid_t uid) {
  if (::syscall(SYS_setgroups, 0, nullptr) != 0) throw SetupFailure(kUid, "setgroups", errno);
  if (::syscall(SYS_setresgid, uid, uid, uid) != 0) throw SetupFailure(kUid, "setresgid", errno);
  if (::syscall(SYS_setresuid, uid, uid, uid) != 0) throw SetupFailure(kUid, "setresuid", errno);
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) throw SetupFailure(kUid, "dumpable", errno);
}

void drop_capability_bounds() {
  constexpr int kMostCapabilities = 64;
  for (int capability = 0; capability < kMostCapabilities; ++capability) {
    // EINVAL: beyond the last one. EPERM: no CAP_SETPCAP, hence nothing that could be gained back,
    // as no_new_privs keeps execve from giving any.
    if (::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  }
}

void drop_capabilities() {
  static_cast<void>(::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capset, &header, none) != 0)
    throw SetupFailure("capabilities", "capset", errno);
}

void die_with_parent() {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
    throw SetupFailure("parent death signal", "prctl", errno);
  }
}

void follow_parent(pid_t parent) {
  die_with_parent();
  if (::getppid() != parent) ::_exit(1);
}

}  // namespace assay::confinement
