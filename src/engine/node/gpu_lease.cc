#include "engine/node/gpu_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <system_error>
#include <thread>

namespace assay::node {
namespace {

// The first of these that is for all users. /run/lock is root's alone on some systems: there root
// too uses the next, or it would hold another lock than the others.
constexpr const char* kFolders[] = {"/run/lock", "/tmp"};
// A job's turn on a device lasts tens of milliseconds: waiting for it costs little more.
constexpr std::chrono::milliseconds kRetry{1};
// Who has just taken it may not have marked it yet: whether it is overdue is asked after this.
constexpr std::chrono::seconds kJustTaken{1};

std::string lock_folder() {
  for (const char* folder : kFolders) {
    struct stat status {};
    if (::stat(folder, &status) == 0 && is_for_all_users(status.st_mode)) return folder;
  }
  // A machine of one user, or one where only root is: its own.
  return kFolders[1];
}

posix::Descriptor open_lock(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  // Who finds it need not be who made it: a file of another user is opened without O_CREAT, which
  // sticky folders forbid for it.
  posix::Descriptor file(::open(path.c_str(), kFlags));
  if (!file) file = posix::Descriptor(::open(path.c_str(), kFlags | O_CREAT, 0666));
  if (!file) {
    throw std::system_error(errno, std::generic_category(), "the lock of a GPU, " + path);
  }
  ::fchmod(file.get(), 0666);  // whatever the umask was; only its maker may, others need not
  return file;
}

bool is_marked(const posix::Descriptor& lock) {
  struct stat status {};
  return ::fstat(lock.get(), &status) == 0 && status.st_size > 0;
}

std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

// Until when it may be held, by the clock that all processes of a machine share, which no one sets
// and which stands while the machine sleeps. A full disk leaves no mark: that costs who comes after
// a death a probe, and who waits for a server that hangs his patience.
void mark(const posix::Descriptor& lock, std::chrono::nanoseconds most_held) {
  const std::string until = std::to_string((now() + most_held).count());
  const auto written = ::pwrite(lock.get(), until.data(), until.size(), 0);
  // A dead holder's may have been longer.
  [[maybe_unused]] const int cut = written > 0 ? ::ftruncate(lock.get(), written) : 0;
}

bool locks(const posix::Descriptor& file, int how) {
  if (::flock(file.get(), how | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  throw std::system_error(errno, std::generic_category(), "the lock of a GPU");
}

// Who comes next, of all that wait: he holds another lock until the device is his. Who gives it up
// and wants it again would have it before the others look, and comes behind who waits already.
class Next {
 public:
  explicit Next(const std::string& uuid) : file_(open_lock(GpuLease::next_path(uuid))) {}
  // Asked over and over.
  bool is_ours(const posix::Descriptor& device) {
    if (!is_ours_) is_ours_ = locks(file_, LOCK_EX) || is_stuck(device);
    return is_ours_;
  }

 private:
  // Nobody takes what is free: who is next was stopped, or sleeps.
  bool is_stuck(const posix::Descriptor& device) {
    const bool is_free = locks(device, LOCK_SH);
    if (is_free) ::flock(device.get(), LOCK_UN);
    seen_free_ = is_free ? seen_free_ + 1 : 0;
    return seen_free_ > kMostSeenFree;
  }

  static constexpr int kMostSeenFree = 50;
  posix::Descriptor file_;
  bool is_ours_ = false;
  int seen_free_ = 0;  // in a row
};

// As its mark says; not if that says nothing.
bool is_overdue(const posix::Descriptor& lock) {
  std::array<char, 32> text{};
  const auto got = ::pread(lock.get(), text.data(), text.size(), 0);
  std::int64_t until_ns = 0;
  if (got <= 0) return false;
  const char* end = text.data() + got;
  const auto [rest, error] = std::from_chars(text.data(), end, until_ns);
  return error == std::errc() && rest == end && now() > std::chrono::nanoseconds(until_ns);
}

void unmark(const posix::Descriptor& lock) {
  [[maybe_unused]] const int truncated = ::ftruncate(lock.get(), 0);
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

}  // namespace

std::string GpuLease::lock_path(const std::string& uuid) {
  return lock_folder() + "/assay-" + uuid + ".lock";
}

std::string GpuLease::next_path(const std::string& uuid) {
  return lock_folder() + "/assay-" + uuid + ".next.lock";
}

bool is_for_all_users(unsigned mode) {
  constexpr unsigned kWanted = S_ISVTX | S_IWOTH | S_IXOTH;
  return S_ISDIR(mode) && (mode & kWanted) == kWanted;
}

std::optional<GpuLease> GpuLease::take(const std::string& uuid, JobQueue& turns,
                                       const std::string& client, const std::stop_token& stop,
                                       std::chrono::nanoseconds most_held) {
  const JobQueue::Ticket ticket = turns.enter(client);
  if (!turns.wait(ticket, stop)) return std::nullopt;
  Turn turn(&turns, GiveUp{ticket});
  posix::Descriptor lock = open_lock(lock_path(uuid));
  Next next(uuid);
  const auto asked = std::chrono::steady_clock::now();
  while (!next.is_ours(lock) || !locks(lock, LOCK_EX)) {
    if (stop.stop_requested()) return std::nullopt;
    const auto waited = std::chrono::steady_clock::now() - asked;
    if (waited > kJustTaken && is_overdue(lock)) return std::nullopt;
    std::this_thread::sleep_for(kRetry);
  }
  const auto was_free = untouched_for(lock);
  const bool follows_dead = is_marked(lock);
  mark(lock, most_held);
  touch(lock);
  return GpuLease(std::move(turn), std::move(lock), was_free, follows_dead);
}

GpuLease::Lock::~Lock() {
  if (!file_) return;
  if (!keeps_mark_) unmark(file_);
  touch(file_);
}

bool GpuLease::is_held(const std::string& uuid) {
  try {
    const posix::Descriptor lock = open_lock(lock_path(uuid));
    // Shared, so that two who look do not see each other.
    return ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  } catch (const std::system_error&) {
    return false;
  }
}

}  // namespace assay::node
