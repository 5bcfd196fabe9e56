// What the fixtures are for: calls that need something of their client, that log to it, and that go
// on as tasks. On a pipe; the official suite does the same over HTTP.
#include "mcp/conformance/fixtures.h"

#include <thread>

#include "tests/catch.h"
#include "tests/mcp/fake_tools.h"
#include "tests/transcripts/pipe_endpoint.h"

using namespace assay::mcp;
using assay::transcripts::PipeEndpoint;

namespace {

constexpr const char* kTasks = "io.modelcontextprotocol/tasks";

ServerConfig config() {
  ServerConfig config{.version = "1", .tools = fake_tools()};
  conformance::add_fixtures(config);
  return config;
}

class Conversation {
 public:
  // The answer; the notifications and requests before it are kept in `heard`.
  Json ask(const std::string& method, Json params) {
    send({{"jsonrpc", "2.0"},
          {"id", ++last_id_},
          {"method", method},
          {"params", std::move(params)}});
    heard.clear();
    while (true) {
      Json message = next();
      if (message.contains("method"))
        heard.push_back(std::move(message));
      else
        return message;
    }
  }
  void send(const Json& message) { server_.send(message.dump() + "\n"); }
  Json next() {
    const auto line = server_.receive(std::chrono::seconds(20));
    REQUIRE(line);
    return Json::parse(*line);
  }
  Json modern(const std::string& method, Json params, const Json& capabilities = Json::object()) {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    return ask(method, std::move(params));
  }
  Json call(const std::string& tool, const Json& arguments = Json::object(),
            const Json& capabilities = Json::object()) {
    return modern("tools/call", {{"name", tool}, {"arguments", arguments}}, capabilities);
  }

  std::vector<Json> heard{};

 private:
  PipeEndpoint server_{config()};
  int last_id_ = 0;
};

const Json kHoldsTasks = {{"extensions", {{kTasks, Json::object()}}}};

}  // namespace

TEST_CASE("a call that needs an answer asks, and goes on with it", "[input]") {
  Conversation client;
  const Json asked = client.call("test_input_required_result_elicitation")["result"];
  CHECK(asked["resultType"] == "input_required");
  CHECK(asked["inputRequests"]["user_name"]["method"] == "elicitation/create");
  CHECK_FALSE(asked.contains("content"));
  const auto answered = [&](const Json& responses) {
    return client.modern("tools/call", {{"name", "test_input_required_result_elicitation"},
                                        {"inputResponses", responses}})["result"];
  };
  const Json right = {{"user_name", {{"action", "accept"}, {"content", {{"name", "Anna"}}}}}};
  CHECK(answered(right)["content"][0]["text"] == "Hello, Anna!");
  for (const Json& wrong :
       std::vector<Json>{{{"other", 1}},
                         {{"user_name", 7}},
                         {{"user_name", {{"action", "decline"}}}},
                         {{"user_name", {{"action", "accept"}, {"content", Json::array()}}}},
                         7,
                         "x"}) {
    INFO(wrong.dump());
    CHECK(answered(wrong)["resultType"] == "input_required");
  }
}

TEST_CASE("state that comes back changed is refused", "[input]") {
  Conversation client;
  const auto call = [&](const std::string& state) {
    return client.modern(
        "tools/call",
        {{"name", "test_input_required_result_tampered_state"},
         {"requestState", state},
         {"inputResponses", {{"confirm", {{"action", "accept"}, {"content", {{"ok", true}}}}}}}});
  };
  const std::string state =
      client.call("test_input_required_result_tampered_state")["result"]["requestState"];
  CHECK(call(state)["result"]["content"][0]["text"] == "state-ok");
  for (std::size_t i = 0; i < state.size(); i += 7) {
    std::string changed = state;
    changed[i] = changed[i] == '0' ? '1' : '0';
    CHECK(call(changed)["error"]["code"] == -32602);
  }
  CHECK(call("x")["error"]["code"] == -32602);
  CHECK(call(state + "0")["error"]["code"] == -32602);
}

TEST_CASE("a call without what it needs of the client is refused with its name", "[input]") {
  Conversation client;
  const Json error = client.call("test_missing_capability")["error"];
  CHECK(error["code"] == -32021);
  CHECK(error["data"]["requiredCapabilities"] == Json({{"sampling", Json::object()}}));
  CHECK(client.call("test_missing_capability", Json::object(), {{"sampling", Json::object()}})
            .contains("result"));
}

TEST_CASE("a log is sent to who wants one, from its level on", "[log]") {
  Conversation client;
  const auto call = [&](const Json& level) {
    Json params = {{"name", "test_logging_tool"}};
    if (!level.is_null()) params["_meta"] = {{"io.modelcontextprotocol/logLevel", level}};
    return client.modern("tools/call", params);
  };
  call(nullptr);
  CHECK(client.heard.empty());
  call("debug");
  REQUIRE(client.heard.size() == 3);
  CHECK(client.heard[0]["method"] == "notifications/message");
  CHECK(client.heard[0]["params"] == Json({{"level", "info"}, {"data", "Tool execution started"}}));
  call("warning");
  CHECK(client.heard.empty());
  CHECK(call("loud")["error"]["code"] == -32602);

  client.ask("initialize", {{"protocolVersion", "2025-11-25"}});
  client.ask("tools/call", {{"name", "test_tool_with_logging"}});
  CHECK(client.heard.size() == 3);
  CHECK(client.ask("logging/setLevel", {{"level", "error"}})["result"] == Json::object());
  client.ask("tools/call", {{"name", "test_tool_with_logging"}});
  CHECK(client.heard.empty());
  CHECK(client.ask("logging/setLevel", {{"level", "x"}})["error"]["code"] == -32602);
}

TEST_CASE("a legacy client is asked while the call runs", "[input]") {
  Conversation client;
  client.ask("initialize",
             {{"protocolVersion", "2025-11-25"}, {"capabilities", {{"sampling", Json::object()}}}});
  const auto call = [&] {
    client.send({{"jsonrpc", "2.0"},
                 {"id", "c"},
                 {"method", "tools/call"},
                 {"params", {{"name", "test_sampling"}, {"arguments", {{"prompt", "2+2?"}}}}}});
    const Json question = client.next();
    CHECK(question["method"] == "sampling/createMessage");
    CHECK(question["params"]["messages"][0]["content"]["text"] == "2+2?");
    return question["id"];
  };
  const Json first = call();
  const Json answer = {{"role", "assistant"}, {"content", {{"type", "text"}, {"text", "4"}}}};
  client.send({{"jsonrpc", "2.0"}, {"id", 4711}, {"result", answer}});  // nobody asked
  client.send({{"jsonrpc", "2.0"}, {"id", first}, {"result", answer}});
  CHECK(client.next()["result"]["content"][0]["text"] == "LLM response: 4");
  const Json second = call();
  CHECK(second != first);
  client.send({{"jsonrpc", "2.0"}, {"id", second}, {"error", {{"code", -1}, {"message", "no"}}}});
  CHECK(client.next()["result"]["isError"] == true);
}

TEST_CASE("a task is there before it is told of, and gives its result", "[tasks]") {
  Conversation client;
  CHECK(client.modern("server/discover", Json::object())["result"]["capabilities"]["extensions"]
            .contains(kTasks));
  const Json created =
      client.call("slow_compute", {{"seconds", 0.3}, {"label", "x"}}, kHoldsTasks)["result"];
  CHECK(created["resultType"] == "task");
  CHECK(created["status"] == "working");
  CHECK_FALSE(created.contains("content"));
  const auto get = [&](const Json& id) {
    return client.modern("tasks/get", {{"taskId", id}}, kHoldsTasks);
  };
  const Json working = get(created["taskId"])["result"];
  CHECK(working["status"] == "working");
  CHECK(working["resultType"] == "complete");
  CHECK_FALSE(working.contains("result"));
  std::this_thread::sleep_for(std::chrono::milliseconds(350));
  const Json done = get(created["taskId"])["result"];
  CHECK(done["status"] == "completed");
  CHECK(done["result"]["content"][0]["text"] == "computed x");
  CHECK(get("no such")["error"]["code"] == -32602);
}

TEST_CASE("tasks are for clients that can hold them", "[tasks]") {
  Conversation client;
  const Json id = client.call("slow_compute", {{"seconds", 60}}, kHoldsTasks)["result"]["taskId"];
  for (const char* method : {"tasks/get", "tasks/cancel", "tasks/update"}) {
    const Json error = client.modern(method, {{"taskId", id}})["error"];
    CHECK(error["code"] == -32021);
    CHECK(error["data"]["requiredCapabilities"]["extensions"].contains(kTasks));
  }
  CHECK(client.call("slow_compute", {{"seconds", 0}})["result"]["content"][0]["text"] ==
        "computed it");
  CHECK(client.call("failing_job")["error"]["code"] == -32021);
  CHECK(client.modern("tasks/result", {{"taskId", id}}, kHoldsTasks)["error"]["code"] == -32601);
  CHECK(client.modern("tasks/list", Json::object(), kHoldsTasks)["error"]["code"] == -32601);

  CHECK(client.modern("tasks/cancel", {{"taskId", id}}, kHoldsTasks)["result"]["resultType"] ==
        "complete");
  CHECK(client.modern("tasks/get", {{"taskId", id}}, kHoldsTasks)["result"]["status"] ==
        "cancelled");
  CHECK(client.modern("tasks/cancel", {{"taskId", id}}, kHoldsTasks).contains("result"));
}

TEST_CASE("a task that asks waits for every answer", "[tasks]") {
  Conversation client;
  const Json id = client.call("multi_input", Json::object(), kHoldsTasks)["result"]["taskId"];
  const auto state = [&] {
    return client.modern("tasks/get", {{"taskId", id}}, kHoldsTasks)["result"];
  };
  const auto answer = [&](const Json& responses) {
    return client.modern("tasks/update", {{"taskId", id}, {"inputResponses", responses}},
                         kHoldsTasks);
  };
  CHECK(state()["status"] == "input_required");
  CHECK(state()["inputRequests"].size() == 2);
  CHECK(client.modern("tasks/update", {{"taskId", id}}, kHoldsTasks)["error"]["code"] == -32602);
  for (const Json& no_answers : std::vector<Json>{5, nullptr, "name", Json::array()})
    CHECK(answer(no_answers)["error"]["code"] == -32602);
  CHECK(state()["inputRequests"].size() == 2);
  CHECK(answer({{"name", Json::object()}, {"unknown", 1}})["result"]["resultType"] == "complete");
  CHECK(state()["inputRequests"].size() == 1);
  answer({{"color", Json::object()}});
  CHECK(state()["status"] == "completed");
}
