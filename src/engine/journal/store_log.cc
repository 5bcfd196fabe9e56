// The write-ahead log and the disk: what waits for it, and what follows when it refuses (store.h).
#include <unistd.h>

#include <cerrno>

#include "engine/journal/store.h"

namespace assay::journal {

// Whoever comes while another waits for the disk is served by one more wait for all of them.
void Journal::Store::settle() {
  if (!write_ahead_log_) return;
  const std::uint64_t wanted = written_;
  const std::lock_guard lock(settle_mutex_);
  if (settled_ >= wanted) return;
  const std::uint64_t covered = written_;
  if (log_in_doubt_) {
    const std::lock_guard writing(write_mutex_);
    guarded([&] {
      require_file_in_place();
      require_sound_log();
    });
  } else if (::fdatasync(write_ahead_log_.get()) != 0) {
    const int error = errno;
    doubt_log();
    throw unavailable(error, "journal: settle");
  }
  settled_ = covered;
}

void Journal::Store::doubt_log() noexcept {
  log_in_doubt_ = true;
  mark_suspect();
}

void Journal::Store::commit(Transaction& transaction) {
  try {
    transaction.commit();
  } catch (const JournalUnavailable&) {
    if (opened_.writer->take_failed_sync()) doubt_log();
    throw;
  }
}

void Journal::Store::require_sound_log() {
  if (write_ahead_log_ && log_in_doubt_) begin_log_anew();
}

void Journal::Store::begin_log_anew() {
  const auto copy_and_empty = [&] {
    Statement checkpoint(*opened_.writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    const bool is_busy = checkpoint.step() && checkpoint.integer(0) != 0;
    if (is_busy) {
      throw JournalUnavailable(JournalUnavailable::Why::busy,
                               "journal: others read a log that is in doubt");
    }
  };
  try {
    copy_and_empty();
  } catch (const JournalUnavailable&) {
    // SQLite's own descriptor is told once, too, of what ours was told; a copy is written whole.
    if (!opened_.writer->take_failed_sync()) throw;
    copy_and_empty();
  }
  log_in_doubt_ = false;
}

}  // namespace assay::journal
