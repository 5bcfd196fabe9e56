#include "engine/journal/reading.h"

#include "engine/journal/body.h"
#include "engine/journal/unavailable.h"

namespace assay::journal {
namespace {

using job::JobRecord;

// A word outside its table can only be damage: migrations keep old words readable.
template <typename Enum>
Enum known(std::optional<Enum> value, const std::string& text) {
  if (!value) {
    throw JournalUnavailable(JournalUnavailable::Why::damaged,
                             "journal: unknown word '" + text + "' in a row");
  }
  return *value;
}

std::uint64_t as_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

// Columns: id, kind, principal, created_ns, updated_ns, state, verdict, conclusion.
JobRecord head(const Statement& row) {
  JobRecord record{.id = row.text(0),
                   .kind = row.text(1),
                   .principal = row.text(2),
                   .created_ns = row.integer(3),
                   .updated_ns = row.integer(4),
                   .state = known(job::state_from(row.text(5)), row.text(5)),
                   .conclusion = body_from(row.text(7))};
  if (!row.is_null(6)) record.verdict = known(job::verdict_from(row.text(6)), row.text(6));
  return record;
}

void read_stages(const Database& database, JobRecord& record) {
  Statement rows(database,
                 "SELECT name, status, started_ns, elapsed_ms, body FROM stage WHERE job = ? "
                 "ORDER BY seq");
  rows.bind(record.id);
  while (rows.step()) {
    record.stages.push_back({.name = rows.text(0),
                             .status = known(job::stage_status_from(rows.text(1)), rows.text(1)),
                             .started_ns = rows.integer(2),
                             .elapsed_ms = rows.real(3),
                             .body = body_from(rows.text(4))});
  }
}

void read_artifacts(const Database& database, JobRecord& record) {
  Statement rows(database,
                 "SELECT name, media_type, bytes, id, seq FROM artifact WHERE job = ? "
                 "ORDER BY seq, place");
  rows.bind(record.id);
  while (rows.step()) {
    record.artifacts.push_back({.name = rows.text(0),
                                .media_type = rows.text(1),
                                .bytes = as_unsigned(rows.integer(2)),
                                .id = rows.text(3),
                                .seq = as_unsigned(rows.integer(4))});
  }
}

// A read transaction: BEGIN (deferred) takes no lock before the first read.
class Snapshot {
 public:
  explicit Snapshot(const Database& database) : database_(database) {
    Statement(database_, "BEGIN").run();
  }
  ~Snapshot() {
    try {
      if (database_.in_transaction()) Statement(database_, "ROLLBACK").run();
    } catch (const std::exception&) {
      // Nothing was written; the connection begins anew at its next statement.
    }
  }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Database& database_;
};

}  // namespace

std::optional<JobRecord> read_job(const Database& database, const std::string& job_id,
                                  const std::string& principal) {
  const Snapshot snapshot(database);
  Statement row(database,
                "SELECT id, kind, principal, created_ns, updated_ns, state, verdict, conclusion, "
                "request FROM job WHERE id = ? AND principal = ?");
  if (!row.bind(job_id).bind(principal).step()) return std::nullopt;
  JobRecord record = head(row);
  record.request = body_from(row.text(8));
  read_stages(database, record);
  read_artifacts(database, record);
  return record;
}

std::optional<Progress> read_progress(const Database& database, const std::string& job_id,
                                      const std::string& principal) {
  Statement row(database,
                "SELECT stages, verdict IS NOT NULL FROM job WHERE id = ? AND principal = ?");
  if (!row.bind(job_id).bind(principal).step()) return std::nullopt;
  return Progress{.stages = static_cast<std::size_t>(row.integer(0)), .final = row.integer(1) != 0};
}

std::vector<JobRecord> read_recent(const Database& database, const std::string& principal,
                                   std::size_t limit) {
  Statement rows(database,
                 "SELECT id, kind, principal, created_ns, updated_ns, state, verdict, conclusion "
                 "FROM job WHERE principal = ? ORDER BY created_ns DESC LIMIT ?");
  rows.bind(principal).bind(static_cast<std::int64_t>(limit));
  std::vector<JobRecord> records;
  while (rows.step()) records.push_back(head(rows));
  return records;
}

Counts read_counts(const Database& database, std::int64_t now_ns) {
  // Milliseconds: a sum of nanoseconds over many old jobs would not fit.
  Statement rows(database,
                 "SELECT state, verdict, count(*), sum(bytes), sum((? - created_ns) / 1000000) "
                 "FROM job GROUP BY state, verdict");
  rows.bind(now_ns);
  Counts counts;
  double age_ms = 0;
  while (rows.step()) {
    const std::uint64_t jobs = as_unsigned(rows.integer(2));
    counts.by_state[known(job::state_from(rows.text(0)), rows.text(0))] += jobs;
    if (!rows.is_null(1)) {
      counts.by_verdict[known(job::verdict_from(rows.text(1)), rows.text(1))] += jobs;
    }
    counts.jobs += jobs;
    counts.bytes += as_unsigned(rows.integer(3));
    age_ms += static_cast<double>(rows.integer(4));
  }
  if (counts.jobs > 0) counts.mean_age_s = age_ms / 1e3 / static_cast<double>(counts.jobs);
  return counts;
}

bool is_referenced(const Database& database, const std::string& artifact_id) {
  Statement row(database, "SELECT 1 FROM artifact WHERE id = ? LIMIT 1");
  return row.bind(artifact_id).step();
}

std::vector<std::string> busy_instances(const Database& database) {
  Statement rows(database, "SELECT DISTINCT instance FROM job WHERE verdict IS NULL");
  std::vector<std::string> ids;
  while (rows.step()) ids.push_back(rows.text(0));
  return ids;
}

std::vector<std::string> finished_before(const Database& database, const std::string& principal,
                                         std::int64_t before_ns) {
  Statement rows(database,
                 "SELECT id FROM job WHERE principal = ? AND verdict IS NOT NULL AND "
                 "updated_ns < ? ORDER BY updated_ns");
  rows.bind(principal).bind(before_ns);
  std::vector<std::string> ids;
  while (rows.step()) ids.push_back(rows.text(0));
  return ids;
}

std::vector<std::string> jobs_beyond(const Database& database, const Limits& limits) {
  // Unfinished jobs count first: they stay, so they use up the room of finished ones.
  Statement rows(database,
                 "SELECT id FROM (SELECT id, verdict, updated_ns, row_number() OVER w AS place, "
                 "sum(bytes) OVER w AS total FROM job WINDOW w AS (ORDER BY verdict IS NOT NULL, "
                 "updated_ns DESC, id ROWS UNBOUNDED PRECEDING)) WHERE verdict IS NOT NULL AND "
                 "(updated_ns < ? OR place > ? OR total > ?) ORDER BY updated_ns");
  rows.bind(limits.oldest_ns).bind(static_cast<std::int64_t>(limits.jobs));
  rows.bind(static_cast<std::int64_t>(limits.bytes));
  std::vector<std::string> ids;
  while (rows.step()) ids.push_back(rows.text(0));
  return ids;
}

std::vector<std::string> oldest_with_artifacts(const Database& database, std::uint64_t bytes) {
  Statement rows(database,
                 "SELECT job.id, sum(artifact.bytes) FROM job JOIN artifact ON artifact.job = "
                 "job.id WHERE verdict IS NOT NULL GROUP BY job.id ORDER BY updated_ns");
  std::vector<std::string> ids;
  std::uint64_t found = 0;
  while (found < bytes && rows.step()) {
    ids.push_back(rows.text(0));
    found += as_unsigned(rows.integer(1));
  }
  return ids;
}

}  // namespace assay::journal
