// How a server comes to a usable journal, whatever it finds: nothing, an older one, a damaged one,
// one that other servers are using. Called once per Journal, on the thread that makes it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>

#include "engine/journal/ballast.h"
#include "engine/journal/database.h"
#include "engine/journal/instance.h"
#include "engine/journal/state_directory.h"

namespace assay::journal {

struct Opened {
  std::unique_ptr<Instance> instance{};
  std::unique_ptr<Database> writer{};
  std::unique_ptr<Database> reader{};  // refuses to write
};

// The database's file, and the mark that a server has met damage in it: the next start looks
// closely.
[[nodiscard]] std::filesystem::path database_file(const std::filesystem::path& state_dir);
[[nodiscard]] std::filesystem::path suspect_mark(const std::filesystem::path& state_dir);

// A full disk costs the ballast. A damaged database is renamed to journal.db.corrupt-<time> with a
// word in the log, and a new one begun. Throws JournalUnavailable, also (damaged) when a living
// server uses the damaged one; std::runtime_error for a directory that is not ours to use and for a
// newer schema.
[[nodiscard]] Opened open_journal(const std::filesystem::path& state_dir,
                                  std::chrono::milliseconds busy_timeout, bool network_file_system,
                                  const Ballast& ballast, const Log& log);

}  // namespace assay::journal
