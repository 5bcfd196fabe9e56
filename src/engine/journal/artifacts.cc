#include "engine/journal/artifacts.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "engine/job/record.h"
#include "engine/journal/digest.h"
#include "engine/journal/state_directory.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlockBytes = 1U << 20;
// As large as the PTX and the log of a job often are.
constexpr std::size_t kTrialBytes = 256U << 10;
// A writer takes seconds; one that is killed leaves its file for this long.
constexpr std::chrono::minutes kStaleTemporary{15};
// Verified files remembered; one more forgets them all, which costs a hash each.
constexpr std::size_t kMaxVerified = 4096;

std::int64_t ns_of(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ns_of(now);
}

// The time of access is ours to set, so that it means "last used" on any mount; the time of change
// stays the content's own.
bool touch(const fs::path& file) {
  const std::array<struct timespec, 2> times{
      {{.tv_sec = 0, .tv_nsec = UTIME_NOW}, {.tv_sec = 0, .tv_nsec = UTIME_OMIT}}};
  return ::utimensat(AT_FDCWD, file.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) == 0;
}

// False at the end of the file.
bool read_some(const posix::Descriptor& fd, std::string& block, std::uint64_t offset) {
  for (;;) {
    const ssize_t got = ::pread(fd.get(), block.data(), block.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw unavailable(errno, "read an artifact");
    block.resize(static_cast<std::size_t>(got));
    return got > 0;
  }
}

struct Entry {
  std::string id{};
  std::int64_t used_ns = 0;
  std::uint64_t bytes = 0;
};

std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code ignored;  // other servers remove files while we look
  for (const auto& shelf : fs::directory_iterator(folder, ignored)) {
    const std::string head = shelf.path().filename().string();
    if (head.size() != 2) continue;
    for (const auto& one : fs::directory_iterator(shelf.path(), ignored)) {
      const std::string id = head + one.path().filename().string();
      struct stat status {};
      if (!is_digest(id) || ::lstat(one.path().c_str(), &status) != 0) continue;
      entries.push_back({.id = id,
                         .used_ns = std::max(ns_of(status.st_atim), ns_of(status.st_mtim)),
                         .bytes = static_cast<std::uint64_t>(status.st_size)});
    }
  }
  return entries;
}

}  // namespace

ArtifactStore::ArtifactStore(fs::path folder, std::uint64_t max_bytes, Log log,
                             ArtifactOptions options)
    : folder_(std::move(folder)),
      max_bytes_(max_bytes),
      log_(std::move(log)),
      options_(std::move(options)) {
  make_private(folder_, log_);
  make_private(folder_ / "tmp", log_);
  remove_stale_temporaries();
  for (const auto& entry : entries_of(folder_)) held_bytes_ += entry.bytes;
}

fs::path ArtifactStore::file(std::string_view id) const {
  return folder_ / id.substr(0, 2) / id.substr(2);
}

posix::Descriptor ArtifactStore::lock(int how) const {
  posix::Descriptor fd(
      ::open((folder_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) throw unavailable(errno, "open the artifacts' lock");
  while (::flock(fd.get(), how) != 0) {
    if (errno != EINTR) throw unavailable(errno, "lock the artifacts");
  }
  return fd;
}

std::string ArtifactStore::put(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  std::string id = digest.hex();
  if (place(id, bytes)) return id;
  evict(bytes.size());
  if (place(id, bytes)) return id;
  if (options_.make_room && bytes.size() <= max_bytes_) {
    options_.make_room(bytes.size());
    evict(bytes.size());
    if (place(id, bytes)) return id;
  }
  throw JournalUnavailable(JournalUnavailable::Why::disk_full,
                           "no room for an artifact of " + std::to_string(bytes.size()) +
                               " bytes: the store holds at most " + std::to_string(max_bytes_));
}

// False: the bound leaves no room.
bool ArtifactStore::place(const std::string& id, std::string_view bytes) {
  const posix::Descriptor shared = lock(LOCK_SH);
  const fs::path target = file(id);
  // Already there, and of the right size: used again. Anything else by that name is replaced.
  struct stat status {};
  if (::lstat(target.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
      static_cast<std::uint64_t>(status.st_size) == bytes.size() && get(id, 0, 0) &&
      touch(target)) {
    return true;
  }
  {
    const std::lock_guard guard(mutex_);
    if (bytes.size() > max_bytes_ || held_bytes_ > max_bytes_ - bytes.size()) return false;
    held_bytes_ += bytes.size();
  }
  const fs::path aside = folder_ / "tmp" / job::new_job_id();
  try {
    if (::mkdir(target.parent_path().c_str(), 0700) == 0) {
      sync_folder(folder_);
    } else if (errno != EEXIST) {
      throw unavailable(errno, target.parent_path().string());
    }
    write_aside(aside, bytes);
    if (::rename(aside.c_str(), target.c_str()) != 0) throw unavailable(errno, target.string());
    sync_folder(target.parent_path());
  } catch (...) {
    ::unlink(aside.c_str());
    const std::lock_guard guard(mutex_);
    held_bytes_ -= bytes.size();
    throw;
  }
  return true;
}

posix::Descriptor ArtifactStore::create(const fs::path& file, std::size_t bytes) {
  posix::Descriptor fd(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) throw unavailable(errno, "create " + file.string());
  int fault = 0;
  do {
    fault = bytes > 0 && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  } while (fault == EINTR);
  // A file system that cannot reserve says when it is written to.
  if (fault != 0 && fault != EOPNOTSUPP && fault != ENOSYS) {
    ::unlink(file.c_str());
    throw unavailable(fault, "room for an artifact of " + std::to_string(bytes) + " bytes");
  }
  return fd;
}

void ArtifactStore::require_writable() const {
  const fs::path trial = folder_ / "tmp" / job::new_job_id();
  const posix::Descriptor fd = create(trial, kTrialBytes);
  ::unlink(trial.c_str());
}

void ArtifactStore::write_aside(const fs::path& aside, std::string_view bytes) const {
  const posix::Descriptor fd = create(aside, bytes.size());
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t wrote = ::write(fd.get(), rest.data(), rest.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw unavailable(errno, "write " + aside.string());
    rest.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (::fsync(fd.get()) != 0) throw unavailable(errno, "sync " + aside.string());
}

bool ArtifactStore::verified(const std::string& id, const posix::Descriptor& fd,
                             const Seen& seen) const {
  {
    const std::lock_guard guard(mutex_);
    const auto known = verified_.find(id);
    if (known != verified_.end() && known->second == seen) return true;
  }
  Digest digest;
  std::string block(kBlockBytes, '\0');
  for (std::uint64_t at = 0; read_some(fd, block, at); block.resize(kBlockBytes)) {
    digest.add(block);
    at += block.size();
  }
  if (digest.hex() != id) return false;
  const std::lock_guard guard(mutex_);
  if (verified_.size() >= kMaxVerified) verified_.clear();
  verified_[id] = seen;
  return true;
}

std::optional<ArtifactPart> ArtifactStore::get(const std::string& id, std::uint64_t offset,
                                               std::uint64_t length) const {
  if (!is_digest(id)) return std::nullopt;
  const fs::path path = file(id);
  const posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat status {};
  if (fd && ::fstat(fd.get(), &status) != 0) throw unavailable(errno, path.string());
  const Seen seen{.inode = status.st_ino,
                  .bytes = static_cast<std::uint64_t>(status.st_size),
                  .changed_ns = ns_of(status.st_mtim)};
  if ((!fd && errno == ELOOP) || (fd && (!S_ISREG(status.st_mode) || !verified(id, fd, seen)))) {
    if (log_) log_("artifact " + id + " is damaged and was removed");
    ::unlink(path.c_str());
    return std::nullopt;
  }
  if (!fd) throw unavailable(errno, "open " + path.string());
  ArtifactPart part{.bytes = {}, .total_bytes = seen.bytes};
  if (offset < seen.bytes) {
    part.bytes.resize(static_cast<std::size_t>(std::min(length, seen.bytes - offset)));
    std::string block;
    for (std::size_t at = 0; at < part.bytes.size(); at += block.size()) {
      block.resize(std::min(kBlockBytes, part.bytes.size() - at));
      if (!read_some(fd, block, offset + at)) throw unavailable(EIO, path.string());
      part.bytes.replace(at, block.size(), block);
    }
  }
  touch(path);
  return part;
}

std::optional<std::string> ArtifactStore::get(const std::string& id) const {
  auto whole = get(id, 0, ~std::uint64_t{0});
  if (!whole) return std::nullopt;
  return std::move(whole->bytes);
}

std::uint64_t ArtifactStore::evict(std::uint64_t wanted_bytes) {
  const posix::Descriptor exclusive = lock(LOCK_EX);
  std::vector<Entry> entries = entries_of(folder_);
  std::uint64_t total = 0;
  for (const auto& entry : entries) total += entry.bytes;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
  const std::uint64_t goal = max_bytes_ - std::min(wanted_bytes, max_bytes_);
  const std::int64_t newest_ns =
      now_ns() - std::chrono::duration_cast<std::chrono::nanoseconds>(options_.grace).count();
  std::uint64_t freed = 0;
  for (const auto& entry : entries) {
    if (total <= goal || entry.used_ns > newest_ns) break;
    if (options_.pinned && options_.pinned(entry.id)) continue;
    if (::unlink(file(entry.id).c_str()) != 0) continue;
    total -= entry.bytes;
    freed += entry.bytes;
  }
  const std::lock_guard guard(mutex_);
  held_bytes_ = total;
  return freed;
}

void ArtifactStore::remove_stale_temporaries() const {
  const std::int64_t oldest_ns =
      now_ns() - std::chrono::duration_cast<std::chrono::nanoseconds>(kStaleTemporary).count();
  std::error_code ignored;
  for (const auto& one : fs::directory_iterator(folder_ / "tmp", ignored)) {
    struct stat status {};
    if (::lstat(one.path().c_str(), &status) == 0 && ns_of(status.st_mtim) < oldest_ns) {
      ::unlink(one.path().c_str());
    }
  }
}

std::uint64_t ArtifactStore::sweep() {
  remove_stale_temporaries();
  return evict(0);
}

}  // namespace assay::journal
