// What survives: every job, every stage it passed and how it ended, in SQLite (WAL,
// synchronous=FULL; a rollback journal on network file systems) below the state directory. Written
// by server processes only; one Journal per process, made by main; any thread may call. It has no
// thread of its own: main calls sweep() every few minutes.
//
// Several servers may share a state directory. Each holds an instance lock that the kernel releases
// when it dies, however it dies; a job belongs to the instance that submitted it, and once that is
// gone whoever looks next ends the job as `interrupted`, stages kept.
//
// Every write outlives the process that made it once the call has returned. Submissions and stages
// outlive the machine's power only once settle() has returned, or anything else was written since:
// so that a job goes on while the disk is still at it. All else returns when the row is on the disk
// (0.1 to 2 ms), though other threads and servers may see the end of a job before. What is expected
// to fail (disk full, read-only, I/O error) throws JournalUnavailable and leaves the journal as it
// was: what was acknowledged stays, and stays readable.
//
//   journal.db                    jobs, stages, links to artifacts
//   instances/<id>.lock           one per server, locked while it lives
//   ballast                       space kept back so that a full disk still takes the ends of jobs
//   opening.lock                  held by a server for as long as it starts
//   journal.db.corrupt-<time>     set aside, never read again
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/job/kind.h"
#include "engine/job/record.h"
#include "engine/journal/counts.h"
#include "engine/journal/unavailable.h"

namespace assay::journal {

enum class FileSystem { detect, local, network };

struct Options {
  std::vector<job::Kind> kinds{};
  // Retention: finished jobs beyond any of these go, oldest end first; unfinished ones never.
  std::chrono::seconds keep_for = std::chrono::hours(24 * 7);
  std::size_t keep_jobs = 10'000;
  std::uint64_t keep_bytes = 1ULL << 30;   // bodies and linked artifacts together
  std::uint64_t ballast_bytes = 4U << 20;  // 0: none
  std::chrono::milliseconds busy_timeout{5'000};
  FileSystem file_system = FileSystem::detect;
  // Told what was recovered, set aside or closed to others; never called under a lock.
  std::function<void(const std::string&)> log{};
  // Unix time in ns; empty: the system's clock.
  std::function<std::int64_t()> now_ns{};
};

// A stage's body or a conclusion is small; what is large is an artifact. A request holds sources.
inline constexpr std::size_t kMaxBodyBytes = 1U << 20;
inline constexpr std::size_t kMaxRequestBytes = 16U << 20;

struct Swept {
  std::size_t interrupted = 0;  // jobs of servers that have died
  std::size_t removed = 0;      // jobs beyond the retention limits
};

class Journal {
 public:
  // Creates the directory (mode 0700) and what is missing in it; ends the jobs of dead instances. A
  // damaged database is set aside, with a word in the log. Throws std::runtime_error for a
  // directory that is another user's and open to others, or was made by a newer version;
  // JournalUnavailable when the storage refuses, or when the damaged database is in use by a living
  // server.
  Journal(std::filesystem::path state_dir, Options options);
  // Ends this instance's unfinished jobs as interrupted, as far as the storage allows.
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Written before it returns, with the stages the record has already (numbered from 0). Sets
  // created_ns, updated_ns and state. `last_asked` is the last stage the job is to reach (empty:
  // all of them), so that no state beyond is told. Throws std::invalid_argument for an unknown kind
  // or stage, an id that exists, or a request beyond kMaxRequestBytes.
  void submit(job::JobRecord record, std::string last_asked = {});

  // Written before it returns: the engine begins the next stage only then. `seq` grows with every
  // stage of a job, gaps allowed; the same call again changes nothing. The artifacts are in the
  // store already; this links them to the job, which keeps them from eviction. A stage without
  // started_ns gets it from the clock and its elapsed_ms. Throws std::invalid_argument for a stage
  // the kind does not declare or that comes out of turn, a job that is concluded, unknown or
  // another server's, or a body beyond kMaxBodyBytes.
  void append(const std::string& job_id, std::uint64_t seq, const job::StageRecord& stage,
              std::span<const job::ArtifactLink> artifacts = {});

  // Blocks until all that any thread had submitted or appended is on the disk. Throws
  // JournalUnavailable if it cannot get there; the next call, as any write, first writes anew what
  // the disk may have dropped.
  void settle();

  // How the job ended: the first conclusion wins, a later one changes nothing and returns false.
  // One beyond kMaxBodyBytes is cut to its "summary" and says so in "truncated". Gives up the
  // ballast if the disk is full. If even that does not help it throws JournalUnavailable, but
  // find() and wait() of this process tell the end from now on, and it is written as soon as any
  // write succeeds. Throws std::invalid_argument for a state that is not final or a verdict the
  // kind does not declare. `last_stages` are appended, numbered from `seq`, in the same
  // transaction. find() tells the end a moment before it is on the disk, when conclude() returns;
  // in between `once_seen` is called, under no lock. If the disk then fails, JournalUnavailable is
  // thrown and find() tells the end all the same; it is written anew with whatever is written next.
  bool conclude(const std::string& job_id, job::Verdict verdict, job::State state,
                const nlohmann::json& conclusion,
                std::span<const job::StageRecord> last_stages = {}, std::uint64_t seq = 0,
                const std::function<void()>& once_seen = {});

  // Nothing if there is none, or it is another principal's: the two are not told apart.
  [[nodiscard]] std::optional<job::JobRecord> find(const std::string& job_id,
                                                   const std::string& principal) const;
  // Newest first. Requests, stages and artifacts are left out.
  [[nodiscard]] std::vector<job::JobRecord> recent(const std::string& principal,
                                                   std::size_t limit) const;
  // Blocks until the job has more than `stages_seen` stages or is final, the deadline, or `stop`;
  // then the job as it is. SIZE_MAX waits for the end. Another server's job is looked at every 100
  // ms.
  [[nodiscard]] std::optional<job::JobRecord> wait(const std::string& job_id,
                                                   const std::string& principal,
                                                   std::size_t stages_seen,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const std::stop_token& stop) const;
  // Of all principals.
  [[nodiscard]] Counts counts() const;
  // Writes and takes nothing: what submit() would meet now. Throws JournalUnavailable.
  void require_writable();
  // Removes one principal's jobs that ended longer ago than `age`. Returns how many.
  std::size_t remove_finished(const std::string& principal, std::chrono::seconds age);
  // True while a job links this artifact.
  [[nodiscard]] bool references(const std::string& artifact_id) const;

  // Marks the unfinished jobs of dead instances `interrupted`, with the stages they had. Runs at
  // construction and in sweep(); may run at any time. Returns how many.
  std::size_t recover();
  // Recovers, applies the retention limits, gives space back to the file system, takes the ballast.
  Swept sweep();
  // Removes the oldest finished jobs that link artifacts until `bytes` of links are gone, or no
  // such job is left: for an artifact store that is full. Returns how many jobs went.
  std::size_t make_room(std::uint64_t bytes);

 private:
  class Store;
  std::unique_ptr<Store> store_;
};

}  // namespace assay::journal
