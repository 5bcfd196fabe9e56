// Who runs next: real threads that wait, one at a time let through.
#include "engine/node/job_queue.h"

#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/catch.h"

namespace {

using namespace assay;

// Serves all that have entered, in the order in which the queue lets them; answers whose they were.
std::string served(node::JobQueue& queue, const std::string& clients) {
  std::mutex mutex;
  std::string order;
  std::vector<std::pair<std::string, node::JobQueue::Ticket>> entered;
  for (const char client : clients) {
    entered.emplace_back(std::string(1, client), queue.enter(std::string(1, client)));
  }
  std::vector<std::jthread> threads;
  for (const auto& [client, ticket] : entered) {
    threads.emplace_back([&, client = client, ticket = ticket](const std::stop_token&) {
      if (!queue.wait(ticket, {})) return;
      {
        const std::lock_guard lock(mutex);
        order += client;
      }
      queue.done(ticket);
    });
  }
  threads.clear();
  return order;
}

// While one runs, all others enter; then it ends.
std::string served_behind_one(const std::string& first, const std::string& clients) {
  node::JobQueue queue(1, 100);
  const auto running = queue.enter(first);
  REQUIRE(queue.wait(running, {}));
  std::string order;
  std::jthread rest([&] { order = served(queue, clients); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  queue.done(running);
  rest.join();
  return order;
}

TEST_CASE("who has one job waits for one of another's many, where one runs at a time") {
  CHECK(served_behind_one("A", "AAAAB") == "BAAAA");
}

TEST_CASE("clients with many jobs each take turns, each client's in order") {
  CHECK(served_behind_one("A", "AAABBBCC") == "BCABCABA");
}

TEST_CASE("who comes again at once has no right to be first again") {
  node::JobQueue queue(1, 100);
  CHECK(served(queue, "B") == "B");
  CHECK(served(queue, "A") == "A");
  CHECK(served(queue, "AB") == "BA");
  CHECK(served(queue, "BA") == "BA");  // B was served longer ago than A
}

TEST_CASE("of several slots each goes to who has the fewest running, then to who waited longest") {
  node::JobQueue queue(2, 100);
  const auto a1 = queue.enter("A");
  const auto a2 = queue.enter("A");
  const auto a3 = queue.enter("A");
  REQUIRE(queue.wait(a1, {}));
  REQUIRE(queue.wait(a2, {}));
  const auto b1 = queue.enter("B");
  const auto b2 = queue.enter("B");
  const auto c1 = queue.enter("C");
  queue.done(a1);
  REQUIRE(queue.wait(b1, {}));  // A, who came before, has one running
  queue.done(a2);
  REQUIRE(queue.wait(c1, {}));  // B has one running, A was served already
  queue.done(b1);
  REQUIRE(queue.wait(a3, {}));  // neither has one running; B was served after A
  queue.done(c1);
  REQUIRE(queue.wait(b2, {}));
}

TEST_CASE("who has more waiting than he may is told at the one too many, another is not") {
  node::JobQueue queue(1, 2);
  const auto first = queue.enter("A");
  const auto second = queue.enter("A");
  const auto third = queue.enter("A");
  const auto other = queue.enter("B");
  CHECK_FALSE(queue.is_too_many(first));
  CHECK_FALSE(queue.is_too_many(second));
  CHECK(queue.is_too_many(third));
  CHECK_FALSE(queue.is_too_many(other));
  for (const auto ticket : {first, second, third, other}) queue.leave(ticket);
}

}  // namespace
