#include "engine/journal/writing.h"

#include <stdexcept>

namespace assay::journal {
namespace {

constexpr double kNsPerMs = 1e6;

std::int64_t as_integer(std::uint64_t value) { return static_cast<std::int64_t>(value); }

constexpr const char* kInterrupted =
    R"({"summary":"The server that ran this job ended before the job did. The stages it had are )"
    R"(kept; run the job again.","detail":{"cause":"server_ended"}})";

// True: it is there, and the same. Throws if it is another stage, or a later one is recorded.
bool already_there(const Database& database, const std::string& job_id, std::uint64_t seq,
                   const job::StageRecord& stage, const std::string& body) {
  Statement row(database,
                "SELECT seq, name, status, body FROM stage WHERE job = ? AND seq >= ? "
                "ORDER BY seq LIMIT 1");
  if (!row.bind(job_id).bind(as_integer(seq)).step()) return false;
  const bool same = row.integer(0) == as_integer(seq) && row.text(1) == stage.name &&
                    row.text(2) == job::name(stage.status) && row.text(3) == body;
  if (!same) {
    throw std::invalid_argument("job " + job_id + " has stage '" + row.text(1) + "' at " +
                                std::to_string(row.integer(0)) + ", so '" + stage.name +
                                "' cannot be its " + std::to_string(seq));
  }
  return true;
}

void insert_artifacts(const Database& database, const std::string& job_id, std::uint64_t seq,
                      std::span<const job::ArtifactLink> artifacts) {
  std::int64_t place = 0;
  for (const auto& one : artifacts) {
    Statement insert(database, "INSERT INTO artifact VALUES(?, ?, ?, ?, ?, ?, ?)");
    insert.bind(job_id).bind(as_integer(seq)).bind(place++).bind(one.name).bind(one.media_type);
    insert.bind(as_integer(one.bytes)).bind(one.id).run();
  }
}

}  // namespace

void insert_job(const Database& database, const job::JobRecord& record, const std::string& instance,
                const std::string& request) {
  Statement insert(database,
                   "INSERT INTO job VALUES(?, ?, ?, ?, ?, ?, ?, NULL, 0, ?, ?, '{}') "
                   "ON CONFLICT(id) DO NOTHING");
  insert.bind(record.id).bind(record.kind).bind(record.principal).bind(instance);
  insert.bind(record.created_ns).bind(record.updated_ns).bind(job::name(record.state));
  insert.bind(as_integer(request.size())).bind(request).run();
  if (database.changes() == 0) throw std::invalid_argument("job " + record.id + " exists already");
}

std::optional<JobHead> job_head(const Database& database, const std::string& job_id) {
  Statement row(database, "SELECT kind, instance, verdict IS NOT NULL FROM job WHERE id = ?");
  if (!row.bind(job_id).step()) return std::nullopt;
  return JobHead{.kind = row.text(0), .instance = row.text(1), .final = row.integer(2) != 0};
}

bool insert_stage(const Database& database, const std::string& job_id, std::uint64_t seq,
                  const job::StageRecord& stage, const std::string& body,
                  std::optional<job::State> state_after,
                  std::span<const job::ArtifactLink> artifacts, std::int64_t now_ns) {
  if (already_there(database, job_id, seq, stage, body)) return false;
  const std::int64_t started_ns =
      stage.started_ns != 0 ? stage.started_ns
                            : now_ns - static_cast<std::int64_t>(stage.elapsed_ms * kNsPerMs);
  Statement insert(database, "INSERT INTO stage VALUES(?, ?, ?, ?, ?, ?, ?)");
  insert.bind(job_id).bind(as_integer(seq)).bind(stage.name).bind(job::name(stage.status));
  insert.bind(started_ns).bind(stage.elapsed_ms).bind(body).run();
  insert_artifacts(database, job_id, seq, artifacts);
  std::uint64_t bytes = body.size();
  for (const auto& one : artifacts) bytes += one.bytes;
  Statement update(
      database,
      "UPDATE job SET state = COALESCE(?, state), updated_ns = ?, stages = stages + 1, "
      "bytes = bytes + ? WHERE id = ?");
  state_after ? update.bind(job::name(*state_after)) : update.bind_null();
  update.bind(now_ns).bind(as_integer(bytes)).bind(job_id).run();
  return true;
}

bool end_job(const Database& database, const Ending& ending, std::int64_t now_ns) {
  const auto head = job_head(database, ending.job_id);
  if (!head || head->final) return false;
  for (const LastStage& last : ending.last_stages) {
    (void)insert_stage(database, ending.job_id, last.seq, last.record, last.body, ending.state, {},
                       now_ns);
  }
  Statement update(database,
                   "UPDATE job SET state = ?, verdict = ?, conclusion = ?, updated_ns = ?, "
                   "bytes = bytes + ? WHERE id = ? AND verdict IS NULL");
  update.bind(job::name(ending.state)).bind(job::name(ending.verdict)).bind(ending.conclusion);
  update.bind(now_ns).bind(as_integer(ending.conclusion.size())).bind(ending.job_id).run();
  return database.changes() > 0;
}

std::size_t interrupt_jobs_of(const Database& database, const std::string& instance,
                              std::int64_t now_ns) {
  Statement update(database,
                   "UPDATE job SET state = ?, verdict = ?, conclusion = ?, updated_ns = ? "
                   "WHERE instance = ? AND verdict IS NULL");
  update.bind(job::name(job::State::interrupted)).bind(job::name(job::Verdict::engine_fault));
  update.bind(kInterrupted).bind(now_ns).bind(instance).run();
  return static_cast<std::size_t>(database.changes());
}

std::size_t delete_finished(const Database& database, std::span<const std::string> job_ids) {
  std::size_t gone = 0;
  for (const auto& id : job_ids) {
    Statement erase(database, "DELETE FROM job WHERE id = ? AND verdict IS NOT NULL");
    erase.bind(id).run();
    gone += static_cast<std::size_t>(database.changes());
  }
  return gone;
}

}  // namespace assay::journal
