#include "engine/journal/state_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <thread>

#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kPrivate = 0700;
constexpr std::chrono::milliseconds kLockPoll{5};

// statfs's f_type: NFS, SMB (three generations), 9P, FUSE (sshfs and the like), Lustre, GPFS,
// BeeGFS, Ceph, AFS. A local FUSE file system loses a little speed by it, never data.
constexpr std::array<std::uint32_t, 11> kNetworkTypes{
    0x6969,     0x517B,     0xFF534D42, 0xFE534D42, 0x01021997, 0x65735546,
    0x0BD00BD0, 0x47504653, 0x19830326, 0x00C36400, 0x5346414F};

}  // namespace

void make_private(const fs::path& folder, const Log& log) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  // Born private: never open to others for a moment.
  if (::mkdir(folder.c_str(), kPrivate) != 0 && errno != EEXIST) {
    throw unavailable(errno, "make the state directory " + folder.string());
  }
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) throw unavailable(errno, folder.string());
  if (!S_ISDIR(status.st_mode)) throw unavailable(ENOTDIR, folder.string());
  if ((status.st_mode & 0077) == 0) return;
  if (status.st_uid != ::geteuid()) {
    throw std::runtime_error("the state directory " + folder.string() +
                             " belongs to another user and is open to others; choose one with "
                             "--state");
  }
  if (::chmod(folder.c_str(), kPrivate) != 0) {
    throw unavailable(errno, "close " + folder.string() + " to other users");
  }
  if (log) log("the state directory " + folder.string() + " was open to others; it is 0700 now");
}

bool is_network_file_system(const fs::path& folder) {
  struct statfs info {};
  if (::statfs(folder.c_str(), &info) != 0) throw unavailable(errno, folder.string());
  const auto type = static_cast<std::uint32_t>(info.f_type);
  return std::find(kNetworkTypes.begin(), kNetworkTypes.end(), type) != kNetworkTypes.end();
}

posix::Descriptor lock_file(const fs::path& file, std::chrono::milliseconds timeout) {
  posix::Descriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) throw unavailable(errno, file.string());
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) throw unavailable(errno, "lock " + file.string());
    if (std::chrono::steady_clock::now() >= deadline) {
      throw JournalUnavailable(JournalUnavailable::Why::busy,
                               file.string() + " is held by another server");
    }
    std::this_thread::sleep_for(kLockPoll);
  }
  return lock;
}

void sync_folder(const fs::path& folder) {
  const posix::Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) throw unavailable(errno, "sync " + folder.string());
}

}  // namespace assay::journal
