#include "tools/source_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace assay::tools {
namespace {

namespace fs = std::filesystem;
using mcp::OwnedFd;

// Of a path with "..", each lost to a rename or a mount somewhere on the machine.
constexpr int kMostAttempts = 10'000;
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;  // a FIFO must not hang us

// Where openat2 is missing: part by part, no symbolic link followed at all.
int open_without_links(int root, const fs::path& path) {
  int folder = ::fcntl(root, F_DUPFD_CLOEXEC, 0);
  for (auto part = path.begin(); folder >= 0 && part != path.end(); ++part) {
    if (*part == ".." || part->empty()) {
      ::close(folder);
      errno = EXDEV;
      return -1;
    }
    const bool is_last = std::next(part) == path.end();
    const int flags = kFlags | O_NOFOLLOW | (is_last ? 0 : O_DIRECTORY);
    const int next = ::openat(folder, part->c_str(), flags);
    const int error = errno;
    ::close(folder);
    errno = error;
    folder = next;
  }
  return folder;
}

int open_beneath(int root, const fs::path& path) {
  open_how how{};
  how.flags = kFlags;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long file = -1;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    file = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (file >= 0 || errno != EAGAIN) break;
    ::sched_yield();
  }
  if (file >= 0) return static_cast<int>(file);
  if (errno != ENOSYS && errno != EPERM) return -1;
  return open_without_links(root, path.lexically_normal());
}

// The path below the root, or nothing for an absolute one elsewhere.
std::optional<fs::path> beneath(const fs::path& root, const fs::path& path) {
  if (path.is_relative()) return path;
  const fs::path inside = path.lexically_normal().lexically_relative(root);
  if (inside.empty() || *inside.begin() == "..") return std::nullopt;
  return inside;
}

std::variant<std::string, NoSourceFile> read_whole(int file) {
  struct stat seen {};
  if (::fstat(file, &seen) != 0 || !S_ISREG(seen.st_mode)) {
    return NoSourceFile{"is not a regular file"};
  }
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return NoSourceFile{std::string("cannot be read: ") + std::strerror(errno)};
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) {
      return NoSourceFile{"is larger than " + std::to_string(kMaxFileBytes) + " bytes"};
    }
  }
}

fs::path real_path(const fs::path& path) {
  std::error_code missing;
  fs::path real = fs::canonical(path, missing);
  return missing ? fs::absolute(path).lexically_normal() : real;
}

std::optional<fs::path> path_of(const OwnedFd& file, std::error_code& error) {
  fs::path real = fs::read_symlink("/proc/self/fd/" + std::to_string(file.get()), error);
  return error ? std::nullopt : std::optional(std::move(real));
}

}  // namespace

SourceFiles::SourceFiles(std::vector<fs::path> roots, const fs::path& hidden)
    : roots_(std::move(roots)), hidden_(hidden.empty() ? hidden : real_path(hidden)) {
  for (fs::path& root : roots_) root = real_path(root);
}

std::variant<std::string, NoSourceFile> SourceFiles::read(const std::string& path) const {
  Found file = open(path);
  if (auto* none = std::get_if<NoSourceFile>(&file)) return std::move(*none);
  return read_whole(std::get<OwnedFd>(file).get());
}

std::variant<fs::path, NoSourceFile> SourceFiles::locate(const std::string& path) const {
  Found file = open(path);
  if (auto* none = std::get_if<NoSourceFile>(&file)) return std::move(*none);
  std::error_code error;
  auto real = path_of(std::get<OwnedFd>(file), error);
  if (!real) return NoSourceFile{"cannot be located: " + error.message()};
  return std::move(*real);
}

// What cannot be located is as good as hidden.
bool SourceFiles::is_hidden(const OwnedFd& file) const {
  if (hidden_.empty()) return false;
  std::error_code error;
  const auto real = path_of(file, error);
  return !real || beneath(hidden_, *real);
}

SourceFiles::Found SourceFiles::open(const std::string& path) const {
  if (path.empty() || path.find('\0') != std::string::npos) return NoSourceFile{"is no path"};
  std::string reason = "is not below a folder this server may read sources from";
  for (const fs::path& root : roots_) {
    const auto inside = beneath(root, path);
    if (!inside) continue;
    const OwnedFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) continue;
    OwnedFd file(open_beneath(folder.get(), *inside));
    if (file.get() >= 0) {
      if (is_hidden(file)) return NoSourceFile{"belongs to what this server keeps for itself"};
      return file;
    }
    const bool escapes = errno == EXDEV || errno == ELOOP;
    if (!escapes) reason = "does not exist in " + root.string() + " or cannot be opened";
  }
  std::string roots;
  for (const fs::path& root : roots_) roots += " " + root.string();
  return NoSourceFile{reason + "; allowed:" + (roots.empty() ? " none (--source-root)" : roots)};
}

}  // namespace assay::tools
