// Python runners of one GPU made ahead: a fork of the zygote whose context exists and that has read
// no user byte. A context takes a third of a second, and each holds half a gigabyte of the device's
// memory.
//
// Any thread.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <variant>
#include <vector>

#include "engine/node/ended.h"
#include "engine/node/gpus.h"
#include "engine/node/python_zygote.h"
#include "engine/node/runners.h"
#include "engine/node/spares.h"

namespace assay::node {

class PythonSpares {
 public:
  // Borrows `runners` and `zygote`.
  // `idle`: as of Spares.
  PythonSpares(const Runners& runners, PythonZygote& zygote, Gpu gpu, std::chrono::seconds idle);

  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  // One that is ready, or else a fresh one.
  [[nodiscard]] std::variant<Spares::Process, Ended> take(const std::stop_token& stop);
  // What a job has used; the next are made ready.
  void give_back(std::vector<Spares::Process> used);

 private:
  [[nodiscard]] Spares::Process make(const std::stop_token& stop);

  const Runners& runners_;
  PythonZygote& zygote_;
  const Gpu gpu_;
  Spares spares_;
};

}  // namespace assay::node
