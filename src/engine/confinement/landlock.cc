#include "engine/confinement/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "engine/confinement/grants.h"
#include "engine/confinement/wire.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

constexpr const char* kLayer = "landlock";

// The system's header may be older than the kernel (Debian 12's stops at ABI 2).
constexpr std::uint64_t kTruncate = 1ULL << 14;     // ABI 3
constexpr std::uint64_t kDeviceIoctl = 1ULL << 15;  // ABI 5
constexpr std::uint64_t kBindTcp = 1ULL << 0;       // ABI 4
constexpr std::uint64_t kConnectTcp = 1ULL << 1;
constexpr std::uint64_t kScopeAbstractSocket = 1ULL << 0;  // ABI 6
constexpr std::uint64_t kScopeSignal = 1ULL << 1;

struct RulesetAttributes {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scoped = 0;
};

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
// No device nodes, no sockets, no execution unless processes may be started.
constexpr std::uint64_t kOwnFolder = kRead | kWrite | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                     LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
constexpr std::uint64_t kOnFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                                   LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceIoctl;

RulesetAttributes everything(int abi) {
  RulesetAttributes all;
  all.files = (1ULL << 13) - 1;
  if (abi >= 2) all.files |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) all.files |= kTruncate;
  if (abi >= 5) all.files |= kDeviceIoctl;
  if (abi >= 4) all.network = kBindTcp | kConnectTcp;
  if (abi >= 6) all.scoped = kScopeAbstractSocket | kScopeSignal;
  return all;
}

std::size_t size_known_to(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
}

class Ruleset {
 public:
  explicit Ruleset(int abi) : handled_(everything(abi)) {
    const auto fd = ::syscall(SYS_landlock_create_ruleset, &handled_, size_known_to(abi), 0U);
    if (fd < 0) throw SetupFailure(kLayer, "landlock_create_ruleset", errno);
    ruleset_ = posix::Descriptor(static_cast<int>(fd));
  }

  void allow(const std::string& path, std::uint64_t access, bool required) {
    const posix::Descriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (file) {
      allow(file, path, access);
    } else if (required) {
      throw SetupFailure(kLayer, path, errno);
    }
  }

  void allow(const posix::Descriptor& file, const std::string& path, std::uint64_t access) {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) throw SetupFailure(kLayer, path, errno);
    if (!S_ISDIR(status.st_mode)) access &= kOnFiles;
    const landlock_path_beneath_attr rule{.allowed_access = access & handled_.files,
                                          .parent_fd = file.get()};
    if (::syscall(SYS_landlock_add_rule, ruleset_.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0U) !=
        0) {
      throw SetupFailure(kLayer, path, errno);
    }
  }

  void restrict_self() {
    if (::syscall(SYS_landlock_restrict_self, ruleset_.get(), 0U) != 0) {
      throw SetupFailure(kLayer, "landlock_restrict_self", errno);
    }
  }

 private:
  RulesetAttributes handled_{};
  posix::Descriptor ruleset_{};
};

std::uint64_t rights(Access access, const Confinement& confinement) {
  const std::uint64_t execute = confinement.may_start_processes ? LANDLOCK_ACCESS_FS_EXECUTE : 0U;
  switch (access) {
    case Access::read:
      return kRead | execute;
    case Access::read_write:
      return kOwnFolder | execute;
    case Access::device:
      return kRead | kWrite | kDeviceIoctl;
  }
  return 0;
}

void allow_proc(Ruleset& rules, const Confinement& confinement) {
  // cuInit opens /proc/self/task/*/comm with O_WRONLY|O_TRUNC and fails with code 304 if it may
  // not. All of /proc must not be writable for that: /proc/sys would be, to a worker with root's
  // uid.
  const std::uint64_t own = confinement.profile == Profile::gpu ? kRead | kWrite : kRead;
  // The rule is bound to the inode, so the descriptor stays open for as long as the worker lives:
  // it keeps that inode from being replaced.
  posix::Descriptor self(::open("/proc/self", O_PATH | O_CLOEXEC));
  if (!self) throw SetupFailure(kLayer, "/proc/self", errno);
  rules.allow(self, "/proc/self", own);
  static_cast<void>(self.release());
  // Processes that are still to come, in a /proc of their own whose settings are read-only.
  const bool has_company = confinement.is_company && has_pid_namespace(confinement.layers.level);
  if (has_company) rules.allow("/proc", kRead | kWrite, true);
  // The rest of the machine's /proc tells of other processes. But a program that the worker starts
  // looks itself up under a number that is not known yet.
  if (has_pid_namespace(confinement.layers.level) || confinement.may_start_processes) {
    rules.allow("/proc", kRead, true);
  } else {
    for (const auto& path : readable_proc_files()) rules.allow(path, kRead, false);
  }
}

}  // namespace

int landlock_abi() {
  const auto abi =
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return static_cast<int>(std::max(abi, 0L));
}

void restrict_files(const Confinement& confinement) {
  const int abi = landlock_abi();
  if (abi < 1) throw SetupFailure(kLayer, "the kernel has none", ENOSYS);
  Ruleset rules(abi);
  for (const auto& grant : grants(confinement)) {
    rules.allow(grant.path, rights(grant.access, confinement), grant.required);
  }
  if (has_namespaces(confinement.layers.level)) {
    rules.allow("/tmp", rights(Access::read_write, confinement), true);
    rules.allow("/dev/shm", rights(Access::read_write, confinement), true);
  }
  allow_proc(rules, confinement);
  rules.restrict_self();
}

void open_only_below(const std::vector<std::string>& readable,
                     const std::vector<std::string>& writable) {
  const int abi = landlock_abi();
  if (abi < 1) return;
  Ruleset rules(abi);
  for (const auto& path : readable) rules.allow(path, kRead, false);
  for (const auto& path : writable) rules.allow(path, kOwnFolder, false);
  rules.restrict_self();
}

}  // namespace assay::confinement
