// Waiting for the next question without falling asleep at once: on a GPU they follow one another,
// and a wake-up of this process costs as much as many of them do.
#pragma once

#include "engine/frames/channel.h"

namespace assay::runner {

// Returns when something can be read, or after one and a half milliseconds; at once where a
// question has been read already, and where there are few cores (posix/awake.h).
void stay_awake(const frames::Channel& channel);

}  // namespace assay::runner
