// A folder of a job's own, below the machine's temporary folder, gone with the object. What a
// killed engine leaves is removed by whoever makes the next one. Owned by one thread.
#pragma once

#include <filesystem>
#include <string>

#include "engine/posix/descriptor.h"

namespace assay::plans {

class ScratchFolder {
 public:
  // Throws std::system_error.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // A folder below it that a confined step may be given.
  [[nodiscard]] std::filesystem::path make(const std::string& name) const;

 private:
  std::filesystem::path path_;
  posix::Descriptor lock_;  // held while it is in use
};

}  // namespace assay::plans
