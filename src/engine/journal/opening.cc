#include "engine/journal/opening.h"

#include <cstdint>
#include <ctime>
#include <stdexcept>
#include <string>
#include <system_error>

#include "engine/job/record.h"
#include "engine/journal/schema.h"
#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using Why = JournalUnavailable::Why;

// Checked at every start; a larger one only after a server has met damage.
constexpr std::uintmax_t kAlwaysCheckedBytes = 4U << 20;

void set_journal_mode(const Database& database, bool network_file_system) {
  const std::string wanted = network_file_system ? "delete" : "wal";
  Statement pragma(database,
                   network_file_system ? "PRAGMA journal_mode=DELETE" : "PRAGMA journal_mode=WAL");
  if (!pragma.step() || pragma.text(0) != wanted) {
    throw JournalUnavailable(Why::io_error,
                             "journal: the file system does not take journal mode " + wanted);
  }
}

void check_content(const Database& database, bool thoroughly) {
  Statement check(database, thoroughly ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)");
  if (check.step() && check.text(0) != "ok") {
    throw JournalUnavailable(Why::damaged, "journal: " + check.text(0));
  }
}

std::unique_ptr<Database> open_writer(const fs::path& state_dir,
                                      std::chrono::milliseconds busy_timeout,
                                      bool network_file_system) {
  const fs::path file = database_file(state_dir);
  auto database = std::make_unique<Database>(file, busy_timeout);
  // Only an empty file takes this, and only before its journal mode is set.
  database->execute("PRAGMA auto_vacuum=INCREMENTAL");
  set_journal_mode(*database, network_file_system);
  database->execute(
      "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA journal_size_limit=16777216");
  std::error_code none;
  const bool suspect = fs::exists(suspect_mark(state_dir), none);
  const auto bytes = fs::file_size(file, none);
  if (suspect || (!none && bytes <= kAlwaysCheckedBytes)) check_content(*database, suspect);
  migrate(*database);
  if (suspect) fs::remove(suspect_mark(state_dir), none);
  return database;
}

std::unique_ptr<Database> open_reader(const fs::path& state_dir,
                                      std::chrono::milliseconds busy_timeout) {
  auto database = std::make_unique<Database>(database_file(state_dir), busy_timeout);
  database->execute("PRAGMA query_only=ON");
  return database;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

void set_aside(const fs::path& state_dir, const std::string& why, const Log& log) {
  const fs::path file = database_file(state_dir);
  fs::path aside = file.string() + ".corrupt-" + utc_now();
  if (fs::exists(aside)) aside += "-" + job::new_job_id();
  for (const char* part : {"-wal", "-shm", ""}) {
    std::error_code error;
    fs::rename(file.string() + part, aside.string() + part, error);
    if (error && error != std::errc::no_such_file_or_directory) {
      throw unavailable(error.value(), "set the damaged " + file.string() + part + " aside");
    }
  }
  std::error_code ignored;
  fs::remove(suspect_mark(state_dir), ignored);
  sync_folder(state_dir);
  if (log) {
    log("the journal is damaged (" + why + "): it was set aside as " + aside.string() +
        " and a new one begun; earlier jobs are in the old file only");
  }
}

// Our own lock file is not there yet.
void require_alone(const fs::path& instances, const std::string& why) {
  for (const auto& id : Instance::all(instances)) {
    if (!Instance::lives(instances, id)) continue;
    throw JournalUnavailable(Why::damaged, why +
                                               "; another running server uses this journal: "
                                               "stop all servers of this state directory");
  }
}

}  // namespace

fs::path database_file(const fs::path& state_dir) { return state_dir / "journal.db"; }
fs::path suspect_mark(const fs::path& state_dir) { return state_dir / "journal.db.suspect"; }

Opened open_journal(const fs::path& state_dir, std::chrono::milliseconds busy_timeout,
                    bool network_file_system, const Ballast& ballast, const Log& log) {
  make_private(state_dir, log);
  const fs::path instances = state_dir / "instances";
  make_private(instances, log);
  // One server at a time decides whether the database is sound.
  const posix::Descriptor alone = lock_file(state_dir / "opening.lock", busy_timeout);
  Opened opened;
  const auto open = [&] {
    try {
      return open_writer(state_dir, busy_timeout, network_file_system);
    } catch (const JournalUnavailable& error) {
      // A full disk: opening writes a little, which is what the ballast is for.
      if (error.why == Why::damaged || !ballast.give_up()) throw;
      if (log) log("the disk is full: space that was kept back was given up to open the journal");
      return open_writer(state_dir, busy_timeout, network_file_system);
    }
  };
  try {
    opened.writer = open();
  } catch (const JournalUnavailable& error) {
    if (error.why != Why::damaged) throw;
    require_alone(instances, error.what());
    set_aside(state_dir, error.what(), log);
    opened.writer = open_writer(state_dir, busy_timeout, network_file_system);
  }
  opened.reader = open_reader(state_dir, busy_timeout);
  opened.instance = std::make_unique<Instance>(instances, job::new_job_id());
  return opened;
}

}  // namespace assay::journal
