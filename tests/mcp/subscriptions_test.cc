// subscriptions/listen, from messages to messages: a fake keeper of tasks, a fake client.
#include "mcp/subscriptions.h"

#include <map>
#include <mutex>
#include <thread>

#include "mcp/codec.h"
#include "mcp/dispatcher.h"
#include "mcp/event_queue.h"
#include "tests/catch.h"

using namespace assay::mcp;
using std::chrono::milliseconds;

namespace {

constexpr const char* kId = "io.modelcontextprotocol/subscriptionId";

// Tasks that tests move on. Any thread.
class Keeper {
 public:
  void set(const std::string& id, TaskStatus status, const std::string& message = {}) {
    {
      const std::lock_guard lock(mutex_);
      tasks_[id] = {.id = id, .status = status, .message = message};
    }
    if (changed_) changed_(id);
  }
  // As another server does, which tells nobody here.
  void set_elsewhere(const std::string& id, TaskStatus status) {
    const std::lock_guard lock(mutex_);
    tasks_[id] = {.id = id, .status = status};
  }
  void forget(const std::string& id) {
    {
      const std::lock_guard lock(mutex_);
      tasks_.erase(id);
    }
    if (changed_) changed_(id);
  }
  [[nodiscard]] Tasks tasks() {
    return {.get = [this](const std::string& id,
                          const CallContext& context) -> std::optional<TaskState> {
              const std::lock_guard lock(mutex_);
              if (breaks) throw std::runtime_error("the disk is gone");
              const auto found = tasks_.find(id);
              if (found == tasks_.end() || context.principal != "local") return {};
              TaskState state{.handle = found->second};
              if (state.handle.status == TaskStatus::completed)
                state.result = ToolResult{.text = "done"};
              return state;
            },
            .cancel = [](const std::string&, const CallContext&) { return false; },
            .update = [](const std::string&, const Json&, const CallContext&) { return false; },
            .observe =
                [this](std::function<void(const std::string&)> changed) -> std::shared_ptr<void> {
              changed_ = std::move(changed);
              return {nullptr, [this](void*) { changed_ = nullptr; }};
            }};
  }
  std::atomic<bool> breaks{false};

 private:
  std::mutex mutex_{};
  std::map<std::string, TaskHandle> tasks_{};
  std::function<void(const std::string&)> changed_{};
};

class Listener final : public Peer {
 public:
  explicit Listener(std::string principal = "local") { session_.principal = std::move(principal); }
  Session& session() override { return session_; }
  void notify(std::string message) override { notes.push_back(Json::parse(message)); }
  void answer(std::string message, std::optional<ErrorCode>) override {
    answers.push_back(Json::parse(message));
  }
  std::vector<Json> notes{};
  std::vector<Json> answers{};

 private:
  Session session_{};
};

struct Server {
  Keeper keeper{};
  EventQueue queue{};
  std::atomic<int> faults{0};  // logged
  Dispatcher dispatcher{{.tasks = keeper.tasks(),
                         .log =
                             [this](Level level, std::string_view text) {
                               const bool is_it = level == Level::error &&
                                                  text.find("the disk is gone") != text.npos;
                               if (is_it) ++faults;
                             }},
                        queue};

  ~Server() {
    dispatcher.stop_all();
    (void)dispatcher.drain(nullptr);
  }

  std::shared_ptr<Listener> listen(const Json& notifications, const Json& id = 7,
                                   bool has_tasks = true, const std::string& principal = "local") {
    Json capabilities = Json::object();
    if (has_tasks)
      capabilities = {{"extensions", {{"io.modelcontextprotocol/tasks", Json::object()}}}};
    const Json message = {{"jsonrpc", "2.0"},
                          {"id", id},
                          {"method", "subscriptions/listen"},
                          {"params",
                           {{"notifications", notifications},
                            {"_meta",
                             {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                              {"io.modelcontextprotocol/clientCapabilities", capabilities}}}}}};
    auto peer = std::make_shared<Listener>(principal);
    dispatcher.receive({.message = Decoder().decode(message.dump()), .peer = peer});
    return peer;
  }
  bool until(const std::function<bool()>& happened) {
    for (int i = 0; i < 5000; ++i) {
      queue.run_tasks();
      if (happened()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }
};

std::vector<std::string> told(const Listener& listener) {
  std::vector<std::string> all;
  for (const Json& note : listener.notes) {
    const Json& params = note.at("params");
    all.push_back(note.at("method") == "notifications/tasks"
                      ? params.at("taskId").get<std::string>() + " " +
                            params.at("status").get<std::string>()
                      : "acknowledged " + params.at("notifications").dump());
  }
  return all;
}

using Told = std::vector<std::string>;

}  // namespace

TEST_CASE("a listener is acknowledged first, then told each task and each of its changes") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto one = server.listen({{"taskIds", {"a"}}});
  REQUIRE(server.until([&] { return one->notes.size() == 2; }));
  server.keeper.set("a", TaskStatus::working, "compiling");
  REQUIRE(server.until([&] { return one->notes.size() == 3; }));
  server.keeper.set("a", TaskStatus::completed);
  REQUIRE(server.until([&] { return one->notes.size() == 4; }));
  CHECK(told(*one) ==
        Told{"acknowledged {\"taskIds\":[\"a\"]}", "a working", "a working", "a completed"});
  for (const Json& note : one->notes) CHECK(note.at("params").at("_meta").at(kId) == 7);
  CHECK(one->notes[2].at("params").at("statusMessage") == "compiling");
  CHECK(one->notes[3].at("params").at("result").at("content").at(0).at("text") == "done");
  CHECK(one->answers.empty());
}

TEST_CASE("a change that nobody told of is found out") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto one = server.listen({{"taskIds", {"a"}}});
  REQUIRE(server.until([&] { return one->notes.size() == 2; }));
  server.keeper.set_elsewhere("a", TaskStatus::cancelled);
  REQUIRE(server.until([&] { return one->notes.size() == 3; }));
  CHECK(told(*one).back() == "a cancelled");
}

TEST_CASE("what is asked for and does not change is left out of the acknowledgement") {
  Server server;
  const auto one = server.listen({{"toolsListChanged", true},
                                  {"promptsListChanged", true},
                                  {"resourceSubscriptions", {"a://b"}},
                                  {"taskIds", {"nobody's"}}},
                                 "x");
  REQUIRE(server.until([&] { return one->notes.size() == 1; }));
  CHECK(told(*one) == Told{"acknowledged {}"});
  CHECK(one->notes[0].at("params").at("_meta").at(kId) == "x");
}

TEST_CASE("a task is told only to those who may see it") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto other = server.listen({{"taskIds", {"a"}}}, 1, true, "eve");
  const auto own = server.listen({{"taskIds", {"a"}}}, 2);
  REQUIRE(server.until([&] { return own->notes.size() == 2 && other->notes.size() == 1; }));
  server.keeper.set("a", TaskStatus::completed);
  REQUIRE(server.until([&] { return own->notes.size() == 3; }));
  CHECK(told(*other) == Told{"acknowledged {}"});
}

TEST_CASE("nothing is told twice, and nothing after the end") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto one = server.listen({{"taskIds", {"a", "a"}}});
  REQUIRE(server.until([&] { return one->notes.size() == 2; }));
  for (int i = 0; i < 5; ++i) server.keeper.set("a", TaskStatus::working);
  server.keeper.set("a", TaskStatus::cancelled);
  REQUIRE(server.until([&] { return one->notes.size() == 3; }));
  for (int i = 0; i < 5; ++i) server.keeper.set("a", TaskStatus::working);
  const auto second = server.listen(Json::object(), 8);
  REQUIRE(server.until([&] { return second->notes.size() == 1; }));
  CHECK(told(*one) == Told{"acknowledged {\"taskIds\":[\"a\"]}", "a working", "a cancelled"});
}

TEST_CASE("bad requests to listen are refused") {
  Server server;
  struct Row {
    Json notifications;
    bool has_tasks;
    int code;
  };
  Json many = Json::array();
  for (int i = 0; i < 257; ++i) many.push_back(std::to_string(i));
  for (const Row& row : std::vector<Row>{{Json::array(), true, -32602},
                                         {"all", true, -32602},
                                         {{{"taskIds", "a"}}, true, -32602},
                                         {{{"taskIds", {1}}}, true, -32602},
                                         {{{"taskIds", many}}, true, -32602},
                                         {{{"taskIds", {"a"}}}, false, -32021}}) {
    const auto one = server.listen(row.notifications, 7, row.has_tasks);
    REQUIRE(one->answers.size() == 1);
    CHECK(one->answers[0].at("error").at("code") == row.code);
    CHECK(one->notes.empty());
  }
  CHECK(server.dispatcher.idle());
}

TEST_CASE("a client that goes leaves no listener behind") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto one = server.listen({{"taskIds", {"a"}}});
  REQUIRE(server.until([&] { return one->notes.size() == 2; }));
  server.dispatcher.peer_gone(*one);
  CHECK(server.dispatcher.idle());
  server.keeper.set("a", TaskStatus::completed);
  const auto second = server.listen({{"taskIds", {"a"}}}, 8);
  REQUIRE(server.until([&] { return second->notes.size() == 2; }));
  CHECK(one->notes.size() == 2);
  CHECK(one->answers.empty());
}

TEST_CASE("a server that ends answers its listeners") {
  Server server;
  const auto one = server.listen(Json::object());
  REQUIRE(server.until([&] { return one->notes.size() == 1; }));
  server.dispatcher.stop_all();
  REQUIRE(one->answers.size() == 1);
  const Json& result = one->answers[0].at("result");
  CHECK(result.at("resultType") == "complete");
  CHECK(result.at("_meta").at(kId) == 7);
}

TEST_CASE("after the last message a listener is answered when its tasks have ended") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  server.keeper.set("b", TaskStatus::working);
  const auto idle = server.listen(Json::object(), 1);
  const auto waiting = server.listen({{"taskIds", {"a", "b"}}}, 2);
  server.dispatcher.input_ended();
  REQUIRE(server.until([&] { return idle->answers.size() == 1 && waiting->notes.size() == 3; }));
  CHECK(idle->notes.size() == 1);
  server.keeper.set("a", TaskStatus::completed);
  REQUIRE(server.until([&] { return waiting->notes.size() == 4; }));
  CHECK(waiting->answers.empty());
  server.keeper.forget("b");
  REQUIRE(server.until([&] { return waiting->answers.size() == 1; }));
  CHECK(server.dispatcher.idle());
}

TEST_CASE("a task whose state cannot be read is logged, and told when it can be again") {
  Server server;
  server.keeper.set("a", TaskStatus::working);
  const auto one = server.listen({{"taskIds", {"a"}}});
  REQUIRE(server.until([&] { return one->notes.size() == 2; }));
  server.keeper.breaks = true;
  server.keeper.set("a", TaskStatus::working, "unread");
  const auto second = server.listen(Json::object(), 8);
  REQUIRE(server.until([&] { return second->notes.size() == 1; }));
  REQUIRE(server.until([&] { return server.faults > 0; }));
  server.keeper.breaks = false;
  server.keeper.set("a", TaskStatus::completed);
  REQUIRE(server.until([&] { return told(*one).back() == "a completed"; }));
}
