// A GPU as the referee's device (device_space.h). Its kernels are compiled when it is made, for the
// device that is there, unless another process has done that.
//
// Owned by the referee's one thread.
#pragma once

#include <memory>
#include <string>

#include "engine/runner/device_space.h"
#include "engine/runner/gpu_context.h"

namespace assay::runner {

// `cubin`: its kernels. Where that is "" or does not load they are compiled, and it has those then.
// Throws std::runtime_error: no compiler, no driver, or a compiler that does not know the device.
[[nodiscard]] std::unique_ptr<DeviceSpace> make_gpu_space(const std::string& nvrtc_path,
                                                          std::string& cubin);

}  // namespace assay::runner
