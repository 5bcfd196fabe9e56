// What the referees of one GPU run there, shipped as source. Compiling it takes a fresh one half a
// second and more, so the first that has done so hands it on. Shared by a pool and the sessions of
// its referees; any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/frames/frame.h"

namespace assay::node {

class RefereeKernels {
 public:
  // `nvrtc`: the compiler's library.
  explicit RefereeKernels(std::string nvrtc) : nvrtc_(std::move(nvrtc)) {}

  [[nodiscard]] const std::string& nvrtc() const { return nvrtc_; }
  // The device's machine code; "" until somebody has compiled it.
  [[nodiscard]] std::string cubin() const {
    const std::lock_guard lock(mutex_);
    return cubin_;
  }
  void keep(std::string cubin) {
    const std::lock_guard lock(mutex_);
    cubin_ = std::move(cubin);
  }

 private:
  const std::string nvrtc_;
  mutable std::mutex mutex_{};
  std::string cubin_{};
};

// Something that a referee has said who still needs `kernels`: none, once it is prepared.
inline void hear(std::shared_ptr<RefereeKernels>& kernels, frames::Frame& said) {
  if (!kernels || said.type() != "prepared") return;
  if (!said.blob.empty()) kernels->keep(std::move(said.blob));
  kernels.reset();
}

}  // namespace assay::node
