#include "engine/confinement/sweep.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "engine/confinement/process_tree.h"

namespace assay::confinement {
namespace {

using namespace std::chrono_literals;

// False when there is no child left.
bool reap_the_dead() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid == 0) return true;
    if (pid < 0 && errno != EINTR) return false;
  }
}

bool is_only(uid_t uid) {
  uid_t real = 0;
  uid_t effective = 0;
  uid_t saved = 0;
  return ::getresuid(&real, &effective, &saved) == 0 && real == uid && effective == uid &&
         saved == uid;
}

// kill(-1) reaches every process that the sender may signal, atomically with regard to fork. The
// sender must therefore be nobody but that uid, beyond doubt.
void kill_all_of(uid_t uid) {
  const pid_t helper = ::fork();
  if (helper == 0) {
    const bool changed = uid != 0 && ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                         ::syscall(SYS_setresgid, uid, uid, uid) == 0 &&
                         ::syscall(SYS_setresuid, uid, uid, uid) == 0;
    if (changed && is_only(uid)) ::kill(-1, SIGKILL);
    ::_exit(0);
  }
  if (helper > 0) {
    while (::waitpid(helper, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

}  // namespace

void kill_descendants(const Kin& kin) {
  auto pause = 100us;
  while (reap_the_dead()) {
    // A child is left, so the group is not empty and its number is not somebody else's by now.
    if (kin.group > 0) ::kill(-kin.group, SIGKILL);
    if (kin.uid) kill_all_of(*kin.uid);
    for (const pid_t pid : descendants(::getpid())) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(5ms));
  }
}

}  // namespace assay::confinement
