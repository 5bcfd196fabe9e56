#include "engine/node/gpu_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

namespace assay::node {
namespace {

// World-writable with the sticky bit, where they exist.
constexpr const char* kFolders[] = {"/run/lock", "/tmp"};
// A job's turn on a device lasts tens of milliseconds: waiting for it costs little more.
constexpr std::chrono::milliseconds kRetry{1};

posix::Descriptor open_lock(const std::string& name) {
  int error = ENOENT;
  for (const char* folder : kFolders) {
    const std::string path = std::string(folder) + "/" + name;
    constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    // Who finds it need not be who made it: a file of another user is opened without O_CREAT, which
    // sticky folders forbid for it.
    posix::Descriptor file(::open(path.c_str(), kFlags));
    if (!file) file = posix::Descriptor(::open(path.c_str(), kFlags | O_CREAT, 0666));
    if (!file) {
      error = errno;
      continue;
    }
    ::fchmod(file.get(), 0666);  // whatever the umask was; only its maker may, others need not
    return file;
  }
  throw std::system_error(error, std::generic_category(), "the lock of a GPU");
}

// When it is taken and when it is given up.
void touch(const posix::Descriptor& lock) { ::futimens(lock.get(), nullptr); }

std::chrono::nanoseconds untouched_for(const posix::Descriptor& lock) {
  struct stat status {};
  if (::fstat(lock.get(), &status) != 0) return std::chrono::nanoseconds(0);
  const auto then = std::chrono::seconds(status.st_mtim.tv_sec) +
                    std::chrono::nanoseconds(status.st_mtim.tv_nsec);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::max<std::chrono::nanoseconds>(now - then, std::chrono::nanoseconds(0));
}

std::string name_of_lock(const std::string& uuid) { return "assay-" + uuid + ".lock"; }

}  // namespace

std::optional<GpuLease> GpuLease::take(const std::string& uuid, JobQueue& turns,
                                       const std::string& client, const std::stop_token& stop) {
  const JobQueue::Ticket ticket = turns.enter(client);
  if (!turns.wait(ticket, stop)) return std::nullopt;
  Turn turn(&turns, GiveUp{ticket});
  posix::Descriptor lock = open_lock(name_of_lock(uuid));
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "the lock of a GPU");
    }
    if (stop.stop_requested()) return std::nullopt;
    std::this_thread::sleep_for(kRetry);
  }
  const auto was_free = untouched_for(lock);
  touch(lock);
  return GpuLease(std::move(turn), std::move(lock), was_free);
}

GpuLease::Lock::~Lock() {
  if (file_) touch(file_);
}

bool GpuLease::is_held(const std::string& uuid) {
  try {
    const posix::Descriptor lock = open_lock(name_of_lock(uuid));
    // Shared, so that two who look do not see each other.
    return ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace assay::node
