#include "engine/node/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "engine/confinement/sha256.h"
#include "engine/posix/descriptor.h"

namespace assay::node {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "assay-compiled 1\n";
constexpr std::size_t kHashChars = 64;
constexpr const char* kAside = ".aside-";
// A writer that has not renamed its file by now was killed.
constexpr std::chrono::minutes kStale{10};
// Own writes between two looks at the folder, as a part of the bound: what others write meanwhile
// is not seen.
constexpr std::uint64_t kLooksPerBound = 32;

std::optional<std::string> read_whole(const fs::path& path) {
  // A pipe in an entry's place must not be waited for.
  const posix::Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const auto count = ::read(fd.get(), bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    got += static_cast<std::size_t>(count);
  }
  ::futimens(fd.get(), nullptr);  // used now
  return bytes;
}

bool write_whole(const fs::path& path, std::string_view bytes) {
  const posix::Descriptor fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return false;
  while (!bytes.empty()) {
    const auto count = ::write(fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::string encode(const frames::Frame& answer) {
  const std::string body =
      answer.body.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::string rest = std::to_string(body.size()) + "\n" + body + answer.blob;
  return std::string(kMagic) + confinement::sha256(rest) + "\n" + rest;
}

std::optional<frames::Frame> decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return std::nullopt;
  bytes.remove_prefix(kMagic.size());
  if (bytes.size() < kHashChars + 1 || bytes[kHashChars] != '\n') return std::nullopt;
  const std::string_view hash = bytes.substr(0, kHashChars);
  const std::string_view rest = bytes.substr(kHashChars + 1);
  if (confinement::sha256(rest) != hash) return std::nullopt;
  std::size_t body_bytes = 0;
  const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), body_bytes);
  const auto start = static_cast<std::size_t>(read.ptr - rest.data()) + 1;
  if (read.ec != std::errc{} || start > rest.size() || rest.size() - start < body_bytes) {
    return std::nullopt;
  }
  frames::Frame answer;
  answer.body = nlohmann::json::parse(rest.substr(start, body_bytes), nullptr, false);
  if (!answer.body.is_object()) return std::nullopt;
  answer.blob = std::string(rest.substr(start + body_bytes));
  return answer;
}

struct Entry {
  fs::path path{};
  fs::file_time_type used{};
  std::uint64_t bytes = 0;
};

std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  fs::directory_iterator files(folder, error);
  while (!error && files != fs::directory_iterator()) {
    std::error_code gone;  // another engine tidies too
    Entry entry{.path = files->path(), .used = files->last_write_time(gone)};
    if (!gone) entry.bytes = files->file_size(gone);
    if (!gone) entries.push_back(std::move(entry));
    files.increment(error);
  }
  return entries;
}

}  // namespace

CompileCache::CompileCache(fs::path folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!error) fs::permissions(folder_, fs::perms::owner_all, error);
  tidy();
}

std::string CompileCache::key(const std::vector<std::string>& parts) {
  std::string whole;
  for (const auto& part : parts) {
    whole += std::to_string(part.size()) + ":";
    whole += part;
  }
  return confinement::sha256(whole);
}

fs::path CompileCache::file(const std::string& key) const { return folder_ / key; }

std::string CompileCache::identity(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return path.string();
  return path.string() + " " + std::to_string(status.st_size) + " " +
         std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec);
}

std::optional<frames::Frame> CompileCache::find(const std::string& key) {
  if (folder_.empty()) return std::nullopt;
  const auto bytes = read_whole(file(key));
  auto answer = bytes ? decode(*bytes) : std::nullopt;
  if (answer) {
    ++hits_;
    return answer;
  }
  ++misses_;
  // What is no file cannot be renamed over: it goes too, whatever it holds.
  std::error_code ignored;
  const auto kind = fs::symlink_status(file(key), ignored).type();
  if (bytes || (kind != fs::file_type::not_found && kind != fs::file_type::regular)) {
    ++damaged_;
    fs::remove_all(file(key), ignored);
  }
  return std::nullopt;
}

void CompileCache::keep(const std::string& key, const frames::Frame& answer) {
  if (folder_.empty()) return;
  const std::string bytes = encode(answer);
  if (bytes.size() > max_bytes_ / 4) return;
  static std::atomic<std::uint64_t> writes{0};
  const fs::path aside = folder_ / (kAside + std::to_string(::getpid()) + "-" +
                                    std::to_string(++writes) + "-" + key.substr(0, 16));
  std::error_code error;
  fs::remove(aside, error);  // of a killed engine that had our number
  bool kept = write_whole(aside, bytes);
  if (kept) {
    fs::rename(aside, file(key), error);
    kept = !error;
  }
  if (!kept) {
    fs::remove(aside, error);
    return;
  }
  const std::lock_guard lock(mutex_);
  kept_since_look_ += bytes.size();
  bytes_ += bytes.size();
  if (bytes_ > max_bytes_ || kept_since_look_ > max_bytes_ / kLooksPerBound) tidy();
}

void CompileCache::tidy() {
  auto entries = entries_of(folder_);
  const auto now = fs::file_time_type::clock::now();
  std::uint64_t total = 0;
  std::error_code ignored;
  std::erase_if(entries, [&](const Entry& entry) {
    if (!entry.path.filename().string().starts_with(kAside)) return false;
    if (now - entry.used > kStale) fs::remove(entry.path, ignored);
    return true;
  });
  for (const auto& entry : entries) total += entry.bytes;
  if (total > max_bytes_) {
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    // Some room at once, so that not every write has to look.
    for (const auto& entry : entries) {
      if (total <= max_bytes_ - max_bytes_ / 8) break;
      if (fs::remove(entry.path, ignored)) total -= entry.bytes;
    }
  }
  bytes_ = total;
  kept_since_look_ = 0;
}

CompileCache::Counts CompileCache::counts() const {
  return {.hits = hits_, .misses = misses_, .damaged = damaged_, .bytes = bytes_};
}

}  // namespace assay::node
