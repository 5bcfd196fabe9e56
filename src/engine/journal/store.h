// The Journal's inside. Two connections, so that a reader never waits for a writer's disk:
// `write_mutex_` guards the writing one, `read_mutex_` the reading one, `watch_mutex_` what waiters
// look at, `settle_mutex_` what is on the disk. Taken in this order, settle_mutex_ first, never the
// other way round; the log is called under none.
//
// A sync that fails says so once, and the kernel may have dropped what it could not write: the next
// would say that all is well, and what is written behind the gap is lost with it. So the
// write-ahead log is in doubt from then on, and whatever is next written or settled first copies it
// into the database and begins it anew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>

#include "engine/journal/ballast.h"
#include "engine/journal/journal.h"
#include "engine/journal/opening.h"
#include "engine/journal/reading.h"
#include "engine/journal/writing.h"

namespace assay::journal {

class Journal::Store {
 public:
  using Clock = std::chrono::steady_clock;

  Store(std::filesystem::path state_dir, Options options);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  void submit(job::JobRecord record, std::string last_asked);
  void append(const std::string& job_id, std::uint64_t seq, const job::StageRecord& stage,
              std::span<const job::ArtifactLink> artifacts);
  void settle();
  bool conclude(Ending ending, const std::function<void()>& once_seen);

  std::optional<job::JobRecord> find(const std::string& job_id, const std::string& principal);
  std::vector<job::JobRecord> recent(const std::string& principal, std::size_t limit);
  std::optional<job::JobRecord> wait(const std::string& job_id, const std::string& principal,
                                     std::size_t stages_seen, Clock::time_point deadline,
                                     const std::stop_token& stop);
  // Runs `query(reader)`.
  template <typename Query>
  auto read(Query&& query) {
    const std::lock_guard lock(read_mutex_);
    return guarded([&] { return query(*opened_.reader); });
  }

  std::size_t recover();
  std::size_t apply_retention();
  std::size_t remove_finished(const std::string& principal, std::chrono::seconds age);
  void require_writable();
  [[nodiscard]] std::int64_t now_ns() const;
  std::size_t make_room(std::uint64_t bytes);
  void tidy_file();

 private:
  // Leaves a mark for the next start if `use` meets damage.
  template <typename Use>
  auto guarded(Use&& use) {
    try {
      return use();
    } catch (const JournalUnavailable& error) {
      if (error.why == JournalUnavailable::Why::damaged) mark_suspect();
      throw;
    }
  }

  // One durable transaction around `change(writer)`; ends that wait to be written go with it.
  template <typename Change>
  auto write(Change&& change) {
    const std::lock_guard lock(write_mutex_);
    return guarded([&] {
      require_file_in_place();
      require_sound_log();
      auto result = in_transaction(change);
      write_pending_ends();
      return result;
    });
  }

  // The same, but the disk may still be at it: settle() waits for that.
  template <typename Change>
  auto write_ahead(Change&& change) {
    if (!write_ahead_log_) return write(change);
    const std::lock_guard lock(write_mutex_);
    return guarded([&] {
      require_file_in_place();
      require_sound_log();
      auto result = in_transaction(change, false);
      ++written_;
      write_pending_ends();
      return result;
    });
  }

  template <typename Change>
  auto in_transaction(Change&& change, bool waits_for_disk = true) {
    opened_.writer->wait_for_disk(waits_for_disk);
    Transaction transaction(*opened_.writer);
    auto result = change(*opened_.writer);
    commit(transaction);
    return result;
  }

  // For what must get through: gives up the ballast if the disk is full.
  template <typename Write>
  auto with_reserve(Write&& writes) {
    try {
      return writes();
    } catch (const JournalUnavailable& error) {
      if (error.why != JournalUnavailable::Why::disk_full || !ballast_.give_up()) throw;
    }
    return writes();
  }

  template <typename Change>
  auto write_with_reserve(Change&& change) {
    return with_reserve([&] { return write(change); });
  }

  struct Live {
    std::size_t stages = 0;
    std::string last_asked{};
  };

  [[nodiscard]] std::string last_asked_of(const std::string& job_id);
  void require_file_in_place() const;
  void mark_suspect() const noexcept;
  void doubt_log() noexcept;
  // Each with write_mutex_ held.
  void commit(Transaction& transaction);
  void require_sound_log();
  void begin_log_anew();
  void write_pending_ends();
  bool is_pending(const std::string& job_id);
  void overlay_pending(job::JobRecord& record);
  std::size_t remove_jobs(const std::vector<std::string>& job_ids);
  [[nodiscard]] const job::Kind& kind(const std::string& name) const;
  [[nodiscard]] std::filesystem::path instances() const { return state_dir_ / "instances"; }
  void say(const std::string& text) const;

  const std::filesystem::path state_dir_;
  const Options options_;
  const Ballast ballast_;
  Opened opened_;
  posix::Descriptor write_ahead_log_{};  // none on a network file system
  dev_t file_device_ = 0;
  ino_t file_inode_ = 0;

  std::mutex write_mutex_{};
  std::mutex read_mutex_{};
  std::mutex settle_mutex_{};
  std::atomic<std::uint64_t> written_{0};  // ahead of the disk, in all
  std::uint64_t settled_ = 0;              // of these
  std::atomic<bool> log_in_doubt_{false};  // a sync of it has failed
  std::mutex watch_mutex_{};
  std::condition_variable_any changed_{};
  std::map<std::string, Live> live_{};       // this instance's unfinished jobs
  std::map<std::string, Ending> pending_{};  // ends the storage has refused so far
};

}  // namespace assay::journal
