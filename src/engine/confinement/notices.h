// The line between the keeper and what is below it: a SOCK_SEQPACKET pair of whole Notices.
#pragma once

#include <sys/types.h>

#include <optional>

#include "engine/confinement/wire.h"
#include "engine/posix/descriptor.h"

namespace assay::confinement {

struct ReceivedNotice {
  Notice notice{};
  // The sender, in the receiver's pid namespace, on the word of the kernel.
  pid_t sender = 0;
};

// ours = the keeper's end, which learns the senders' pids. Throws SetupFailure.
[[nodiscard]] posix::Pair make_notice_line();
void send_notice(const posix::Descriptor& line, const Notice& notice) noexcept;
// Never blocks; nothing when there is none (yet, or any more).
[[nodiscard]] std::optional<ReceivedNotice> next_notice(const posix::Descriptor& line);
// Blocks until the keeper says `proceed`; false when it is dead.
[[nodiscard]] bool wait_to_proceed(const posix::Descriptor& line);
[[nodiscard]] bool peer_is_gone(const posix::Descriptor& line);

}  // namespace assay::confinement
