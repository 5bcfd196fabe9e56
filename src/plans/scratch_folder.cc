#include "plans/scratch_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace assay::plans {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = ".lock";
constexpr const char* kPrefix = "assay-steps-";

std::string own_prefix() { return kPrefix + std::to_string(::geteuid()) + "-"; }

// A folder whose lock nobody holds belongs to an engine that was killed.
void remove_abandoned(const fs::path& parent) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!entry.path().filename().string().starts_with(own_prefix())) continue;
    const posix::Descriptor lock(
        ::open((entry.path() / kLock).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const fs::path parent = fs::temp_directory_path();
  remove_abandoned(parent);
  std::string pattern = (parent / (own_prefix() + "XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "a folder for steps");
  }
  path_ = pattern;
  // Confined steps may run under a uid of their own.
  fs::permissions(path_, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
  lock_ = posix::Descriptor(
      ::open((path_ / kLock).c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (lock_) ::flock(lock_.get(), LOCK_EX | LOCK_NB);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path ScratchFolder::make(const std::string& name) const {
  const fs::path folder = path_ / name;
  fs::create_directories(folder);
  return folder;
}

}  // namespace assay::plans
