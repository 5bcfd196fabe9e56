#include "engine/journal/store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "engine/journal/body.h"

namespace assay::journal {
namespace {

namespace fs = std::filesystem;
using job::JobRecord;
using Why = JournalUnavailable::Why;

// Another server's job changes without telling us.
constexpr std::chrono::milliseconds kForeignPoll{100};
// Jobs removed in one transaction: others get their turn in between.
constexpr std::size_t kRemovedAtOnce = 64;
// A job that is tried and taken back: as large as a request with its source often is. A small
// change would find room on a disk where no job does.
constexpr std::string_view kTrialJob = "trial";
constexpr std::size_t kTrialBytes = std::size_t{256} << 10;

bool network(FileSystem file_system, const fs::path& state_dir) {
  if (file_system != FileSystem::detect) return file_system == FileSystem::network;
  fs::path existing = fs::absolute(state_dir);
  while (!fs::exists(existing)) existing = existing.parent_path();
  return is_network_file_system(existing);
}

}  // namespace

Journal::Store::Store(fs::path state_dir, Options options)
    : state_dir_(std::move(state_dir)),
      options_(std::move(options)),
      ballast_(state_dir_ / "ballast", options_.ballast_bytes),
      opened_(open_journal(state_dir_, options_.busy_timeout,
                           network(options_.file_system, state_dir_), ballast_, options_.log)) {
  struct stat status {};
  if (::stat(database_file(state_dir_).c_str(), &status) != 0) {
    throw unavailable(errno, database_file(state_dir_).string());
  }
  if (!network(options_.file_system, state_dir_)) {
    const std::string log = database_file(state_dir_).string() + "-wal";
    write_ahead_log_ = posix::Descriptor(::open(log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!write_ahead_log_) throw unavailable(errno, log);
  }
  file_device_ = status.st_dev;
  file_inode_ = status.st_ino;
  ballast_.take();
}

Journal::Store::~Store() {
  try {
    // First the ends that wait: they know better than "interrupted".
    (void)write_with_reserve([](const Database&) { return true; });
    (void)write_with_reserve([&](const Database& database) {
      return interrupt_jobs_of(database, opened_.instance->id(), now_ns());
    });
  } catch (const std::exception&) {
    // Whoever opens this directory next ends them: our lock goes with us.
  }
}

void Journal::Store::say(const std::string& text) const {
  if (options_.log) options_.log(text);
}

std::int64_t Journal::Store::now_ns() const {
  if (options_.now_ns) return options_.now_ns();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

const job::Kind& Journal::Store::kind(const std::string& name) const {
  const auto found = std::find_if(options_.kinds.begin(), options_.kinds.end(),
                                  [&](const job::Kind& one) { return one.name == name; });
  if (found == options_.kinds.end()) throw std::invalid_argument("unknown job kind '" + name + "'");
  return *found;
}

// What is written to a file that has lost its name is lost with us.
void Journal::Store::require_file_in_place() const {
  struct stat status {};
  const fs::path file = database_file(state_dir_);
  if (::stat(file.c_str(), &status) == 0 && status.st_dev == file_device_ &&
      status.st_ino == file_inode_) {
    return;
  }
  throw JournalUnavailable(Why::damaged, "journal: " + file.string() +
                                             " was removed or replaced while in use; restart the "
                                             "server");
}

void Journal::Store::mark_suspect() const noexcept {
  const posix::Descriptor mark(
      ::open(suspect_mark(state_dir_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
}

// Called with write_mutex_ held, after a write that went through.
void Journal::Store::write_pending_ends() {
  std::map<std::string, Ending> ends;
  {
    const std::lock_guard lock(watch_mutex_);
    if (pending_.empty()) return;
    ends = pending_;
  }
  try {
    (void)in_transaction([&](const Database& database) {
      std::size_t written = 0;
      for (const auto& [job_id, ending] : ends) written += end_job(database, ending, now_ns());
      return written;
    });
  } catch (const JournalUnavailable&) {
    return;  // the write before is durable and stays acknowledged; these wait for the next
  }
  const std::lock_guard lock(watch_mutex_);
  for (const auto& [job_id, ending] : ends) pending_.erase(job_id);
}

bool Journal::Store::is_pending(const std::string& job_id) {
  const std::lock_guard lock(watch_mutex_);
  return pending_.contains(job_id);
}

std::string Journal::Store::last_asked_of(const std::string& job_id) {
  const std::lock_guard lock(watch_mutex_);
  const auto live = live_.find(job_id);
  return live == live_.end() ? std::string() : live->second.last_asked;
}

void Journal::Store::overlay_pending(JobRecord& record) {
  const std::lock_guard lock(watch_mutex_);
  const auto pending = pending_.find(record.id);
  if (pending == pending_.end() || record.verdict) return;
  record.state = pending->second.state;
  record.verdict = pending->second.verdict;
  record.conclusion = body_from(pending->second.conclusion);
}

void Journal::Store::submit(JobRecord record, std::string last_asked) {
  const job::Kind& declared = kind(record.kind);
  if (!last_asked.empty() && !declared.has_stage(last_asked)) {
    throw std::invalid_argument("kind '" + declared.name + "' declares no stage '" + last_asked +
                                "'");
  }
  const std::string request = text_of(record.request, kMaxRequestBytes, "the request");
  record.created_ns = now_ns();
  record.updated_ns = record.created_ns;
  record.state = job::State::submitted;
  write_ahead([&](const Database& database) {
    insert_job(database, record, opened_.instance->id(), request);
    for (std::size_t i = 0; i < record.stages.size(); ++i) {
      const auto& stage = record.stages[i];
      (void)insert_stage(database, record.id, i, stage,
                         text_of(stage.body, kMaxBodyBytes, "stage '" + stage.name + "'"),
                         job::state_after(declared, stage.name, stage.status, last_asked), {},
                         record.created_ns);
    }
    return true;
  });
  const std::lock_guard lock(watch_mutex_);
  live_.emplace(record.id,
                Live{.stages = record.stages.size(), .last_asked = std::move(last_asked)});
}

void Journal::Store::append(const std::string& job_id, std::uint64_t seq,
                            const job::StageRecord& stage,
                            std::span<const job::ArtifactLink> artifacts) {
  const std::string body = text_of(stage.body, kMaxBodyBytes, "stage '" + stage.name + "'");
  const std::int64_t now = now_ns();
  const std::string last_asked = last_asked_of(job_id);
  const bool is_new = write_ahead([&](const Database& database) {
    const auto head = job_head(database, job_id);
    if (!head) throw std::invalid_argument("no job " + job_id);
    if (head->instance != opened_.instance->id()) {
      throw std::invalid_argument("job " + job_id + " belongs to another server");
    }
    if (head->final || is_pending(job_id)) {
      throw std::invalid_argument("job " + job_id + " is concluded");
    }
    const auto state = job::state_after(kind(head->kind), stage.name, stage.status, last_asked);
    return insert_stage(database, job_id, seq, stage, body, state, artifacts, now);
  });
  if (!is_new) return;
  const std::lock_guard lock(watch_mutex_);
  const auto live = live_.find(job_id);
  if (live != live_.end()) ++live->second.stages;
  changed_.notify_all();
}

bool Journal::Store::conclude(Ending ending, const std::function<void()>& once_seen) {
  const auto end = [&](const Database& database) {
    const auto head = job_head(database, ending.job_id);
    if (!head || head->final || is_pending(ending.job_id)) return false;
    if (head->instance != opened_.instance->id()) {
      throw std::invalid_argument("job " + ending.job_id + " belongs to another server");
    }
    if (!kind(head->kind).has_verdict(ending.verdict)) {
      throw std::invalid_argument("kind '" + head->kind + "' declares no verdict '" +
                                  std::string(job::name(ending.verdict)) + "'");
    }
    return end_job(database, ending, now_ns());
  };
  bool first = false;
  try {
    first = with_reserve([&] { return write_ahead(end); });
  } catch (const JournalUnavailable&) {
    const std::lock_guard lock(watch_mutex_);
    // Only what is ours and unfinished as far as we know: nothing else may be overlaid on a record.
    if (live_.erase(ending.job_id) > 0) pending_.emplace(ending.job_id, std::move(ending));
    changed_.notify_all();
    throw;
  }
  {
    const std::lock_guard lock(watch_mutex_);
    live_.erase(ending.job_id);
    changed_.notify_all();
  }
  if (once_seen) once_seen();
  try {
    // The second time, if there is one, settles what was written anew.
    with_reserve([&] { return settle(), true; });
  } catch (const JournalUnavailable&) {
    // The log may have lost it: kept until something is written behind a sound one.
    const std::lock_guard lock(watch_mutex_);
    if (first) pending_.emplace(ending.job_id, std::move(ending));
    throw;
  }
  return first;
}

std::optional<JobRecord> Journal::Store::find(const std::string& job_id,
                                              const std::string& principal) {
  auto record =
      read([&](const Database& database) { return read_job(database, job_id, principal); });
  if (record) overlay_pending(*record);
  return record;
}

std::vector<JobRecord> Journal::Store::recent(const std::string& principal, std::size_t limit) {
  auto records =
      read([&](const Database& database) { return read_recent(database, principal, limit); });
  for (auto& record : records) overlay_pending(record);
  return records;
}

std::optional<JobRecord> Journal::Store::wait(const std::string& job_id,
                                              const std::string& principal, std::size_t stages_seen,
                                              Clock::time_point deadline,
                                              const std::stop_token& stop) {
  for (;;) {
    const bool ours = [&] {
      const std::lock_guard lock(watch_mutex_);
      return live_.contains(job_id);
    }();
    const auto progress =
        read([&](const Database& database) { return read_progress(database, job_id, principal); });
    if (!progress) return std::nullopt;
    if (progress->final || progress->stages > stages_seen || is_pending(job_id) ||
        stop.stop_requested() || Clock::now() >= deadline) {
      return find(job_id, principal);
    }
    std::unique_lock lock(watch_mutex_);
    const auto until = ours ? deadline : std::min(deadline, Clock::now() + kForeignPoll);
    changed_.wait_until(lock, stop, until, [&] {
      const auto live = live_.find(job_id);
      return ours && (live == live_.end() || live->second.stages > stages_seen);
    });
  }
}

std::size_t Journal::Store::recover() {
  const std::string& own = opened_.instance->id();
  const auto busy = read([](const Database& database) { return busy_instances(database); });
  std::size_t interrupted = 0;
  for (const auto& id : busy) {
    if (id == own || Instance::lives(instances(), id)) continue;
    interrupted += write_with_reserve(
        [&](const Database& database) { return interrupt_jobs_of(database, id, now_ns()); });
  }
  for (const auto& id : Instance::all(instances())) {
    if (id != own) Instance::bury(instances(), id);
  }
  if (interrupted > 0) {
    say(std::to_string(interrupted) + " jobs of a server that ended are marked interrupted");
  }
  return interrupted;
}

std::size_t Journal::Store::remove_jobs(const std::vector<std::string>& job_ids) {
  std::size_t gone = 0;
  for (std::size_t at = 0; at < job_ids.size(); at += kRemovedAtOnce) {
    const std::span<const std::string> some(job_ids.data() + at,
                                            std::min(kRemovedAtOnce, job_ids.size() - at));
    gone += write_with_reserve(
        [&](const Database& database) { return delete_finished(database, some); });
  }
  return gone;
}

std::size_t Journal::Store::apply_retention() {
  const auto age = std::chrono::duration_cast<std::chrono::nanoseconds>(options_.keep_for);
  const Limits limits{.oldest_ns = now_ns() - age.count(),
                      .jobs = options_.keep_jobs,
                      .bytes = options_.keep_bytes};
  return remove_jobs(read([&](const Database& database) { return jobs_beyond(database, limits); }));
}

std::size_t Journal::Store::remove_finished(const std::string& principal,
                                            std::chrono::seconds age) {
  const std::int64_t before_ns =
      now_ns() - std::chrono::duration_cast<std::chrono::nanoseconds>(age).count();
  return remove_jobs(read(
      [&](const Database& database) { return finished_before(database, principal, before_ns); }));
}

void Journal::Store::require_writable() {
  JobRecord trial{.id = std::string(kTrialJob), .kind = std::string(kTrialJob)};
  trial.created_ns = trial.updated_ns = now_ns();
  const std::string request(kTrialBytes, ' ');
  const std::lock_guard lock(write_mutex_);
  guarded([&] {
    require_file_in_place();
    require_sound_log();
    const Transaction never_committed(*opened_.writer);
    insert_job(*opened_.writer, trial, opened_.instance->id(), request);
    opened_.writer->flush();
  });
}

std::size_t Journal::Store::make_room(std::uint64_t bytes) {
  return remove_jobs(
      read([&](const Database& database) { return oldest_with_artifacts(database, bytes); }));
}

void Journal::Store::tidy_file() {
  {
    const std::lock_guard lock(write_mutex_);
    guarded([&] {
      require_file_in_place();
      require_sound_log();
      write_pending_ends();
      opened_.writer->execute("PRAGMA incremental_vacuum(4096)");
      opened_.writer->execute("PRAGMA wal_checkpoint(TRUNCATE)");
    });
  }
  ballast_.take();
}

}  // namespace assay::journal
