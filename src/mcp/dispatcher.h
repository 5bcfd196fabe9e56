// From messages to handlers. Owns the method table and the table of requests in flight; decides the
// era, refuses what is out of place, cancels. Knows no bytes of a transport and nothing of what
// tools do. Everything here runs on the event thread, so there is no lock.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "mcp/catalogue.h"
#include "mcp/event_loop.h"
#include "mcp/library_calls.h"
#include "mcp/lifecycle.h"
#include "mcp/method_table.h"
#include "mcp/peer.h"
#include "mcp/server.h"
#include "mcp/subscriptions.h"
#include "mcp/task_calls.h"
#include "mcp/tool_calls.h"

namespace assay::mcp {

class Dispatcher {
 public:
  // `loop` must outlive this object. Throws std::invalid_argument as StdioServer does.
  Dispatcher(ServerConfig config, EventLoop& loop);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;

  void receive(Incoming incoming);

  // The client can no longer be reached: stops its requests, answers nothing.
  void peer_gone(const Peer& peer);
  // The client ended its session: stops the session's requests, answers none of them.
  void session_ended(const Session& session);
  // No message comes any more: what would stay open for more is answered in time.
  void input_ended() { subscriptions_.input_ended(); }
  // Stops every request and answers it with an error.
  void stop_all();

  // What the arguments of a tool must repeat in headers; an unknown tool's, nothing. Under an older
  // name the arguments have another shape.
  [[nodiscard]] std::vector<ParamHeader> param_headers(std::string_view tool) const {
    const Lookup found = catalogue_.find(tool);
    return found.entry == nullptr || found.alias != nullptr ? std::vector<ParamHeader>{}
                                                            : found.entry->headers;
  }

  // Nothing is owed to anybody.
  [[nodiscard]] bool idle() const { return in_flight_.empty(); }
  // What the requests in flight hold, roughly.
  [[nodiscard]] std::size_t pending_bytes() const { return pending_bytes_; }
  // Work that is no request's, on a thread of the tools'. False: there is none for it.
  [[nodiscard]] bool work(std::function<void()> work) { return calls_.work(std::move(work)); }
  // Waits for tools whose answers nobody waits for; returns how many would not end in time. Those
  // keep `owner`, which owns this object and its loop, alive until they do.
  [[nodiscard]] std::size_t drain(std::shared_ptr<void> owner) {
    return calls_.drain(std::move(owner));
  }

 private:
  using Key = std::pair<const Session*, RequestId>;
  struct InFlight {
    std::shared_ptr<Exchange> exchange{};
    std::stop_source stop{};
    std::size_t bytes = 0;
  };

  void on(Request request, const Incoming& incoming);
  void on(Notification notification, const Incoming& incoming);
  void on(const Response& response, const Incoming& incoming);
  void on(const Invalid& invalid, const Incoming& incoming);
  void on(Batch batch, const Incoming& incoming);

  // What stands against serving this request, or the call to serve it with.
  [[nodiscard]] std::variant<Call, RpcError> admit(Request& request, const Method*& method,
                                                   Peer& peer);
  void cancel(Peer& peer, const RequestId& id);
  void forget(const Key& key);
  // Takes the entry out; the request will not be answered and its tool is asked to stop.
  void withdraw(std::map<Key, InFlight>::iterator entry);
  const std::string& tools_listing(Revision revision);

  [[nodiscard]] MethodTable make_methods();
  [[nodiscard]] MethodTable core_methods();
  void add_library_methods(MethodTable& methods);
  void add_task_methods(MethodTable& methods);
  [[nodiscard]] const Method* find_method(std::string_view name) const;
  void log(Level level, const std::string& text) const;

  const Identity identity_;
  const Catalogue catalogue_;
  const Limits limits_;
  const Log log_;
  std::map<Revision, std::string> listings_{};
  std::map<Key, InFlight> in_flight_{};
  std::size_t pending_bytes_ = 0;
  const MethodTable methods_;
  LibraryCalls library_;
  TaskCalls tasks_;
  Subscriptions subscriptions_;
  ToolCalls calls_;  // last: its threads use everything above
};

}  // namespace assay::mcp
