// The one exception that says the storage refuses: not the caller's fault and not a bug. Nothing
// was recorded; what was acknowledged before is still there and, as a rule, readable.
#pragma once

#include <stdexcept>
#include <string>

namespace assay::journal {

struct JournalUnavailable : std::runtime_error {
  enum class Why {
    disk_full,  // also a quota or a limit on file sizes
    read_only,
    io_error,  // what the kernel said is in what()
    busy,      // other servers held the lock for too long
    damaged,   // the file is no journal any more, or was replaced while in use
  };

  JournalUnavailable(Why why, const std::string& what) : std::runtime_error(what), why(why) {}

  // The same call can succeed later without anyone restarting this server.
  [[nodiscard]] bool retryable() const { return why != Why::damaged; }

  Why why;
};

// What `error`, an errno, means for the storage; `what` begins the message.
[[nodiscard]] JournalUnavailable unavailable(int error, const std::string& what);

}  // namespace assay::journal
