// What a confined child can be. A role serves one channel until its peer closes it; by the time
// serve() runs, the confinement is in force and nothing of the user's has been read. `assay-runner
// --role=NAME` picks from the list that main() builds; later roles join that list.
#pragma once

#include <string_view>

#include "engine/frames/channel.h"

namespace assay::runner {

class Device;

struct Role {
  std::string_view name{};
  // Returns the exit code. An exception that leaves it is ours: main reports it as a `fault` frame.
  int (*serve)(frames::Channel& channel) = nullptr;
};

int serve_compile(frames::Channel& channel);
int serve_kernel(frames::Channel& channel);      // on the emulator
int serve_gpu_kernel(frames::Channel& channel);  // on the one GPU this process is shown
int serve_devices(frames::Channel& channel);
int serve_kernel_on(Device& device, frames::Channel& channel);
int serve_referee(frames::Channel& channel);
int serve_sanitizer(frames::Channel& channel);

}  // namespace assay::runner
