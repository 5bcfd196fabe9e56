#include "engine/node/wrapper_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <thread>
#include <vector>

namespace assay::node {
namespace {

namespace fs = std::filesystem;
using Clock = fs::file_time_type::clock;

constexpr std::string_view kAside = ".aside-";
constexpr std::string_view kLock = ".lock-";
constexpr std::chrono::milliseconds kLookAgain{100};

// Of one process at one time: what a killed one's children still write lies elsewhere.
std::string aside_name(const std::string& key) {
  static std::atomic<unsigned> number{0};
  return std::string(kAside) + key + "-" + std::to_string(::getpid()) + "-" +
         std::to_string(number++);
}

// Nothing: another holds it. Throws std::system_error where there are no locks.
posix::Descriptor try_lock(const fs::path& folder, const std::string& key) {
  const fs::path path = folder / (std::string(kLock) + key);
  posix::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) throw std::system_error(errno, std::generic_category(), path.string());
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno == EWOULDBLOCK) return {};
    throw std::system_error(errno, std::generic_category(), path.string());
  }
  return file;
}

// Those that begin with `prefix`, "" for what has no dot.
std::vector<fs::path> listed(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (prefix.empty() ? !name.starts_with(".") : name.starts_with(prefix)) {
      found.push_back(at->path());
    }
  }
  return found;
}

// Of nobody who lives: its lock is to be had.
void remove_left_behind(const fs::path& folder, const std::string& mine) {
  for (const auto& path : listed(folder, kAside)) {
    const std::string name = path.filename().string();
    const std::string key =
        name.substr(kAside.size(), name.find('-', kAside.size()) - kAside.size());
    const auto lock = key == mine ? posix::Descriptor() : try_lock(folder, key);
    std::error_code ignored;
    if (key == mine || lock) fs::remove_all(path, ignored);
  }
}

}  // namespace

WrapperStore::Making::~Making() {
  std::error_code ignored;
  if (lock_) fs::remove_all(aside_, ignored);
}

fs::path WrapperStore::find(const std::string& key) const {
  std::error_code error;
  fs::path folder = folder_ / key;
  if (!fs::exists(folder / whole_, error)) return {};
  fs::last_write_time(folder, Clock::now(), error);
  return folder;
}

std::variant<WrapperStore::Making, std::string> WrapperStore::begin(
    const std::string& key, const std::stop_token& stop) const {
  try {
    fs::create_directories(folder_);
    posix::Descriptor lock = try_lock(folder_, key);
    while (!lock) {
      if (stop.stop_requested()) return "cancelled";
      std::this_thread::sleep_for(kLookAgain);
      lock = try_lock(folder_, key);
    }
    remove_left_behind(folder_, key);
    fs::path aside = folder_ / aside_name(key);
    fs::create_directory(aside);
    return Making(std::move(lock), std::move(aside));
  } catch (const std::system_error& error) {
    return error.what();
  }
}

fs::path WrapperStore::keep(const Making& making, const std::string& key) const {
  std::error_code error;
  fs::path folder = folder_ / key;
  // What lay there was not whole, or nothing would have been made.
  if (!fs::exists(folder / whole_, error)) fs::remove_all(folder, error);
  fs::rename(making.aside(), folder, error);
  sweep(key);
  return find(key);
}

void WrapperStore::sweep(const std::string& made) const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
  };
  std::vector<Entry> others;
  std::error_code error;
  for (auto& path : listed(folder_, "")) {
    if (path.filename() == made) continue;
    const auto used = fs::last_write_time(path, error);
    if (!error) others.push_back({std::move(path), used});
  }
  std::sort(others.begin(), others.end(),
            [](const Entry& a, const Entry& b) { return a.used > b.used; });
  for (std::size_t i = std::max<std::size_t>(bounds_.entries, 1) - 1; i < others.size(); ++i) {
    if (Clock::now() - others[i].used < bounds_.in_use) continue;
    // At once for whoever looks; then its bytes.
    const fs::path aside = folder_ / aside_name(others[i].path.filename().string());
    fs::rename(others[i].path, aside, error);
    if (!error) fs::remove_all(aside, error);
  }
}

}  // namespace assay::node
