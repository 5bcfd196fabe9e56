#include "engine/confinement/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "engine/confinement/filter.h"
#include "engine/confinement/identity.h"
#include "engine/confinement/landlock.h"
#include "engine/confinement/wire.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {
namespace {

#ifdef ASSAY_SANITIZED
constexpr bool kShadowMemory = true;
#else
constexpr bool kShadowMemory = false;
#endif

void leave_session() {
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Fails only for the leader of a session, which is just as good.
  static_cast<void>(::setsid());
  ::umask(077);
}

// The first process that the kernel kills when the machine runs out of memory.
void volunteer_for_oom() {
  const posix::Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), "1000", 4) != 4) {
    throw SetupFailure("oom_score_adj", "/proc/self/oom_score_adj", errno);
  }
}

void limit(__rlimit_resource resource, const char* name, rlim_t value) {
  rlimit current{};
  if (::getrlimit(resource, &current) != 0) throw SetupFailure("rlimits", name, errno);
  // The operator's own, lower limit stands.
  if (current.rlim_max != RLIM_INFINITY && current.rlim_max < value) value = current.rlim_max;
  const rlimit wanted{.rlim_cur = value, .rlim_max = value};
  if (::setrlimit(resource, &wanted) != 0) throw SetupFailure("rlimits", name, errno);
}

// The kernel counts the tasks of a uid. Where the uid is shared with the rest of the machine, what
// is running already must be let be: all tasks there are, as counting those of one uid takes long.
rlim_t task_limit(const Confinement& confinement) {
  const Layers& layers = confinement.layers;
  const bool counted_alone =
      layers.separate_uid || (has_namespaces(layers.level) && layers.user_namespace);
  if (counted_alone) return confinement.limits.tasks;
  double load = 0;
  std::uint64_t running = 0;
  std::uint64_t total = 0;
  char slash = 0;
  std::ifstream file("/proc/loadavg");
  if (!(file >> load >> load >> load >> running >> slash >> total)) {
    throw SetupFailure("rlimits", "/proc/loadavg", EIO);
  }
  return confinement.limits.tasks + total;
}

void set_limits(const Confinement& confinement) {
  const Limits& limits = confinement.limits;
  limit(RLIMIT_CORE, "core", 0);
  limit(RLIMIT_MSGQUEUE, "msgqueue", 0);
  limit(RLIMIT_NICE, "nice", 0);
  limit(RLIMIT_RTPRIO, "rtprio", 0);
  limit(RLIMIT_MEMLOCK, "memlock", limits.locked_bytes);
  limit(RLIMIT_NOFILE, "nofile", limits.open_files);
  limit(RLIMIT_FSIZE, "fsize", limits.file_bytes);
  limit(RLIMIT_CPU, "cpu", limits.cpu_seconds);
  limit(RLIMIT_NPROC, "nproc", task_limit(confinement));
  if (!kShadowMemory) limit(RLIMIT_DATA, "data", limits.data_bytes);
}

void refuse_new_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    throw SetupFailure("no_new_privs", "prctl", errno);
  }
}

}  // namespace

void confine_worker(const Confinement& confinement, pid_t parent, std::optional<uid_t> uid,
                    const std::string& filter) {
  follow_parent(parent);
  leave_session();
  if (confinement.layers.level != Level::L0) drop_capability_bounds();
  if (uid) {
    become(*uid);
    follow_parent(parent);
  }
  volunteer_for_oom();
  set_limits(confinement);
  if (confinement.layers.level == Level::L0) return;
  refuse_new_privileges();
  drop_capabilities();
  if (confinement.layers.landlock) restrict_files(confinement);
  if (::chdir(temporary_folder(confinement).c_str()) != 0) static_cast<void>(::chdir("/"));
  install_filter(filter);
}

}  // namespace assay::confinement
