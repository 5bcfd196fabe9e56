#include "engine/journal/journal.h"

#include <stdexcept>

#include "engine/journal/body.h"
#include "engine/journal/store.h"

namespace assay::journal {

Journal::Journal(std::filesystem::path state_dir, Options options)
    : store_(std::make_unique<Store>(std::move(state_dir), std::move(options))) {
  recover();
}

Journal::~Journal() = default;

void Journal::submit(job::JobRecord record, std::string last_asked) {
  store_->submit(std::move(record), std::move(last_asked));
}

void Journal::append(const std::string& job_id, std::uint64_t seq, const job::StageRecord& stage,
                     std::span<const job::ArtifactLink> artifacts) {
  store_->append(job_id, seq, stage, artifacts);
}

void Journal::settle() { store_->settle(); }

bool Journal::conclude(const std::string& job_id, job::Verdict verdict, job::State state,
                       const nlohmann::json& conclusion,
                       std::span<const job::StageRecord> last_stages, std::uint64_t seq,
                       const std::function<void()>& once_seen) {
  if (!job::is_final(state)) {
    throw std::invalid_argument("no job ends as '" + std::string(job::name(state)) + "'");
  }
  Ending ending{.job_id = job_id,
                .verdict = verdict,
                .state = state,
                .conclusion = conclusion_text(conclusion, kMaxBodyBytes)};
  for (const job::StageRecord& stage : last_stages) {
    ending.last_stages.push_back(
        {.seq = seq++,
         .record = stage,
         .body = text_of(stage.body, kMaxBodyBytes, "stage '" + stage.name + "'")});
  }
  return store_->conclude(std::move(ending), once_seen);
}

std::optional<job::JobRecord> Journal::find(const std::string& job_id,
                                            const std::string& principal) const {
  return store_->find(job_id, principal);
}

std::vector<job::JobRecord> Journal::recent(const std::string& principal, std::size_t limit) const {
  return store_->recent(principal, limit);
}

std::optional<job::JobRecord> Journal::wait(const std::string& job_id, const std::string& principal,
                                            std::size_t stages_seen,
                                            std::chrono::steady_clock::time_point deadline,
                                            const std::stop_token& stop) const {
  return store_->wait(job_id, principal, stages_seen, deadline, stop);
}

Counts Journal::counts() const {
  const std::int64_t now_ns = store_->now_ns();
  return store_->read([now_ns](const Database& database) { return read_counts(database, now_ns); });
}

void Journal::require_writable() { store_->require_writable(); }

std::size_t Journal::remove_finished(const std::string& principal, std::chrono::seconds age) {
  return store_->remove_finished(principal, age);
}

bool Journal::references(const std::string& artifact_id) const {
  return store_->read(
      [&](const Database& database) { return is_referenced(database, artifact_id); });
}

std::size_t Journal::recover() { return store_->recover(); }

Swept Journal::sweep() {
  Swept swept;
  swept.interrupted = store_->recover();
  swept.removed = store_->apply_retention();
  store_->tidy_file();
  return swept;
}

std::size_t Journal::make_room(std::uint64_t bytes) { return store_->make_room(bytes); }

}  // namespace assay::journal
