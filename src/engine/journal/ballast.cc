#include "engine/journal/ballast.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/posix/descriptor.h"

namespace assay::journal {
namespace {

constexpr std::uint64_t kPlenty = 4;

}  // namespace

void Ballast::take() const noexcept {
  struct stat status {};
  if (bytes_ == 0 || (::stat(file_.c_str(), &status) == 0 &&
                      static_cast<std::uint64_t>(status.st_size) == bytes_)) {
    return;
  }
  const posix::Descriptor fd(
      ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct statvfs space {};
  const bool plenty = fd && ::fstatvfs(fd.get(), &space) == 0 &&
                      space.f_bavail * space.f_frsize / kPlenty >= bytes_;
  // Allocated, not merely sized: a hole keeps nothing back.
  if (!plenty || ::posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes_)) != 0) {
    ::unlink(file_.c_str());
  }
}

bool Ballast::give_up() const noexcept { return ::unlink(file_.c_str()) == 0; }

}  // namespace assay::journal
