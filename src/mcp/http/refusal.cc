#include "mcp/http/refusal.h"

#include "mcp/codec.h"

namespace assay::mcp::http {

HttpAnswer answer_of(const Refusal& refusal) {
  return {.status = refusal.status,
          .content_type = "application/json",
          .body = encode_error(refusal.id, refusal.error)};
}

Refusal method_not_allowed(const char* allowed) {
  return {.status = 405,
          .error = {.code = ErrorCode::refused_by_transport,
                    .message = std::string("method not allowed here; allowed: ") + allowed}};
}

int status_of(Era era, std::optional<ErrorCode> error) {
  if (!error || era == Era::legacy) return 200;
  switch (*error) {
    case ErrorCode::parse_error:
    case ErrorCode::invalid_request:
    case ErrorCode::unsupported_protocol_version:
    case ErrorCode::header_mismatch:
    case ErrorCode::missing_client_capability:
      return 400;
    case ErrorCode::method_not_found:
      return 404;
    default:
      return 200;
  }
}

}  // namespace assay::mcp::http
