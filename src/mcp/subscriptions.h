// subscriptions/listen: a request that stays open and carries what changes. This server has one
// thing that does: tasks. Everything else that a client may ask to hear of is left out of the
// acknowledgement, as the revision wants it.
//
//   listen {notifications: {taskIds}} → notifications/subscriptions/acknowledged, then
//   notifications/tasks for each task as it stands and whenever it changes, every one with the id
//   of the request; the answer comes when the server ends, or the input (then not before the tasks
//   have ended).
//
// Changes are told by whoever keeps the tasks, from any thread; the state of a task is asked for on
// a pool thread; everything else happens on the event thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "mcp/event_loop.h"
#include "mcp/lifecycle.h"
#include "mcp/method_table.h"
#include "mcp/task.h"
#include "mcp/tool_calls.h"

namespace assay::mcp {

struct ListenParams {
  Json notifications = Json::object();
  void read(Reader& reader) { reader.required("notifications", notifications); }
};

class Subscriptions {
 public:
  // All must outlive this object.
  Subscriptions(const Tasks& tasks, const Identity& identity, EventLoop& loop, ToolCalls& pool,
                Log log);
  ~Subscriptions();
  Subscriptions(const Subscriptions&) = delete;
  Subscriptions& operator=(const Subscriptions&) = delete;

  void listen(const Call& call, const ListenParams& params, Reply reply);
  // No request comes any more: what watches tasks is answered when they have ended.
  void input_ended();
  // Answers everybody.
  void end_all();

  [[nodiscard]] std::size_t size() const { return listeners_.size(); }

 private:
  // What a listener knows of a task.
  struct Watched {
    std::string told{};  // the last notification; empty: none yet
    bool ended = false;
    bool asking = false;  // its state is being asked for
    bool again = false;   // it has changed since
  };
  struct Listener {
    Reply reply;
    std::shared_ptr<const CallContext> context{};
    std::map<std::string, Watched> tasks{};
    std::shared_ptr<void> departure{};  // tells when the client has gone
    bool acknowledged = false;
  };
  // A task as it was found; no state and not failed: there is none of that id.
  struct Look {
    std::optional<TaskState> state{};
    bool failed = false;
  };
  using States = std::vector<std::pair<std::string, TaskState>>;

  [[nodiscard]] Look look(const std::string& id, const CallContext& context) const;
  void open(std::uint64_t serial, const States& known);
  void changed(const std::string& task_id);
  void look_again(std::uint64_t serial);
  void ask(std::uint64_t serial, const std::string& task_id);
  void answered(std::uint64_t serial, const std::string& task_id, const Look& seen);
  void tell(Listener& listener, const std::string& task_id, const TaskState& state) const;
  void finish_if_over(std::uint64_t serial);
  void finish(Listener listener);
  [[nodiscard]] OrderedJson tagged(OrderedJson params, const Listener& listener) const;

  const Tasks& tasks_;
  const Identity& identity_;
  EventLoop& loop_;
  ToolCalls& pool_;
  const Log log_;
  std::uint64_t last_serial_ = 0;
  bool input_ended_ = false;
  std::map<std::uint64_t, Listener> listeners_{};
  std::shared_ptr<void> observation_{};
};

}  // namespace assay::mcp
