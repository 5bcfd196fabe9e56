#include "engine/node/job_queue.h"

#include <algorithm>
#include <tuple>

namespace assay::node {
namespace {

// Who was served longer ago than so many others counts as new.
constexpr std::size_t kMostRemembered = 1024;

}  // namespace

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
  const auto claim = [&](const Waiting& one) {
    const auto runs = running.find(one.client);
    const auto last = served_.find(one.client);
    return std::tuple(runs == running.end() ? 0U : runs->second,
                      last == served_.end() ? std::uint64_t{0} : last->second);
  };
  return std::min_element(waiting_.begin(), waiting_.end(),
                          [&](const Waiting& a, const Waiting& b) { return claim(a) < claim(b); })
      ->ticket;
}

void JobQueue::note_served(const std::string& client) {
  served_[client] = ++served_so_far_;
  if (served_.size() <= kMostRemembered) return;
  served_.erase(std::min_element(served_.begin(), served_.end(),
                                 [](const auto& a, const auto& b) { return a.second < b.second; }));
}

bool JobQueue::wait(Ticket ticket, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  const bool mine =
      changed_.wait(lock, stop, [&] { return running_.size() < slots_ && next() == ticket; });
  if (mine) {
    const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& one) { return one.ticket == ticket; });
    running_[ticket] = found->client;
    note_served(found->client);
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
