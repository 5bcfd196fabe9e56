// The statements that change the journal. Each function runs inside a transaction of its caller,
// who owns the connection and its lock. Misuse (an unknown job, a stage out of turn) is
// std::invalid_argument.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/job/kind.h"
#include "engine/job/record.h"
#include "engine/journal/database.h"

namespace assay::journal {

// A stage that is written with the end, in one transaction.
struct LastStage {
  std::uint64_t seq = 0;
  job::StageRecord record{};
  std::string body{};  // JSON text, bounded already
};

struct Ending {
  std::string job_id{};
  job::Verdict verdict = job::Verdict::engine_fault;
  job::State state = job::State::failed;
  std::string conclusion{};  // JSON text, bounded already
  std::vector<LastStage> last_stages{};
};

void insert_job(const Database& database, const job::JobRecord& record, const std::string& instance,
                const std::string& request);

// What append() must know of a job before it writes. nullopt: no such job.
struct JobHead {
  std::string kind{};
  std::string instance{};
  bool final = false;
};
[[nodiscard]] std::optional<JobHead> job_head(const Database& database, const std::string& job_id);

// False: this very stage is recorded already. Without `state_after` the job's state stays.
[[nodiscard]] bool insert_stage(const Database& database, const std::string& job_id,
                                std::uint64_t seq, const job::StageRecord& stage,
                                const std::string& body, std::optional<job::State> state_after,
                                std::span<const job::ArtifactLink> artifacts, std::int64_t now_ns);

// False: the job has ended already, or there is none.
[[nodiscard]] bool end_job(const Database& database, const Ending& ending, std::int64_t now_ns);

// Ends all unfinished jobs of an instance as interrupted, their stages kept. Returns how many.
[[nodiscard]] std::size_t interrupt_jobs_of(const Database& database, const std::string& instance,
                                            std::int64_t now_ns);

// Returns how many were finished and are gone now.
[[nodiscard]] std::size_t delete_finished(const Database& database,
                                          std::span<const std::string> job_ids);

}  // namespace assay::journal
