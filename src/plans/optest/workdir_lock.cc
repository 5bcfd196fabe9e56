#include "plans/optest/workdir_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <chrono>
#include <thread>

namespace assay::optest {

WorkdirLock::WorkdirLock(const std::filesystem::path& workdir, const std::stop_token& stop) {
  constexpr std::chrono::milliseconds kBetweenTries{20};
  file_ = posix::Descriptor(
      ::open((workdir / ".optest.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  while (file_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (stop.stop_requested()) return;
    std::this_thread::sleep_for(kBetweenTries);
  }
}

}  // namespace assay::optest
