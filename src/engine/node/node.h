// The engine of one node: takes jobs from its server's stream, runs each on a thread of its own
// within the slots there are, and ends when the stream ends. Never calls CUDA, so no driver call
// can stop its clock; never meets user code.
//
// Threads: serve() reads the channel. A job's thread posts its frames itself and waits for
// acknowledgements.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "engine/frames/outbox.h"
#include "engine/node/engine.h"
#include "engine/node/job_queue.h"
#include "engine/node/reporter.h"

namespace assay::node {

// Runs one job of one kind. Called on the job's thread; must return soon after `stop`.
using JobRunner =
    std::function<Conclusion(const Order& order, Reporter& reporter, const std::stop_token& stop)>;

struct NodeConfig {
  // Jobs that run side by side; the rest wait (job_queue.h).
  unsigned slots = 1;
  std::size_t most_waiting = 256;            // of one client; those beyond are refused
  std::map<std::string, JobRunner> kinds{};  // by kind name
  // May block (self-test), and throw: called on a thread for it.
  std::function<nlohmann::json()> capabilities{};
};

class Node {
 public:
  explicit Node(NodeConfig config);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Serves until the stream ends; every job has ended and every runner is dead when it returns.
  void serve(frames::Channel& channel);

 private:
  class JobThread;

  void handle(const frames::Frame& frame);
  void start(const frames::Frame& frame);
  void post(frames::Frame frame) { outbox_->post(std::move(frame)); }
  void forget_finished();
  // Until stopped: all who asked meanwhile get one answer.
  void answer_capabilities(const std::stop_token& stop);
  [[nodiscard]] Conclusion conclude(const Order& order, JobQueue::Ticket ticket, Reporter& reporter,
                                    const std::stop_token& stop);

  NodeConfig config_;
  std::optional<frames::Outbox> outbox_{};  // while it serves
  JobQueue queue_;
  std::map<std::string, std::unique_ptr<JobThread>> jobs_;
  std::mutex questions_mutex_{};
  std::condition_variable_any is_asked_{};
  unsigned questions_ = 0;  // after the capabilities
};

}  // namespace assay::node
