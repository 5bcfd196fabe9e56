// The statements that read the journal. The caller owns the connection and its lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/job/record.h"
#include "engine/journal/counts.h"
#include "engine/journal/database.h"

namespace assay::journal {

// One consistent picture, also while another connection writes.
[[nodiscard]] std::optional<job::JobRecord> read_job(const Database& database,
                                                     const std::string& job_id,
                                                     const std::string& principal);

struct Progress {
  std::size_t stages = 0;
  bool final = false;
};
[[nodiscard]] std::optional<Progress> read_progress(const Database& database,
                                                    const std::string& job_id,
                                                    const std::string& principal);

// Newest first, without requests, stages and artifacts.
[[nodiscard]] std::vector<job::JobRecord> read_recent(const Database& database,
                                                      const std::string& principal,
                                                      std::size_t limit);
[[nodiscard]] Counts read_counts(const Database& database, std::int64_t now_ns);
[[nodiscard]] bool is_referenced(const Database& database, const std::string& artifact_id);

// Instances that have unfinished jobs.
[[nodiscard]] std::vector<std::string> busy_instances(const Database& database);

// Finished jobs that retention no longer covers.
struct Limits {
  std::int64_t oldest_ns = 0;
  std::uint64_t jobs = 0;
  std::uint64_t bytes = 0;
};
[[nodiscard]] std::vector<std::string> finished_before(const Database& database,
                                                       const std::string& principal,
                                                       std::int64_t before_ns);
[[nodiscard]] std::vector<std::string> jobs_beyond(const Database& database, const Limits& limits);

// The oldest finished jobs that link at least `bytes` of artifacts between them, or all that link
// any.
[[nodiscard]] std::vector<std::string> oldest_with_artifacts(const Database& database,
                                                             std::uint64_t bytes);

}  // namespace assay::journal
