// Why a message was not taken up: a JSON-RPC error with the HTTP status it travels under. The
// second half of the table is here too: the status of an error that a handler answers.
#pragma once

#include <optional>
#include <string>

#include "mcp/http/http_message.h"
#include "mcp/message.h"
#include "mcp/revision.h"

namespace assay::mcp::http {

struct Refusal {
  int status = 400;
  std::optional<RequestId> id{};
  RpcError error{};
};

[[nodiscard]] HttpAnswer answer_of(const Refusal& refusal);
[[nodiscard]] Refusal method_not_allowed(const char* allowed);

// The status of an answer. In the modern era what names a missing method or a bad request is not
// 200; in the legacy era the transport delivered the message, and that is what 200 says.
[[nodiscard]] int status_of(Era era, std::optional<ErrorCode> error);

}  // namespace assay::mcp::http
