// SIGTERM and SIGINT as a stop token: whoever runs jobs ends them, tells how they ended and leaves.
//
// Blocks both in the calling thread, and so in threads made later: construct it before any. Only
// the first signal counts.
#pragma once

#include <stop_token>
#include <thread>

#include "engine/posix/descriptor.h"

namespace assay::cli {

class TerminationSignals {
 public:
  TerminationSignals();
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  void watch();

  posix::Descriptor signals_{};
  posix::Descriptor done_ = posix::make_event();
  std::stop_source source_{};
  std::thread thread_{};
};

}  // namespace assay::cli
