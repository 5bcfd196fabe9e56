// Server-sent events, as text.
#pragma once

#include <string>
#include <string_view>

#include "mcp/http/http_message.h"

namespace assay::mcp::http {

// The fields of an answer that is a stream.
[[nodiscard]] Fields event_stream_fields();
// REQUIRES: `data` holds no line break; encoded JSON does not.
[[nodiscard]] std::string event(std::string_view name, std::string_view data);
// A line that clients skip: it keeps what is between them and us from closing a silent connection.
[[nodiscard]] std::string keep_alive_comment();

}  // namespace assay::mcp::http
