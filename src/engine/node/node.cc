#include "engine/node/node.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "engine/node/link.h"
#include "engine/posix/awake.h"

namespace assay::node {

using frames::Frame;
using nlohmann::json;

// The word of a stage is there after a few hundred microseconds, stages of a small kernel follow
// one another within milliseconds.
constexpr std::chrono::microseconds kLooksForFrames{3'000};
constexpr std::chrono::microseconds kLooksForWord{1'000};

// One job, its thread and its unacknowledged stage.
class Node::JobThread final : public Reporter {
 public:
  JobThread(Node& node, Order order, int attempt)
      : node_(node),
        order_(std::move(order)),
        attempt_(attempt),
        ticket_(node.queue_.enter(order_.client)) {}

  void start() {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  // Of a job that could not be started.
  void give_up_place() { node_.queue_.leave(ticket_); }
  void cancel() { thread_.request_stop(); }
  [[nodiscard]] bool finished() const { return finished_; }

  void acknowledge(std::uint64_t seq) {
    const std::lock_guard lock(mutex_);
    acknowledged_ = std::max(acknowledged_.load(), seq);
    changed_.notify_all();
  }

  void tell(StageEvent event) override {
    node_.post(link::stage(order_.job_id, attempt_, ++sent_, event));
  }
  void settle() override {
    const auto is_recorded = [&] { return acknowledged_ >= sent_; };
    posix::look_for(kLooksForWord, [&] { return is_recorded() || stop_.stop_requested(); });
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop_, is_recorded)) throw JobStopped();
  }

 private:
  void run(const std::stop_token& stop) {
    stop_ = stop;
    const Conclusion conclusion = node_.conclude(order_, ticket_, *this, stop);
    node_.post(link::conclusion(order_.job_id, attempt_, conclusion));
    finished_ = true;
    node_.outbox_->rouse();
  }

  Node& node_;
  const Order order_;
  const int attempt_;
  const JobQueue::Ticket ticket_;
  std::stop_token stop_{};
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::uint64_t sent_ = 0;
  std::atomic<std::uint64_t> acknowledged_{0};  // written with the lock
  std::atomic<bool> finished_{false};
  std::jthread thread_{};  // last: joined before the rest is destroyed
};

Node::Node(NodeConfig config)
    : config_(std::move(config)), queue_(config_.slots, config_.most_waiting) {}

Node::~Node() = default;

void Node::serve(frames::Channel& channel) {
  outbox_.emplace(channel);
  std::jthread asker([this](const std::stop_token& stop) { answer_capabilities(stop); });
  auto next_heartbeat = std::chrono::steady_clock::now();
  posix::Awake awake(kLooksForFrames);
  while (channel.state() == frames::Channel::State::open) {
    const short events = outbox_->wants_write() ? POLLIN | POLLOUT : POLLIN;
    pollfd entries[] = {{channel.descriptor(), events, 0}, {outbox_->wake(), POLLIN, 0}};
    awake.poll(entries, static_cast<int>(link::kHeartbeat.count()));
    if (entries[1].revents != 0) outbox_->heed();
    outbox_->flush();
    if (entries[0].revents != 0) {
      channel.read_available();
      awake.extend();
    }
    while (auto frame = channel.next()) handle(*frame);
    forget_finished();
    const auto now = std::chrono::steady_clock::now();
    if (!jobs_.empty() && now >= next_heartbeat) {
      post(link::plain("heartbeat"));
      next_heartbeat = now + link::kHeartbeat;
    }
  }
  for (auto& [job_id, job] : jobs_) job->cancel();
  jobs_.clear();
  asker = {};  // stopped, and joined
  outbox_.reset();
}

void Node::handle(const Frame& frame) {
  const std::string type = frame.type();
  if (type == "run") return start(frame);
  if (type == "capabilities") {
    const std::lock_guard lock(questions_mutex_);
    ++questions_;
    is_asked_.notify_one();
    return;
  }
  const auto found = jobs_.find(frame.body.value("job_id", std::string()));
  if (found == jobs_.end()) return;  // it has concluded meanwhile
  if (type == "ack") found->second->acknowledge(frame.body.at("seq").get<std::uint64_t>());
  if (type == "cancel") found->second->cancel();
}

void Node::start(const Frame& frame) {
  Order order = link::decode_run(frame);
  const std::string job_id = order.job_id;
  const int attempt = frame.body.at("attempt");
  auto job = std::make_unique<JobThread>(*this, std::move(order), attempt);
  try {
    job->start();
  } catch (const std::system_error& error) {
    job->give_up_place();
    post(link::conclusion(job_id, attempt,
                          {.verdict = job::Verdict::engine_fault,
                           .body = {{"summary", std::string("The engine has no thread for this "
                                                            "job: ") +
                                                    error.what()}}}));
    return;
  }
  jobs_[job_id] = std::move(job);
}

void Node::forget_finished() {
  std::erase_if(jobs_, [](const auto& entry) { return entry.second->finished(); });
}

void Node::answer_capabilities(const std::stop_token& stop) {
  std::unique_lock lock(questions_mutex_);
  while (is_asked_.wait(lock, stop, [this] { return questions_ > 0; })) {
    const unsigned questions = std::exchange(questions_, 0);
    lock.unlock();
    json body;
    try {
      body = {{"body", config_.capabilities()}};
    } catch (const std::exception& error) {
      body = {{"failed", error.what()}};
    }
    for (unsigned i = 0; i < questions; ++i) {
      Frame reply = link::plain("capabilities");
      reply.body.update(body);
      post(std::move(reply));
    }
    lock.lock();
  }
}

Conclusion Node::conclude(const Order& order, JobQueue::Ticket ticket, Reporter& reporter,
                          const std::stop_token& stop) {
  const Conclusion cancelled{.verdict = job::Verdict::cancelled,
                             .body = {{"summary", "Cancelled before it finished."}}};
  const auto kind = config_.kinds.find(order.kind);
  if (kind == config_.kinds.end()) {
    queue_.leave(ticket);
    return {.verdict = job::Verdict::unsupported,
            .body = {{"summary", "This engine runs no jobs of kind '" + order.kind + "'."}}};
  }
  if (queue_.is_too_many(ticket)) {
    queue_.leave(ticket);
    // Theirs, and no word on the job, of which nothing was run.
    return {.verdict = job::Verdict::cancelled,
            .body = {{"summary", "Not run: " + std::to_string(config_.most_waiting) +
                                     " jobs of yours wait already. Send this one again when some "
                                     "have ended."},
                     {"detail", {{"cause", "too_many_waiting"}}}}};
  }
  if (!queue_.wait(ticket, stop)) return cancelled;
  Conclusion conclusion = cancelled;
  try {
    conclusion = kind->second(order, reporter, stop);
  } catch (const JobStopped&) {
    // Already what `conclusion` says.
  } catch (const std::exception& error) {
    conclusion = {.verdict = job::Verdict::engine_fault,
                  .body = {{"summary", std::string("The engine failed: ") + error.what() +
                                           ". This is not the kernel's fault; run it again."}}};
  }
  queue_.done(ticket);
  return conclusion;
}

}  // namespace assay::node
