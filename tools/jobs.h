// Jobs as the tools see them: submitted to the journal, run by the engine, every stage recorded
// before the next begins, and on the disk before anybody is told; the end recorded once. Owns a
// thread per unfinished job, and one that waits for the disk.
//
// Any thread may call. Destruction cancels what runs and waits for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/job/record.h"
#include "engine/journal/artifacts.h"
#include "engine/journal/journal.h"
#include "engine/node/engine.h"
#include "tools/job_counters.h"

namespace assay::tools {

class Jobs {
 public:
  using Log = std::function<void(const std::string&)>;
  struct Means {
    bool has_disassembler = false;  // the engine's; what it needs besides is seen when it is used
    // For this long after its end a job is kept; nothing: for good.
    std::optional<std::chrono::seconds> kept_for{};
  };
  Jobs(journal::Journal& journal, journal::ArtifactStore& artifacts, node::Engine& engine, Log log,
       Means means);
  Jobs(journal::Journal& journal, journal::ArtifactStore& artifacts, node::Engine& engine, Log log);
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  // Durable when it returns; runs from then on. Throws journal::JournalUnavailable if it cannot be
  // made durable: then nothing runs. `last_asked`: the last stage it is to reach; empty: all.
  [[nodiscard]] std::string submit(const job::Kind& kind, nlohmann::json request,
                                   const std::string& principal, std::string last_asked = {});

  // Blocks until the job is final, `deadline`, or `stop`; `on_change`, if there is one, is called
  // with every new state of the record it sees. `on_end` is called with the record of the end while
  // its row is on the way to the disk: what is made of it must be told to nobody before this
  // returns, with the same record. Nothing: no such job, or another principal's.
  using Look = std::function<void(const job::JobRecord&)>;
  [[nodiscard]] std::optional<job::JobRecord> wait(const std::string& job_id,
                                                   const std::string& principal,
                                                   std::chrono::steady_clock::time_point deadline,
                                                   const std::stop_token& stop,
                                                   const Look& on_change, const Look& on_end = {});

  // Both tell an end once it is on the disk; for a second at most, and until `stop`, they wait.
  [[nodiscard]] std::optional<job::JobRecord> find(const std::string& job_id,
                                                   const std::string& principal,
                                                   const std::stop_token& stop = {});
  [[nodiscard]] std::vector<job::JobRecord> recent(const std::string& principal, std::size_t limit,
                                                   const std::stop_token& stop = {});

  // What `link` of a record names. Nothing: it was not kept, or is gone.
  [[nodiscard]] std::optional<std::string> artifact(const job::ArtifactLink& link) const;

  // The machine code of a cubin that has been kept, by the engine; blocks. The reason, if there is
  // none.
  struct MachineCode {
    std::optional<std::string> text{};
    std::string missing{};
  };
  [[nodiscard]] MachineCode disassemble(const std::string& cubin, const std::stop_token& stop);
  [[nodiscard]] bool has_disassembler() const { return means_.has_disassembler; }

  [[nodiscard]] std::optional<std::chrono::seconds> kept_for() const { return means_.kept_for; }

  enum class Cancelled { requested, already_final, not_ours, not_found };
  // not_ours: another server runs it.
  [[nodiscard]] Cancelled cancel(const std::string& job_id, const std::string& principal);

  [[nodiscard]] nlohmann::json capabilities(bool refresh);

  // `then` is told the id of every job of this server that has changed, on the thread of that job
  // or the one that waits for the disk: it must not block nor call back. It is not called any more
  // once the handle is gone.
  [[nodiscard]] std::shared_ptr<void> observe(std::function<void(const std::string& job_id)> then);

  [[nodiscard]] const JobCounters& counters() const { return counters_; }
  // Of all principals, and of all servers on the same state directory.
  [[nodiscard]] journal::Counts journal_counts() const { return journal_.counts(); }
  // Throws journal::JournalUnavailable if no job could be made now.
  void require_writable() {
    journal_.require_writable();
    artifacts_.require_writable();
  }
  // Forgets the principal's jobs that ended longer ago than `age`. Returns how many.
  std::size_t remove_finished(const std::string& principal, std::chrono::seconds age) {
    return journal_.remove_finished(principal, age);
  }

 private:
  struct Observers;
  struct Running {
    std::jthread thread{};
    bool done = false;
    bool has_end = false;       // that find() tells
    bool is_concluded = false;  // and it is on the disk, or will not be
    std::uint64_t changes = 0;
  };

  void start(const job::JobRecord& record);
  // Tells of what has been recorded, once it is on the disk.
  void settle(const std::stop_token& stop);
  void stop(const std::set<std::string>& job_ids);
  void run(const job::JobRecord& record, const std::stop_token& stop);
  // Stores what can be stored; what cannot is noted in the stage.
  std::vector<job::ArtifactLink> keep(const std::vector<node::Artifact>& artifacts,
                                      job::StageRecord& stage);
  // With the stages that are still to be written, numbered from `seq`.
  void conclude(const std::string& job_id, const node::Conclusion& conclusion,
                std::span<const job::StageRecord> last_stages = {}, std::uint64_t seq = 0);
  void changed(const std::string& job_id);
  [[nodiscard]] std::optional<job::JobRecord> look(const std::string& job_id,
                                                   const std::string& principal);
  // Until those of the jobs that have ended are on the disk with it; a disk that hangs holds nobody
  // up for long.
  void wait_for_disk(std::span<const job::JobRecord> seen, const std::stop_token& stop);
  // REQUIRES the mutex. Nothing: not, or no longer, a job of this server that runs.
  [[nodiscard]] std::optional<std::uint64_t> changes_of(const std::string& job_id) const;
  void forget_finished();

  journal::Journal& journal_;
  journal::ArtifactStore& artifacts_;
  node::Engine& engine_;
  Log log_;
  const Means means_;
  JobCounters counters_{};
  std::shared_ptr<Observers> observers_;
  std::mutex mutex_{};
  std::condition_variable_any change_{};
  std::map<std::string, Running> running_{};
  std::optional<nlohmann::json> capabilities_{};
  bool capabilities_may_differ_ = false;  // since they were asked for
  std::set<std::string> unsettled_{};     // jobs with stages that nobody was told of
  std::condition_variable_any settle_{};
  std::jthread settler_{};  // last: it uses all of the above
};

}  // namespace assay::tools
