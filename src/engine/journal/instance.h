// One running server on a state directory: a locked file that the kernel unlocks when the process
// dies, however it dies. flock follows the open file and the descriptor is close-on-exec, so no
// child keeps an instance alive. One object per Journal; the static functions are for any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "engine/posix/descriptor.h"

namespace assay::journal {

class Instance {
 public:
  // Makes `<folder>/<id>.lock`, locked from the moment it has that name. Throws JournalUnavailable.
  Instance(const std::filesystem::path& folder, std::string id);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }

  // A locked or unlocked file of that name exists and is locked. An instance locks before it
  // submits its first job, so one that has jobs but no lock is dead.
  [[nodiscard]] static bool lives(const std::filesystem::path& folder, std::string_view id);

  // The ids of all that have a file, living or dead.
  [[nodiscard]] static std::vector<std::string> all(const std::filesystem::path& folder);

  // Removes the file of a dead instance; leaves a living one's alone.
  static void bury(const std::filesystem::path& folder, std::string_view id);

 private:
  std::filesystem::path file_;
  std::string id_;
  posix::Descriptor lock_;
};

}  // namespace assay::journal
