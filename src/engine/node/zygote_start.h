// How a zygote begins: a program with a channel and what else it is handed, and nothing of ours
// beside it; and how one is asked to fork. The zygotes themselves: compile_zygote.h,
// python_zygote.h.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/confinement/child.h"
#include "engine/frames/channel.h"

namespace assay::node {

struct ZygoteStart {
  std::vector<std::string> arguments{};  // the executable first
  std::vector<std::string> environment{};
  // Become kChannelDescriptor and those after it.
  std::vector<const posix::Descriptor*> handed{};
  bool is_silent = false;  // its words on stderr are nobody's
};
// Throws std::system_error.
[[nodiscard]] pid_t start_zygote(ZygoteStart start);

// A confined process that the zygote behind `channel` forks; `next` waits for its answer. Nothing:
// it did not answer, and is gone.
[[nodiscard]] std::optional<confinement::Child> fork_confined(
    frames::Channel& channel, confinement::SpawnRequest request,
    const std::function<std::optional<frames::Frame>()>& next);

}  // namespace assay::node
