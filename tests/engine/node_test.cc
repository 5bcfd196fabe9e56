#include "engine/node/node.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "engine/node/link.h"
#include "tests/catch.h"

using namespace assay;
using namespace std::chrono_literals;
using frames::Channel;
using node::Conclusion;
using node::Order;
using node::Reporter;

namespace {

// A node served on a thread of its own, spoken to as a server would.
class Served {
 public:
  explicit Served(node::NodeConfig config) : node_(std::move(config)) {
    auto pair = posix::make_socket_pair();
    server_ = std::make_unique<Channel>(std::move(pair.ours), node::link::kCaps, false);
    thread_ = std::thread(
        [this, stream = std::make_shared<posix::Descriptor>(std::move(pair.theirs))]() mutable {
          Channel channel(std::move(*stream), node::link::kCaps, false);
          node_.serve(channel);
        });
  }
  ~Served() {
    server_.reset();
    thread_.join();
  }
  Channel& server() { return *server_; }

  // The next frame that is no heartbeat.
  frames::Frame next() {
    for (;;) {
      auto frame = server_->receive();
      REQUIRE(frame);
      if (frame->type() != "heartbeat") return std::move(*frame);
    }
  }

 private:
  node::Node node_;
  std::unique_ptr<Channel> server_;
  std::thread thread_;
};

Conclusion passed() { return {.verdict = job::Verdict::passed}; }

node::NodeConfig one_kind(node::JobRunner runner, unsigned slots = 1) {
  node::NodeConfig config{.slots = slots};
  config.kinds["test"] = std::move(runner);
  config.capabilities = [] { return nlohmann::json{{"devices", 0}}; };
  return config;
}

Order order(const std::string& id) { return {.job_id = id, .kind = "test"}; }

}  // namespace

TEST_CASE("the next stage does not begin before the last one is acknowledged") {
  std::atomic<int> begun{0};
  Served served(one_kind([&](const Order&, Reporter& reporter, const std::stop_token&) {
    begun = 1;
    reporter.stage({.record = {.name = "compiled"}});
    begun = 2;
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  const auto stage = served.next();
  CHECK(stage.type() == "stage");
  std::this_thread::sleep_for(50ms);
  CHECK(begun == 1);
  served.server().send(node::link::ack("a", stage.body.at("seq")));
  CHECK(served.next().type() == "conclusion");
  CHECK(begun == 2);
}

TEST_CASE("what no step follows is told without a wait, in its order, before the conclusion") {
  Served served(one_kind([](const Order&, Reporter& reporter, const std::stop_token&) {
    reporter.tell({.record = {.name = "timed"}});
    reporter.tell({.record = {.name = "concluded"}});
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  // None is acknowledged.
  CHECK(node::link::decode_stage(served.next()).record.name == "timed");
  CHECK(node::link::decode_stage(served.next()).record.name == "concluded");
  CHECK(served.next().type() == "conclusion");
}

TEST_CASE("a step waits for all that was told before it") {
  std::atomic<bool> begun{false};
  Served served(one_kind([&](const Order&, Reporter& reporter, const std::stop_token&) {
    reporter.tell({.record = {.name = "compiled"}});
    reporter.tell({.record = {.name = "prepared"}});
    reporter.settle();
    begun = true;
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  const auto first = served.next();
  const auto second = served.next();
  served.server().send(node::link::ack("a", first.body.at("seq")));
  std::this_thread::sleep_for(50ms);
  CHECK_FALSE(begun);
  served.server().send(node::link::ack("a", second.body.at("seq")));
  CHECK(served.next().type() == "conclusion");
  CHECK(begun);
}

TEST_CASE("a cancelled job concludes as cancelled, also while it waits for an acknowledgement") {
  Served served(one_kind([&](const Order&, Reporter& reporter, const std::stop_token&) {
    reporter.stage({.record = {.name = "compiled"}});
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  CHECK(served.next().type() == "stage");
  served.server().send(node::link::cancel("a"));
  const auto end = node::link::decode_conclusion(served.next());
  CHECK(end.verdict == job::Verdict::cancelled);
}

TEST_CASE("jobs beyond the slots wait their turn and can be cancelled while waiting") {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  Served served(one_kind(
      [&](const Order&, Reporter&, const std::stop_token& stop) {
        most = std::max(most.load(), ++running);
        for (int i = 0; i < 20 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(5ms);
        --running;
        return passed();
      },
      2));
  for (const char* id : {"a", "b", "c", "d"}) served.server().send(node::link::run(order(id), 1));
  served.server().send(node::link::cancel("d"));
  int cancelled = 0;
  for (int i = 0; i < 4; ++i) {
    const auto end = node::link::decode_conclusion(served.next());
    cancelled += end.verdict == job::Verdict::cancelled ? 1 : 0;
  }
  CHECK(cancelled == 1);
  CHECK(most == 2);
}

TEST_CASE("a client's many jobs delay another client's by one") {
  node::JobQueue queue(2, 100);
  const std::stop_source never;
  std::vector<node::JobQueue::Ticket> greedy;
  for (int i = 0; i < 5; ++i) greedy.push_back(queue.enter("greedy"));
  const auto modest = queue.enter("modest");
  REQUIRE(queue.wait(greedy[0], never.get_token()));
  // Nobody of his runs: he is next, whoever came before.
  REQUIRE(queue.wait(modest, never.get_token()));
  queue.done(greedy[0]);
  REQUIRE(queue.wait(greedy[1], never.get_token()));
  std::stop_source given_up;
  given_up.request_stop();
  CHECK_FALSE(queue.wait(greedy[2], given_up.get_token()));
  queue.done(modest);
  // One that gave up does not stand in the others' way.
  REQUIRE(queue.wait(greedy[3], never.get_token()));
}

TEST_CASE("who has too many waiting is told, others are not") {
  std::atomic<bool> go = false;
  auto config = one_kind([&](const Order&, Reporter&, const std::stop_token& stop) {
    while (!go && !stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return passed();
  });
  config.most_waiting = 2;
  Served served(config);
  const auto send = [&](const std::string& id, const std::string& client) {
    Order one = order(id);
    one.client = client;
    served.server().send(node::link::run(one, 1));
  };
  for (int i = 0; i < 4; ++i) send("greedy" + std::to_string(i), "greedy");
  // The first may run already, two wait: one of the four is refused at least, two at most.
  const auto refused = served.next();
  const auto refusal = node::link::decode_conclusion(refused);
  CHECK(refusal.verdict == job::Verdict::cancelled);  // no fault of ours
  CHECK(refusal.body.at("detail").at("cause") == "too_many_waiting");
  send("modest", "modest");
  go = true;
  std::set<std::string> concluded;
  while (!concluded.contains("modest")) {
    const auto frame = served.next();
    const auto conclusion = node::link::decode_conclusion(frame);
    if (frame.body.at("job_id") == "modest") CHECK(conclusion.verdict == job::Verdict::passed);
    concluded.insert(frame.body.at("job_id"));
  }
}

TEST_CASE("an exception of ours is an engine fault of that job; the next one runs") {
  std::atomic<int> calls{0};
  Served served(one_kind([&](const Order&, Reporter&, const std::stop_token&) -> Conclusion {
    if (++calls == 1) throw std::runtime_error("bug");
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  CHECK(node::link::decode_conclusion(served.next()).verdict == job::Verdict::engine_fault);
  served.server().send(node::link::run(order("b"), 1));
  CHECK(node::link::decode_conclusion(served.next()).verdict == job::Verdict::passed);
}

TEST_CASE("a job of an unknown kind is unsupported") {
  Served served(one_kind({}));
  served.server().send(node::link::run({.job_id = "a", .kind = "other"}, 1));
  CHECK(node::link::decode_conclusion(served.next()).verdict == job::Verdict::unsupported);
}

TEST_CASE("capabilities are answered beside running jobs") {
  Served served(one_kind([&](const Order&, Reporter&, const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
    return passed();
  }));
  served.server().send(node::link::run(order("a"), 1));
  served.server().send(node::link::plain("capabilities"));
  CHECK(served.next().body.at("body").at("devices") == 0);
}

TEST_CASE("who asks for capabilities again and again costs no thread each time") {
  Served served(one_kind([](const Order&, Reporter&, const std::stop_token&) { return passed(); }));
  const auto ask = [&](int times) {
    for (int i = 0; i < times; ++i) served.server().send(node::link::plain("capabilities"));
    for (int i = 0; i < times; ++i) CHECK(served.next().body.at("body").at("devices") == 0);
  };
  const auto maps = [] {
    std::ifstream file("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  };
  ask(20);
  const auto before = maps();
  for (int i = 0; i < 20; ++i) ask(5);
  CHECK(maps() < before + 50);  // a thread that nobody joins keeps two
}

TEST_CASE("capabilities that cannot be found out are a failure that is told") {
  auto config = one_kind([](const Order&, Reporter&, const std::stop_token&) { return passed(); });
  config.capabilities = []() -> nlohmann::json { throw std::runtime_error("no process left"); };
  Served served(std::move(config));
  served.server().send(node::link::plain("capabilities"));
  CHECK(served.next().body.at("failed") == "no process left");
  served.server().send(node::link::run(order("a"), 1));
  CHECK(node::link::decode_conclusion(served.next()).verdict == job::Verdict::passed);
}

TEST_CASE("the end of the stream stops every job") {
  std::atomic<bool> stopped{false};
  {
    Served served(one_kind([&](const Order&, Reporter&, const std::stop_token& stop) {
      while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
      stopped = true;
      return passed();
    }));
    served.server().send(node::link::run(order("a"), 1));
    std::this_thread::sleep_for(30ms);
  }
  CHECK(stopped);
}
