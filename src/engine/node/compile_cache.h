// What the compiler answered before, by everything its answer depends on: a source that was
// compiled is not compiled again, by this engine or another on the same folder, and needs no
// process.
//
// One file per answer, named by its key, written aside and renamed: a reader sees a whole entry or
// none, a killed writer leaves a file that the next look removes, and nothing is ever locked. An
// entry says how long it is and what its bytes hash to; one that is damaged is removed and counts
// as never stored. Least recently used entries go first when the folder holds more than its bound.
//
//   "assay-compiled 1\n" | SHA-256 of the rest, hex | "\n"
//   | body bytes, decimal | "\n" | body | blob
//
// Any thread; several processes at once. Never throws and never fails a compile: without space or
// permission nothing is kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/frames/frame.h"

namespace assay::node {

class CompileCache {
 public:
  // An empty folder keeps nothing.
  CompileCache(std::filesystem::path folder, std::uint64_t max_bytes);
  CompileCache(const CompileCache&) = delete;
  CompileCache& operator=(const CompileCache&) = delete;

  // The name of what `parts` decide together. Two lists that differ in any way have different keys.
  [[nodiscard]] static std::string key(const std::vector<std::string>& parts);
  // A file or folder as a part of a key: one that was replaced is another.
  [[nodiscard]] static std::string identity(const std::filesystem::path& path);

  [[nodiscard]] std::optional<frames::Frame> find(const std::string& key);
  // Body and blob; descriptors are not kept.
  void keep(const std::string& key, const frames::Frame& answer);

  struct Counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t damaged = 0;
    std::uint64_t bytes = 0;  // at the last look, and what was kept since
  };
  [[nodiscard]] Counts counts() const;

 private:
  [[nodiscard]] std::filesystem::path file(const std::string& key) const;
  // Looks at the whole folder: removes what killed writers left, and entries beyond the bound.
  void tidy();

  const std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
  std::mutex mutex_{};
  std::uint64_t kept_since_look_ = 0;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
  std::atomic<std::uint64_t> damaged_{0};
};

}  // namespace assay::node
