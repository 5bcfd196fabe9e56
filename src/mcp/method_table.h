// One table says which methods exist: name, eras, whether a session is needed, and the handler,
// whose type says whether the method is a request or a notification. Built once by its owner; no
// static registration. Handlers run on the event thread and must not block.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mcp/binder.h"
#include "mcp/lifecycle.h"
#include "mcp/message.h"
#include "mcp/peer.h"
#include "mcp/reply.h"

namespace assay::mcp {

// What a handler may know of the request besides its parameters.
struct Call {
  Client client{};
  Peer* peer = nullptr;
  std::optional<ProgressToken> progress_token{};
  std::stop_token stop{};
  // The least severe log message the client wants; nothing: none.
  std::optional<LogLevel> log_level{};
  // A later round of a call that needed something.
  Json input_responses = Json::object();
  std::string request_state{};
};

using RequestHandler = std::function<void(const Call& call, Json params, Reply reply)>;
using NotificationHandler = std::function<void(Peer& peer, Json params)>;

enum class Eras { legacy, modern, both };

struct Method {
  std::string_view name{};
  Eras eras = Eras::both;
  // In the legacy era: only after `initialize`.
  bool needs_session = false;
  std::variant<RequestHandler, NotificationHandler> handler{};

  [[nodiscard]] bool exists_in(Era era) const {
    return eras == Eras::both || (eras == Eras::modern) == (era == Era::modern);
  }
};

using MethodTable = std::vector<Method>;

// A handler of typed parameters as a handler of JSON: bad parameters are answered with -32602.
template <class Params, class Handler>
RequestHandler bind_request(Handler handler) {
  return [handler](const Call& call, Json params, Reply reply) {
    auto read = read_params<Params>(std::move(params));
    if (auto* error = std::get_if<RpcError>(&read)) return reply.error(*error);
    handler(call, std::move(std::get<Params>(read)), std::move(reply));
  };
}

// A notification with bad parameters is ignored: there is nobody to tell.
template <class Params, class Handler>
NotificationHandler bind_notification(Handler handler) {
  return [handler](Peer& peer, Json params) {
    auto read = read_params<Params>(std::move(params));
    if (auto* bound = std::get_if<Params>(&read)) handler(peer, std::move(*bound));
  };
}

}  // namespace assay::mcp
