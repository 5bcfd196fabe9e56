#include "tools/jobs.h"

#include <algorithm>

#include "engine/contract/payload.h"
#include "engine/job/kind.h"

namespace assay::tools {
namespace {

using job::JobRecord;
using nlohmann::json;
using node::Conclusion;
using Clock = std::chrono::steady_clock;

// A job of another server on the same state directory changes without telling us.
constexpr std::chrono::milliseconds kForeignPoll{100};

// An end that is not on the disk by then is told without.
constexpr std::chrono::seconds kDiskPatience{1};

// Stages of a small kernel follow one another within this: one sync is enough for them, and while
// it is under way the next cannot be written (its page is on the way to the disk).
constexpr std::chrono::milliseconds kGather{5};

// A device that the next job may find working again, or shut away.
bool has_doubtful_device(const json& capabilities) {
  const json devices = capabilities.value("devices", json::array());
  return std::any_of(devices.begin(), devices.end(), [](const json& device) {
    const auto health = device.find("health");
    return health != device.end() && health->value("condition", "") != "trusted";
  });
}

// What is true of the devices for longer than a moment.
json lasting(json capabilities) {
  if (const auto devices = capabilities.find("devices"); devices != capabilities.end()) {
    for (json& device : *devices) device.erase("jobs");
  }
  return capabilities;
}

}  // namespace

// Shared with the handles, which may be dropped after the jobs are gone.
struct Jobs::Observers {
  std::mutex mutex{};
  std::uint64_t last = 0;
  std::map<std::uint64_t, std::function<void(const std::string&)>> all{};
};

Jobs::Jobs(journal::Journal& journal, journal::ArtifactStore& artifacts, node::Engine& engine,
           Log log)
    : Jobs(journal, artifacts, engine, std::move(log), {}) {}

Jobs::Jobs(journal::Journal& journal, journal::ArtifactStore& artifacts, node::Engine& engine,
           Log log, Means means)
    : journal_(journal),
      artifacts_(artifacts),
      engine_(engine),
      log_(std::move(log)),
      means_(means),
      observers_(std::make_shared<Observers>()),
      settler_([this](const std::stop_token& stop) { settle(stop); }) {}

Jobs::~Jobs() {
  std::map<std::string, Running> ending;
  {
    const std::lock_guard lock(mutex_);
    ending.swap(running_);
  }
  for (auto& [job_id, running] : ending) running.thread.request_stop();
}

std::string Jobs::submit(const job::Kind& kind, json request, const std::string& principal,
                         std::string last_asked) {
  JobRecord record{.id = job::new_job_id(),
                   .kind = kind.name,
                   .principal = principal,
                   .request = std::move(request),
                   .stages = {{.name = "received"}}};
  journal_.submit(record, std::move(last_asked));
  counters_.submitted(record.id);
  forget_finished();
  start(record);
  try {
    journal_.settle();
  } catch (const journal::JournalUnavailable&) {
    stop({record.id});
    throw;
  }
  return record.id;
}

void Jobs::stop(const std::set<std::string>& job_ids) {
  const std::lock_guard lock(mutex_);
  for (const std::string& job_id : job_ids) {
    const auto found = running_.find(job_id);
    if (found != running_.end()) found->second.thread.request_stop();
  }
}

void Jobs::settle(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (settle_.wait(lock, stop, [this] { return !unsettled_.empty(); })) {
    settle_.wait_for(lock, stop, kGather, [] { return false; });
    const auto told = std::exchange(unsettled_, {});
    lock.unlock();
    try {
      journal_.settle();
      for (const std::string& job_id : told) changed(job_id);
    } catch (const journal::JournalUnavailable& error) {
      // What cannot be kept is not gone on with.
      log_(error.what());
      this->stop(told);
    }
    lock.lock();
  }
}

void Jobs::start(const JobRecord& record) {
  try {
    const std::lock_guard lock(mutex_);
    running_[record.id].thread =
        std::jthread([this, record](const std::stop_token& stop) { run(record, stop); });
  } catch (const std::system_error& error) {
    // The machine has no thread left to give. The job is recorded, so its end is too.
    log_("job " + record.id + ": no thread for it: " + error.what());
    {
      const std::lock_guard lock(mutex_);
      running_.erase(record.id);
    }
    conclude(record.id, {.verdict = job::Verdict::engine_fault,
                         .body = {{"summary",
                                   "The server could not start a thread for this job: "
                                   "the machine has too many. Try again later."}}});
  }
}

void Jobs::run(const JobRecord& record, const std::stop_token& stop) {
  std::uint64_t seq = 0;
  // What says nothing that could be lost, or has nothing but the end to come, is one write with
  // what comes after it.
  std::vector<job::StageRecord> unwritten;
  const auto on_stage = [&](const node::StageEvent& event) {
    counters_.told(record.id, event.record);
    const bool can_wait = event.is_last || event.record.name == "concluded" ||
                          event.record.status == job::StageStatus::skipped;
    if (can_wait && event.artifacts.empty()) {
      unwritten.push_back(event.record);
      return;
    }
    for (const auto& earlier : std::exchange(unwritten, {})) {
      journal_.append(record.id, ++seq, earlier);
    }
    auto stage = event.record;
    const auto links = keep(event.artifacts, stage);
    journal_.append(record.id, ++seq, stage, links);
    const std::lock_guard lock(mutex_);
    unsettled_.insert(record.id);
    settle_.notify_one();
  };
  Conclusion conclusion;
  try {
    conclusion = engine_.run({.job_id = record.id,
                              .kind = record.kind,
                              .request = record.request,
                              .client = record.principal},
                             on_stage, stop);
  } catch (const std::exception& error) {
    // Ours: the journal is full, the engine cannot be started. Told as such, and logged.
    log_("job " + record.id + ": " + error.what());
    conclusion = {.verdict = job::Verdict::engine_fault,
                  .body = {{"summary", std::string("The server failed: ") + error.what()}}};
  }
  conclude(record.id, conclusion, unwritten, ++seq);
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(record.id);
  if (found != running_.end()) found->second.done = true;
}

std::vector<job::ArtifactLink> Jobs::keep(const std::vector<node::Artifact>& artifacts,
                                          job::StageRecord& stage) {
  std::vector<job::ArtifactLink> links;
  for (const auto& artifact : artifacts) {
    try {
      links.push_back({.name = artifact.name,
                       .media_type = artifact.media_type,
                       .bytes = artifact.bytes.size(),
                       .id = artifacts_.put(artifact.bytes)});
    } catch (const journal::JournalUnavailable& error) {
      // A verdict does not depend on its log: the job goes on, and says what is missing.
      log_("artifact " + artifact.name + ": " + error.what());
      stage.body["not_kept"].push_back({{"name", artifact.name}, {"why", error.what()}});
    }
  }
  return links;
}

void Jobs::conclude(const std::string& job_id, const Conclusion& conclusion,
                    std::span<const job::StageRecord> last_stages, std::uint64_t seq) {
  const auto state =
      conclusion.interrupted ? job::State::interrupted : job::final_state(conclusion.verdict);
  try {
    journal_.conclude(job_id, conclusion.verdict, state, conclusion.body, last_stages, seq, [&] {
      const std::lock_guard lock(mutex_);
      const auto found = running_.find(job_id);
      if (found == running_.end()) return;
      found->second.has_end = true;
      ++found->second.changes;
      change_.notify_all();
    });
  } catch (const std::exception& error) {
    // What was not written is written with whatever is next, or else the next start marks the job
    // interrupted with its stages; what the disk has refused may be lost with the machine's power.
    log_("job " + job_id + ": its end could not be recorded: " + error.what());
  }
  {
    const std::lock_guard lock(mutex_);
    const bool doubtful = capabilities_ && has_doubtful_device(*capabilities_);
    if (conclusion.verdict == job::Verdict::engine_fault || doubtful) {
      capabilities_may_differ_ = true;
    }
  }
  counters_.ended(job_id, conclusion.verdict,
                  conclusion.interrupted || conclusion.verdict == job::Verdict::engine_fault);
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(job_id);
    if (found != running_.end()) found->second.has_end = found->second.is_concluded = true;
  }
  changed(job_id);
}

std::optional<std::uint64_t> Jobs::changes_of(const std::string& job_id) const {
  const auto found = running_.find(job_id);
  if (found == running_.end()) return std::nullopt;
  return found->second.changes;
}

void Jobs::changed(const std::string& job_id) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = running_.find(job_id);
    if (found != running_.end()) ++found->second.changes;
    change_.notify_all();
  }
  const std::lock_guard lock(observers_->mutex);
  for (const auto& [key, then] : observers_->all) then(job_id);
}

std::shared_ptr<void> Jobs::observe(std::function<void(const std::string&)> then) {
  const std::lock_guard lock(observers_->mutex);
  const std::uint64_t key = ++observers_->last;
  observers_->all.emplace(key, std::move(then));
  // A handle that holds nothing but the way to take the entry out.
  return {nullptr, [observers = observers_, key](void*) {
            const std::lock_guard guard(observers->mutex);
            observers->all.erase(key);
          }};
}

void Jobs::forget_finished() {
  std::vector<std::jthread> ended;
  const std::lock_guard lock(mutex_);
  for (auto it = running_.begin(); it != running_.end();) {
    if (!it->second.done) {
      ++it;
      continue;
    }
    ended.push_back(std::move(it->second.thread));
    it = running_.erase(it);
  }
}

void Jobs::wait_for_disk(std::span<const JobRecord> seen, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const auto is_there = [this](const JobRecord& one) {
    const auto found = running_.find(one.id);
    return !job::is_final(one.state) || found == running_.end() || found->second.is_concluded;
  };
  change_.wait_for(lock, stop, kDiskPatience,
                   [&] { return std::all_of(seen.begin(), seen.end(), is_there); });
}

std::optional<JobRecord> Jobs::find(const std::string& job_id, const std::string& principal,
                                    const std::stop_token& stop) {
  auto record = look(job_id, principal);
  if (record) wait_for_disk({&*record, 1}, stop);
  return record;
}

std::optional<JobRecord> Jobs::look(const std::string& job_id, const std::string& principal) {
  auto record = journal_.find(job_id, principal);
  if (!record || job::is_final(record->state)) return record;
  {
    const std::lock_guard lock(mutex_);
    if (running_.contains(job_id)) return record;
  }
  // Another server's: if that is dead, whoever looks ends the job.
  try {
    if (journal_.recover() > 0) record = journal_.find(job_id, principal);
  } catch (const journal::JournalUnavailable& error) {
    log_(std::string("recovering: ") + error.what());
  }
  return record;
}

std::vector<JobRecord> Jobs::recent(const std::string& principal, std::size_t limit,
                                    const std::stop_token& stop) {
  auto records = journal_.recent(principal, limit);
  wait_for_disk(records, stop);
  return records;
}

std::optional<std::string> Jobs::artifact(const job::ArtifactLink& link) const {
  return artifacts_.get(link.id);
}

Jobs::MachineCode Jobs::disassemble(const std::string& cubin, const std::stop_token& stop) {
  const node::Order order{
      .job_id = job::new_job_id(),
      .kind = "disassembly",
      .request = {{"cubin", contract::encode_payload(cubin, contract::Compression::none)},
                  {"bytes", cubin.size()}}};
  MachineCode code;
  const auto take = [&code](const node::StageEvent& event) {
    for (const auto& artifact : event.artifacts) code.text = artifact.bytes;
  };
  const Conclusion conclusion = engine_.run(order, take, stop);
  if (!code.text) code.missing = conclusion.body.value("summary", "the engine did not answer");
  return code;
}

std::optional<JobRecord> Jobs::wait(const std::string& job_id, const std::string& principal,
                                    Clock::time_point deadline, const std::stop_token& stop,
                                    const Look& on_change, const Look& on_end) {
  std::size_t told_stages = 0;
  for (;;) {
    std::optional<std::uint64_t> seen;
    {
      const std::lock_guard lock(mutex_);
      seen = changes_of(job_id);
    }
    auto record = look(job_id, principal);
    if (!record) return std::nullopt;
    const bool has_ended = job::is_final(record->state);
    if (has_ended) {
      if (on_end) on_end(*record);
      wait_for_disk({&*record, 1}, stop);
    }
    if (on_change && record->stages.size() > told_stages) {
      told_stages = record->stages.size();
      on_change(*record);
    }
    if (has_ended || Clock::now() >= deadline || stop.stop_requested()) return record;
    std::unique_lock lock(mutex_);
    // Of its own job only: hundreds may wait, each for another, and each looks into the journal;
    // nor for stages that nobody is told of.
    const auto until = seen ? deadline : std::min(deadline, Clock::now() + kForeignPoll);
    change_.wait_until(lock, stop, until, [&] {
      const auto now = changes_of(job_id);
      if (now == seen) return false;
      return on_change || !now || running_.at(job_id).has_end;
    });
  }
}

Jobs::Cancelled Jobs::cancel(const std::string& job_id, const std::string& principal) {
  const auto record = find(job_id, principal);
  if (!record) return Cancelled::not_found;
  if (job::is_final(record->state)) return Cancelled::already_final;
  const std::lock_guard lock(mutex_);
  const auto found = running_.find(job_id);
  if (found == running_.end()) return Cancelled::not_ours;
  found->second.thread.request_stop();
  return Cancelled::requested;
}

json Jobs::capabilities(bool refresh) {
  {
    const std::lock_guard lock(mutex_);
    if (capabilities_ && !refresh && !capabilities_may_differ_) return *capabilities_;
  }
  try {
    json fresh = engine_.capabilities();
    const std::lock_guard lock(mutex_);
    capabilities_ = lasting(fresh);
    capabilities_may_differ_ = false;
    return fresh;
  } catch (const std::exception&) {
    // The engine is not there: what it said of the machine holds until the next call asks it again.
    const std::lock_guard lock(mutex_);
    if (!capabilities_ || refresh) throw;
    return *capabilities_;
  }
}

}  // namespace assay::tools
