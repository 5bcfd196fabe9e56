// A JSON-RPC message as a value, in both directions. No behaviour, no bytes: those are the codec's.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mcp/json.h"

namespace assay::mcp {

// An id is echoed with its type: 7 and "7" are two requests.
struct RequestId {
  std::variant<std::int64_t, std::string> value{};
  auto operator<=>(const RequestId&) const = default;
};

[[nodiscard]] std::string text(const RequestId& id);
[[nodiscard]] OrderedJson to_json(const RequestId& id);
// Strings and integers within 64 bits; nothing else is an id.
[[nodiscard]] std::optional<RequestId> request_id_from(const Json& value);

enum class ErrorCode {
  parse_error = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal_error = -32603,
  header_mismatch = -32020,
  missing_client_capability = -32021,
  unsupported_protocol_version = -32022,
  // Of the transport, where a revision names none: the older SDKs' codes.
  refused_by_transport = -32000,
  session_not_found = -32001,
  // Up to 2025-11-25; later a bad parameter like any other.
  resource_not_found = -32002,
};

struct RpcError {
  ErrorCode code = ErrorCode::internal_error;
  std::string message{};
  OrderedJson data = nullptr;  // null: no data member
};

struct Request {
  RequestId id{};
  std::string method{};
  Json params = Json::object();
};

struct Notification {
  std::string method{};
  Json params = Json::object();
};

// An answer from the client to something we asked.
struct Response {
  std::optional<RequestId> id{};
  Json result = nullptr;
  bool error = false;
};

// What is no message. It is answered with `error` under `id`, or under id null if none was
// readable.
struct Invalid {
  std::optional<RequestId> id{};
  RpcError error{};
  // True: it was a notification, and those are never answered.
  bool notification = false;
};

// Several messages on one line. One revision has them; the others answer with an error.
struct Batch {
  std::vector<std::variant<Request, Notification, Response, Invalid>> members{};
};

using Message = std::variant<Request, Notification, Response, Invalid, Batch>;

}  // namespace assay::mcp
