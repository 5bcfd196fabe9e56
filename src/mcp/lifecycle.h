// Everything in which one protocol revision differs from another, and nothing else. The era of a
// request is decided by that request alone and never pinned: `params._meta` that names a protocol
// version makes it modern; any other request is legacy and lives by the session's last
// `initialize`. Pure functions of their arguments.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "mcp/catalogue.h"
#include "mcp/message.h"
#include "mcp/peer.h"
#include "mcp/task.h"
#include "mcp/tool.h"

namespace assay::mcp {

// What a server has besides tools.
struct Offers {
  bool resources = false;
  bool prompts = false;
  bool completions = false;
  bool logging = false;
  bool tasks = false;
  bool subscriptions = false;  // legacy: to the contents of a resource
};

// Who this server says it is.
struct Identity {
  std::string name{};
  std::string title{};
  std::string version{};
  std::string instructions{};
  Offers offers{};
};

// How long a client may keep a result, and whether for everybody.
struct Freshness {
  int ttl_ms = 0;
  const char* scope = "private";
};

[[nodiscard]] Era era_of(const Json& params);

// The modern client that the envelope describes; -32602 for a bad envelope, -32022 for a revision
// that is not modern or not known.
[[nodiscard]] std::variant<Client, RpcError> modern_client(const Json& params);

// The legacy client that an `initialize` request describes, with the revision to be spoken.
[[nodiscard]] Client negotiate(const std::string& requested_revision, const Json& capabilities,
                               const Json& client_info);

// Methods that exist in one era only say so when they are met in the other.
[[nodiscard]] RpcError wrong_era(std::string_view method, Era met_in, bool in_session);
[[nodiscard]] RpcError not_initialized();

// A request's progress token: absent, a string or an integer.
using ProgressToken = RequestId;

// Results. Each is the complete `result` member for a client that speaks `revision`.
// With the members that this revision adds to every result, and to every one that may be kept.
[[nodiscard]] OrderedJson complete_result(OrderedJson result, const Identity& identity,
                                          Revision revision);
[[nodiscard]] OrderedJson cacheable_result(OrderedJson result, const Identity& identity,
                                           Revision revision, Freshness freshness);
// The client has to answer something first. A legacy client cannot be told.
[[nodiscard]] OrderedJson input_required_result(const OrderedJson& requests,
                                                const std::string& state, const Identity& identity,
                                                Revision revision);
// The first of `needs` that the client has not declared, as the error that says so.
[[nodiscard]] std::optional<RpcError> missing_capability(const OrderedJson& needs,
                                                         const Client& client);
// The client has declared the tasks extension with this request; else the error that says so.
[[nodiscard]] std::optional<RpcError> missing_tasks(const Client& client);
// A task with what it has come to, as a result and as a notification.
[[nodiscard]] OrderedJson task_members(const Identity& identity, const TaskState& task,
                                       Revision revision);
[[nodiscard]] OrderedJson task_result(const Identity& identity, const TaskState& task,
                                      Revision revision);
[[nodiscard]] OrderedJson initialize_result(const Identity& identity, Revision revision);
[[nodiscard]] OrderedJson discover_result(const Identity& identity);
[[nodiscard]] OrderedJson tools_result(const Identity& identity, const Catalogue& catalogue,
                                       Revision revision);
[[nodiscard]] OrderedJson call_result(const Identity& identity, const ToolResult& result,
                                      Revision revision);
[[nodiscard]] OrderedJson progress_params(const ProgressToken& token, const Progress& progress,
                                          Revision revision);

}  // namespace assay::mcp
