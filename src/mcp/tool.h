// What the server knows of a tool: its listing, its schemas and one blocking function. Tools are
// plain values, built by the owner of the server and handed over in the order in which they are to
// be listed. A tool never sees JSON-RPC, ids, eras or sessions.
//
//   Tool echo{.name = "echo",
//             .description = "Says it back.",
//             .annotations = {.read_only = true, .destructive = false},
//             .input_schema = OrderedJson::parse(R"({"type":"object", ...})"),
//             .run = [](const Json& arguments, CallContext&) {
//               return ToolResult{.structured = {{"said", arguments.at("word")}}};
//             }};
//
// `run` is called on a pool thread, concurrently with itself and with other tools. Its arguments
// satisfy `input_schema`. It should return soon after `context.stop` is requested: whatever it
// returns then is dropped. An exception it throws is this server's fault: JSON-RPC error -32603.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/json.h"
#include "mcp/log_level.h"
#include "mcp/revision.h"

namespace assay::mcp {

struct ResourceLink {
  std::string uri{};
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::optional<std::int64_t> size_bytes{};
};

enum class TaskStatus { working, input_required, completed, failed, cancelled };

// A task as its holder sees it (mcp/task.h).
struct TaskHandle {
  std::string id{};
  TaskStatus status = TaskStatus::working;
  std::string created_at{};  // ISO 8601
  std::string updated_at{};
  std::optional<std::int64_t> ttl_ms{};  // nothing: as long as it is kept
  std::int64_t poll_interval_ms = 1000;
  std::string message{};
};

struct ToolResult {
  // The machine's half (structuredContent): an object, or null for none.
  OrderedJson structured = nullptr;
  // The model's half: one text block. Empty means the compact JSON of `structured`.
  std::string text{};
  // True: the call could not be judged (refused arguments, no device). A bad verdict is no error.
  bool is_error = false;
  std::vector<ResourceLink> links{};
  // What the call needs from the client before it can go on: the client calls again with the
  // answers and `request_state` as they are here. Only what it has declared may be asked; only the
  // modern era knows it. Null: the result is complete.
  OrderedJson input_requests = nullptr;
  std::string request_state{};
  // The call goes on as this task, and everything else here is ignored. Only if the context allows.
  std::optional<TaskHandle> task{};
  // Further content blocks, sent as they are (image, audio, embedded resource).
  std::vector<OrderedJson> more_content{};
};

// Who asked. What a client did not say is empty.
struct Client {
  Revision revision = newest_legacy_revision;
  Json capabilities = Json::object();
  std::string name{};
  std::string version{};
};

// Thrown by a tool or a prompt: the request itself is at fault, beyond what its schema can say.
struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Progress {
  double done = 0;
  std::optional<double> total{};
  std::string message{};
};

// What a running call may know and do. A test constructs one with the members it cares about.
struct CallContext {
  std::stop_token stop{};
  // Who owns what the call creates; "local" on stdio.
  std::string principal = "local";
  Client client{};
  // Empty when the request carried no progress token. May be called from any thread of the tool.
  std::function<void(Progress)> progress_sink{};

  // The client can hold a task: a call that takes long may answer with one.
  bool may_become_task = false;
  // What the client answered to the `input_requests` of an earlier round, and the state that came
  // with them: nothing a client could not make up.
  Json input_responses = Json::object();
  std::string request_state{};
  // Asks a legacy client and waits. Empty in the modern era. Nothing: refused, or no answer.
  std::function<std::optional<Json>(const std::string& method, const OrderedJson& params)> ask{};
  // Lets a legacy client hang up now and come back for the result, where its transport can do that;
  // nothing happens where it cannot. Empty in the modern era.
  std::function<void()> let_poll{};
  // Empty when the client wants no log.
  std::function<void(LogLevel level, const OrderedJson& data)> log_sink{};

  // What the call may take counts from here.
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  // To be asked before the call waits for what others do (a job, a client): while the handle lives,
  // another thread serves in place of this one. Null: as many wait as may, so this call must answer
  // with what it has. Empty: the thread is the caller's own, and may wait.
  std::function<std::shared_ptr<void>()> step_aside{};

  void log(LogLevel level, const OrderedJson& data) const {
    if (log_sink) log_sink(level, data);
  }

  // Tells the client how far the call is. `done` must grow from call to call: what does not grow is
  // dropped, and more than the client can use is thinned out (the newest one wins).
  void progress(double done, std::optional<double> total = {},
                std::string_view message = {}) const {
    if (progress_sink)
      progress_sink({.done = done, .total = total, .message = std::string(message)});
  }
};

// Hints for the client's user interface. The protocol's own defaults are the pessimistic ones here.
struct Annotations {
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = true;
};

// Another name under which a tool is accepted but not listed. `adapt`, if given, rewrites the
// arguments into the tool's own shape before they are checked; it must not throw on any JSON.
struct Alias {
  std::string name{};
  std::function<Json(Json arguments)> adapt{};
  // Rewrites the answer into what callers by this name look for.
  std::function<void(ToolResult& result)> present{};
};

struct Tool {
  std::string name{};
  std::string title{};
  std::string description{};
  Annotations annotations{};
  // JSON Schema 2020-12, within the subset of mcp/schema.h; the root is of type object. A property
  // marked `"x-json-text": true` also accepts its object or array as JSON text (mcp/json_text.h).
  OrderedJson input_schema = {{"type", "object"}, {"additionalProperties", false}};
  // Null: the tool promises no shape. Otherwise the root is of type object.
  OrderedJson output_schema = nullptr;
  std::function<ToolResult(const Json& arguments, CallContext& context)> run{};
  // Client capabilities without which a modern call is refused; null: none.
  OrderedJson needs = nullptr;
  // It cannot answer but with a task: clients that cannot hold one are refused.
  bool needs_task = false;
  std::vector<Alias> aliases{};
  // For calls by its own name what an alias's `adapt` is for that alias: arguments of an older
  // shape become today's before they are checked. Empty: they are checked as they are.
  std::function<Json(Json arguments)> adapt{};
  // The listing's `_meta` member, sent as it is; null for none.
  OrderedJson meta = nullptr;
};

}  // namespace assay::mcp
