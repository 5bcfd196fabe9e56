#include "engine/journal/instance.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".lock";
constexpr std::string_view kNewborn = ".new";

fs::path lock_name(const fs::path& folder, std::string_view id) {
  return folder / (std::string(id) + std::string(kSuffix));
}

enum class Lock { taken, held, none };

// Tries the lock of a file; on `taken`, `out` holds it.
Lock try_lock(const fs::path& file, posix::Descriptor& out) {
  posix::Descriptor fd(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) {
    if (errno == ENOENT) return Lock::none;
    throw unavailable(errno, file.string());
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Lock::held;
    throw unavailable(errno, "lock " + file.string());
  }
  out = std::move(fd);
  return Lock::taken;
}

}  // namespace

Instance::Instance(const fs::path& folder, std::string id)
    : file_(lock_name(folder, id)), id_(std::move(id)) {
  // Locked under another name first: a name that ends in .lock is never seen unlocked while we
  // live.
  const fs::path newborn = folder / (id_ + std::string(kNewborn));
  lock_ = posix::Descriptor(
      ::open(newborn.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) throw unavailable(errno, "make " + newborn.string());
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::rename(newborn.c_str(), file_.c_str()) != 0) {
    const int error = errno;
    ::unlink(newborn.c_str());
    throw unavailable(error, "lock " + newborn.string());
  }
}

Instance::~Instance() { ::unlink(file_.c_str()); }

bool Instance::lives(const fs::path& folder, std::string_view id) {
  posix::Descriptor lock;
  return try_lock(lock_name(folder, id), lock) == Lock::held;
}

std::vector<std::string> Instance::all(const fs::path& folder) {
  std::vector<std::string> ids;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == kSuffix) ids.push_back(entry.path().stem().string());
  }
  return ids;
}

void Instance::bury(const fs::path& folder, std::string_view id) {
  posix::Descriptor lock;
  const fs::path file = lock_name(folder, id);
  if (try_lock(file, lock) == Lock::taken) ::unlink(file.c_str());
}

}  // namespace assay::journal
