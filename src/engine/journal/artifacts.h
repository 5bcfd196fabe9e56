// What stages produce that is too large for the journal, by content: `artifacts/ab/cd…`, the name
// being the SHA-256 of the bytes. Written aside, synced and renamed, so that a reader sees a whole
// file or none, also with several servers on one directory. Size-bounded: the least recently used
// that no job links go first. Name and media type stand in the journal's link, not here.
//
// Any thread; several processes at once. Wired by main:
//   ArtifactStore artifacts(state_dir / "artifacts", 1ULL << 30, log,
//       {.pinned = [&](const std::string& id) { return journal.references(id); },
//        .make_room = [&](std::uint64_t bytes) { journal.make_room(bytes); }});
//   const std::string id = artifacts.put(ptx);
//   journal.append(job_id, seq, stage, std::array{job::ArtifactLink{.name = "ptx", …, .id = id}});
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/journal/unavailable.h"
#include "engine/posix/descriptor.h"

namespace assay::journal {

struct ArtifactOptions {
  // True: a job links it, keep it. Must not call the store. Empty: nothing is kept for its own
  // sake.
  std::function<bool(const std::string& id)> pinned{};
  // Called by a put that finds no room, once, under no lock: unlink about that many bytes. May be
  // empty.
  std::function<void(std::uint64_t bytes)> make_room{};
  // Put or read so recently, a file is not evicted: its link may still be on its way to the
  // journal.
  std::chrono::seconds grace{60};
};

// Bytes [offset, offset + size of `bytes`) of an artifact of `total_bytes`.
struct ArtifactPart {
  std::string bytes{};
  std::uint64_t total_bytes = 0;
};

class ArtifactStore {
 public:
  using Log = std::function<void(const std::string&)>;
  // Creates the folder and removes what killed writers left.
  ArtifactStore(std::filesystem::path folder, std::uint64_t max_bytes, Log log,
                ArtifactOptions options = {});
  ArtifactStore(const ArtifactStore&) = delete;
  ArtifactStore& operator=(const ArtifactStore&) = delete;

  // The id under which get() finds the bytes. Durable when it returns. Throws JournalUnavailable:
  // disk_full also when the store's own bound leaves no room.
  [[nodiscard]] std::string put(std::string_view bytes);

  // Nothing if there is none, or what is there is not what was stored (then it is removed, with a
  // word in the log). A file is hashed whole when this object first reads it and whenever it has
  // changed since. Past the end: no bytes. Throws JournalUnavailable if the file system refuses.
  [[nodiscard]] std::optional<ArtifactPart> get(const std::string& id, std::uint64_t offset,
                                                std::uint64_t length) const;
  [[nodiscard]] std::optional<std::string> get(const std::string& id) const;

  // Takes room as a put would and gives it back: what put() would meet now. Throws
  // JournalUnavailable.
  void require_writable() const;

  // Brings the store below its bound, as far as links allow, and removes what killed writers left.
  // Returns the bytes freed.
  std::uint64_t sweep();

 private:
  // What tells a file that was verified from one that has changed since.
  struct Seen {
    std::uint64_t inode = 0;
    std::uint64_t bytes = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Seen&) const = default;
  };

  [[nodiscard]] std::filesystem::path file(std::string_view id) const;
  // Against evictions by any server, and any other write.
  [[nodiscard]] posix::Descriptor lock(int how) const;
  [[nodiscard]] bool place(const std::string& id, std::string_view bytes);
  // A new file with room for `bytes`, taken before the first is written. Throws JournalUnavailable.
  [[nodiscard]] static posix::Descriptor create(const std::filesystem::path& file,
                                                std::size_t bytes);
  void write_aside(const std::filesystem::path& aside, std::string_view bytes) const;
  [[nodiscard]] bool verified(const std::string& id, const posix::Descriptor& fd,
                              const Seen& seen) const;
  // Evicts until `wanted_bytes` more fit. Returns the bytes freed.
  std::uint64_t evict(std::uint64_t wanted_bytes);
  void remove_stale_temporaries() const;

  const std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
  const Log log_;
  const ArtifactOptions options_;
  mutable std::mutex mutex_{};
  mutable std::map<std::string, Seen> verified_{};
  std::uint64_t held_bytes_ = 0;  // at the last look, and our own puts since
};

}  // namespace assay::journal
