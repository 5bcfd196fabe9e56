#include "engine/confinement/init.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "engine/confinement/child.h"
#include "engine/confinement/identity.h"
#include "engine/confinement/notices.h"
#include "engine/confinement/root.h"
#include "engine/confinement/wire.h"

namespace assay::confinement {
namespace {

// The user namespace knows the child's identity only, which the keeper must write if it is not
// ours.
void take_identity(const Layers& layers, std::optional<uid_t> uid, uid_t old_uid, gid_t old_gid,
                   const posix::Descriptor& line) {
  if (!layers.user_namespace) return;
  if (!uid) return map_own_identity(old_uid, old_gid);
  if (!wait_to_proceed(line)) ::_exit(1);
}

void build_world(const Confinement& confinement, std::optional<uid_t> uid,
                 const posix::Descriptor& line, uid_t old_uid, gid_t old_gid) {
  const Layers& layers = confinement.layers;
  ::umask(022);
  die_with_parent();
  take_identity(layers, uid, old_uid, old_gid, line);
  auto trees = clone_trees(confinement);
  if (uid && layers.user_namespace) {
    become(*uid);
    die_with_parent();
  }
  // The keeper may have died before it could be followed.
  if (peer_is_gone(line)) ::_exit(1);
  constexpr std::string_view kHost = "assay";
  static_cast<void>(::sethostname(kHost.data(), kHost.size()));
  enter_private_root(confinement, trees);
}

// From here on the init touches nothing but wait(): it holds no descriptor of the worker's and no
// right.
void resign(const Confinement& confinement, std::optional<uid_t> uid,
            const posix::Descriptor& line) {
  for (int fd = 0; fd <= kChannelDescriptor; ++fd) ::close(fd);
  ::close(kPlanDescriptor);
  try {
    drop_capability_bounds();
    if (uid && !confinement.layers.user_namespace) {
      become(*uid);
      die_with_parent();
      if (peer_is_gone(line)) ::_exit(1);
    }
    drop_capabilities();
  } catch (const SetupFailure& failure) {
    send_notice(line, {.kind = Notice::Kind::failed, .failure = failure.record()});
    ::_exit(1);
  }
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

[[noreturn]] void serve(pid_t worker, const posix::Descriptor& line) {
  for (;;) {
    int status = 0;
    const pid_t pid = ::wait(&status);
    if (pid == worker) {
      send_notice(line, {.kind = Notice::Kind::worker_ended, .wait_status = status});
      ::_exit(0);
    }
    if (pid < 0 && errno != EINTR) ::_exit(1);
  }
}

}  // namespace

unsigned long namespace_flags(const Layers& layers) {
  unsigned long flags = CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (layers.user_namespace) flags |= CLONE_NEWUSER;
  if (has_pid_namespace(layers.level)) flags |= CLONE_NEWPID;
  return flags;
}

pid_t run_init(const Confinement& confinement, std::optional<uid_t> uid, uid_t old_uid,
               gid_t old_gid, const posix::Descriptor& line) {
  build_world(confinement, uid, line, old_uid, old_gid);
  const pid_t init = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) throw SetupFailure("worker", "fork", errno);
  if (worker == 0) return init;
  resign(confinement, uid, line);
  serve(worker, line);
}

}  // namespace assay::confinement
