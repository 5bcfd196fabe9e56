// Who runs next: of the jobs that wait, the first one of the client who has the fewest running, and
// of several such clients of the one who was served the longest ago, so that a hundred jobs of one
// client delay another's by one, where one runs at a time, too. A client who keeps too many waiting
// is told so; that is his to mend, and nobody else's.
//
// Any thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace assay::node {

class JobQueue {
 public:
  using Ticket = std::uint64_t;

  // `slots`: jobs that run side by side. `most_waiting`: of one client.
  JobQueue(unsigned slots, std::size_t most_waiting);

  // A place, in the order in which orders arrive. Every ticket is given up by leave(), or by
  // wait() and then done().
  [[nodiscard]] Ticket enter(const std::string& client);
  // Whether this client has more waiting than he may, this ticket the last of them.
  [[nodiscard]] bool is_too_many(Ticket ticket);
  void leave(Ticket ticket);
  // True: it has a slot now. False: stopped while it waited, and it has left.
  [[nodiscard]] bool wait(Ticket ticket, const std::stop_token& stop);
  // The slot of a ticket that waited is free again.
  void done(Ticket ticket);

 private:
  struct Waiting {
    Ticket ticket = 0;
    std::string client{};
  };
  // REQUIRES that somebody waits, and the lock.
  [[nodiscard]] Ticket next() const;
  void remove(Ticket ticket);
  void note_served(const std::string& client);

  const unsigned slots_;
  const std::size_t most_waiting_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  Ticket next_ticket_ = 0;
  std::vector<Waiting> waiting_{};           // in order
  std::map<Ticket, std::string> running_{};  // whose
  std::uint64_t served_so_far_ = 0;
  std::map<std::string, std::uint64_t> served_{};  // the last of each, counted from 1
};

}  // namespace assay::node
