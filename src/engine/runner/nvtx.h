// Ranges that a profiler sees, by NVTX's injection protocol: the library that NVTX_INJECTION64_PATH
// names is loaded and given a table of the functions it may put its own in place of. Which library
// that is, and whether there is one, the operator of the server decides (runners.h); a kernel never
// comes near it. Where the variable is not set a range does nothing.
//
// The runner's one thread. The protocol knows one table per process, so there is no object.
#pragma once

#include <string>

namespace assay::runner::nvtx {

// Open until it is destroyed; "" opens none.
class Range {
 public:
  explicit Range(const std::string& name);
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  // Why a profiler cannot see it; "" if it can, or if no range was asked for.
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  bool open_ = false;
  std::string failure_{};
};

}  // namespace assay::runner::nvtx
