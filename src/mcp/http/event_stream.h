// Server-sent events, as text, and streams of them.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/http/http_message.h"
#include "mcp/http/responder.h"

namespace assay::mcp::http {

// The fields of an answer that is a stream.
[[nodiscard]] Fields event_stream_fields();
// REQUIRES: `data` holds no line break; encoded JSON does not. Without an id a stream cannot be
// taken up again after this event.
[[nodiscard]] std::string event(std::string_view name, std::string_view data,
                                std::string_view id = {});
// Says nothing, but where the stream begins and when to come back should it break. Clients of
// revisions before 2025-11-25 take its empty data for a broken message.
[[nodiscard]] std::string priming_event(std::string_view id, std::chrono::milliseconds retry);
// Opens a stream with these events, as texts. The first bytes go at once, even if there are none.
void begin_stream(Responder& responder, const std::vector<std::string>& events);
// A line that clients skip: it keeps what is between them and us from closing a silent connection.
[[nodiscard]] std::string keep_alive_comment();

}  // namespace assay::mcp::http
