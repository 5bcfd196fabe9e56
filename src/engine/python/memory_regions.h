// The memory of a process that its kernels may touch: what its allocator has given out, and the
// tensors that are lent. While launches are inspected also which of it nobody has written yet:
// what is allocated then is filled with a pattern, and whatever has the whole of it still in it
// when a kernel is launched is uninitialised. What is written in part counts as written.
//
// Any thread, but for buffers(): its caller keeps the others from giving memory back meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::python {

class MemoryRegions {
 public:
  // What overlaps something older has taken its place. `name`: the contract's, of what is lent.
  void add(std::uint64_t address, std::size_t bytes, std::string name = {});
  // Likewise, of memory that has just been allocated: nobody knows what it holds.
  void add_allocated(std::uint64_t address, std::size_t bytes);
  // What a call is to write first of all, from here on.
  void forget_contents(std::uint64_t address);
  void remove(std::uint64_t address);
  // All that lies in there.
  void forget(std::uint64_t address, std::size_t bytes);
  // From here on; a word that no host code writes by chance.
  void watch_contents(std::uint64_t pattern);

  // For a launch with these parameters: a region without a name is called by the argument that
  // points into it, "argument 2", counted from 0.
  [[nodiscard]] std::vector<emulator::Buffer> buffers(
      const std::vector<std::uint64_t>& pointers = {});

 private:
  struct Region {
    std::size_t bytes = 0;
    std::string name{};
    bool is_unwritten = false;
  };
  void forget_locked(std::uint64_t address, std::size_t bytes);
  void fill_locked(std::uint64_t address, Region& region) const;
  [[nodiscard]] bool has_pattern(std::uint64_t address, const Region& region) const;

  std::mutex mutex_{};
  std::map<std::uint64_t, Region> regions_{};  // by address
  std::uint64_t pattern_ = 0;                  // 0: contents are not watched
};

}  // namespace assay::python
