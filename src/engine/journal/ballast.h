// Space kept back on the journal's file system: given up when the disk is full, so that the ends of
// jobs can still be written, and taken again when there is plenty. Shared by all servers of a
// directory; every call is best effort and never throws. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::journal {

class Ballast {
 public:
  Ballast(std::filesystem::path file, std::uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  // Takes the space if it is not held and the file system has four times as much free.
  void take() const noexcept;
  // True if there was something to give up.
  [[nodiscard]] bool give_up() const noexcept;

 private:
  std::filesystem::path file_;
  std::uint64_t bytes_;
};

}  // namespace assay::journal
