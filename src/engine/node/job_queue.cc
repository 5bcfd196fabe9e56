#include "engine/node/job_queue.h"

#include <algorithm>

namespace assay::node {

JobQueue::JobQueue(unsigned slots, std::size_t most_waiting)
    : slots_(slots), most_waiting_(most_waiting) {}

JobQueue::Ticket JobQueue::enter(const std::string& client) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({.ticket = next_ticket_, .client = client});
  return next_ticket_++;
}

bool JobQueue::is_too_many(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  const auto mine = std::find_if(waiting_.begin(), waiting_.end(),
                                 [&](const Waiting& one) { return one.ticket == ticket; });
  if (mine == waiting_.end()) return false;
  const auto before = std::count_if(waiting_.begin(), mine,
                                    [&](const Waiting& one) { return one.client == mine->client; });
  return static_cast<std::size_t>(before) >= most_waiting_;
}

void JobQueue::remove(Ticket ticket) {
  std::erase_if(waiting_, [&](const Waiting& one) { return one.ticket == ticket; });
}

void JobQueue::leave(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  remove(ticket);
  changed_.notify_all();
}

JobQueue::Ticket JobQueue::next() const {
  std::map<std::string, unsigned> running;
  for (const auto& [unused, client] : running_) ++running[client];
  const auto count = [&](const Waiting& one) {
    const auto found = running.find(one.client);
    return found == running.end() ? 0U : found->second;
  };
  return std::min_element(waiting_.begin(), waiting_.end(),
                          [&](const Waiting& a, const Waiting& b) { return count(a) < count(b); })
      ->ticket;
}

bool JobQueue::wait(Ticket ticket, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool mine =
      changed_.wait(lock, stop, [&] { return running_.size() < slots_ && next() == ticket; });
  if (mine) {
    running_[ticket] = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
                         return one.ticket == ticket;
                       })->client;
  }
  remove(ticket);
  changed_.notify_all();
  return mine;
}

void JobQueue::done(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  running_.erase(ticket);
  changed_.notify_all();
}

}  // namespace assay::node
