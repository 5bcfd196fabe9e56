#include "engine/journal/schema.h"

#include <array>
#include <chrono>

#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

// In a job, `bytes` is what retention counts: bodies and linked artifacts. `verdict` is set exactly
// when the job has ended.
constexpr std::array<const char*, 1> kMigrations{R"(
CREATE TABLE job(
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, principal TEXT NOT NULL, instance TEXT NOT NULL,
  created_ns INTEGER NOT NULL, updated_ns INTEGER NOT NULL, state TEXT NOT NULL, verdict TEXT,
  stages INTEGER NOT NULL, bytes INTEGER NOT NULL, request TEXT NOT NULL, conclusion TEXT NOT NULL
) STRICT;
CREATE INDEX job_by_time ON job(principal, created_ns);
CREATE INDEX job_unfinished ON job(instance) WHERE verdict IS NULL;
CREATE INDEX job_by_state ON job(state, verdict, bytes);
CREATE INDEX job_by_age ON job(updated_ns, verdict, bytes, id);
CREATE TABLE stage(
  job TEXT NOT NULL REFERENCES job(id) ON DELETE CASCADE, seq INTEGER NOT NULL,
  name TEXT NOT NULL, status TEXT NOT NULL, started_ns INTEGER NOT NULL, elapsed_ms REAL NOT NULL,
  body TEXT NOT NULL, PRIMARY KEY(job, seq)) WITHOUT ROWID, STRICT;
CREATE TABLE artifact(
  job TEXT NOT NULL, seq INTEGER NOT NULL, place INTEGER NOT NULL,
  name TEXT NOT NULL, media_type TEXT NOT NULL, bytes INTEGER NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY(job, seq, place),
  FOREIGN KEY(job, seq) REFERENCES stage(job, seq) ON DELETE CASCADE) WITHOUT ROWID, STRICT;
CREATE INDEX artifact_by_id ON artifact(id);
)"};

std::int64_t unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t count(const Database& database, const char* sql) {
  Statement row(database, sql);
  return row.step() ? row.integer(0) : 0;
}

std::int64_t stored_version(const Database& database) {
  if (count(database, "SELECT count(*) FROM sqlite_master") == 0) return 0;
  if (count(database, "SELECT count(*) FROM sqlite_master WHERE name = 'migration'") == 0) {
    throw JournalUnavailable(JournalUnavailable::Why::damaged,
                             "journal: the file holds no journal that this version knows");
  }
  return count(database, "SELECT max(version) FROM migration");
}

}  // namespace

std::int64_t schema_version() { return static_cast<std::int64_t>(kMigrations.size()); }

void migrate(const Database& database) {
  // Read first: the usual start writes nothing.
  if (stored_version(database) == schema_version()) return;
  Transaction transaction(database);
  const std::int64_t stored = stored_version(database);
  if (stored > schema_version()) {
    throw SchemaTooNew("the journal has version " + std::to_string(stored) + ", this assay knows " +
                       std::to_string(schema_version()) +
                       ": use the newer assay, or another --state");
  }
  database.execute(
      "CREATE TABLE IF NOT EXISTS migration("
      "version INTEGER PRIMARY KEY, applied_ns INTEGER NOT NULL, product TEXT NOT NULL) STRICT");
  for (std::int64_t version = stored + 1; version <= schema_version(); ++version) {
    database.execute(kMigrations.at(static_cast<std::size_t>(version - 1)));
    Statement insert(database, "INSERT INTO migration VALUES(?, ?, ?)");
    insert.bind(version).bind(unix_ns()).bind(ASSAY_VERSION).run();
  }
  transaction.commit();
}

}  // namespace assay::journal
