#include "engine/runner/awake.h"

#include "engine/posix/awake.h"

namespace assay::runner {
namespace {

constexpr std::chrono::microseconds kLooks{1'500};

}  // namespace

void stay_awake(const frames::Channel& channel) {
  // What was read together with the last question is nothing that could still be read.
  if (channel.has_frame()) return;
  pollfd entry{channel.descriptor(), POLLIN, 0};
  posix::look_for(kLooks, [&] { return ::poll(&entry, 1, 0) != 0; });
}

}  // namespace assay::runner
