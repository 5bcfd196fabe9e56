#include "engine/confinement/resident.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "engine/confinement/process_tree.h"

namespace assay::confinement {
namespace {

namespace fs = std::filesystem;

// "RssAnon:	    1234 kB"
std::size_t kibibytes(std::string_view line) {
  const auto digits = line.find_first_of("0123456789");
  std::size_t value = 0;
  if (digits != std::string_view::npos) {
    std::from_chars(line.data() + digits, line.data() + line.size(), value);
  }
  return value;
}

// False when the process is gone.
bool add_mapped(const std::string& process, Resident& sum) {
  std::ifstream file(process + "/status");
  std::string line;
  bool found = false;
  while (std::getline(file, line)) {
    found = true;
    if (line.starts_with("RssAnon:")) sum.anonymous_bytes += kibibytes(line) * 1024;
    if (line.starts_with("RssShmem:")) sum.shared_bytes += kibibytes(line) * 1024;
  }
  return found;
}

using MemoryFiles = std::map<ino_t, std::size_t>;

// Pages of a memfd that nobody maps count for no process; they are found through the descriptors,
// where the engine may look at them.
void add_memory_files(const std::string& process, MemoryFiles& files) {
  std::error_code error;
  fs::directory_iterator entries(process + "/fd", error);
  while (!error && entries != fs::directory_iterator()) {
    const fs::path entry = entries->path();
    entries.increment(error);
    std::array<char, 16> target{};
    const auto length = ::readlink(entry.c_str(), target.data(), target.size());
    if (length <= 0 ||
        !std::string_view(target.data(), static_cast<std::size_t>(length)).starts_with("/memfd:")) {
      continue;
    }
    struct stat status {};
    if (::stat(entry.c_str(), &status) != 0) continue;
    constexpr std::size_t kBlock = 512;
    files[status.st_ino] = static_cast<std::size_t>(status.st_blocks) * kBlock;
  }
}

}  // namespace

std::optional<Resident> resident(pid_t root) {
  auto processes = descendants(root);
  processes.push_back(root);
  Resident sum;
  MemoryFiles files;
  bool root_lives = false;
  for (const pid_t pid : processes) {
    const std::string process = "/proc/" + std::to_string(pid);
    if (!add_mapped(process, sum)) continue;
    if (pid == root) root_lives = true;
    ++sum.processes;
    add_memory_files(process, files);
  }
  if (!root_lives) return std::nullopt;
  std::size_t in_files = 0;
  for (const auto& [inode, bytes] : files) in_files += bytes;
  // Most of it is mapped as well and counted already.
  sum.shared_bytes = std::max(sum.shared_bytes, in_files);
  return sum;
}

std::optional<std::size_t> resident_bytes(pid_t root) {
  const auto sum = resident(root);
  if (!sum) return std::nullopt;
  return sum->total_bytes();
}

}  // namespace assay::confinement
