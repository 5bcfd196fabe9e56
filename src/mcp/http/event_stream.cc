#include "mcp/http/event_stream.h"

namespace assay::mcp::http {

Fields event_stream_fields() {
  return {{"Content-Type", "text/event-stream"},
          {"Cache-Control", "no-cache, no-transform"},
          {"X-Accel-Buffering", "no"}};
}

std::string event(std::string_view name, std::string_view data) {
  std::string text;
  text.reserve(name.size() + data.size() + 17);
  return text.append("event: ").append(name).append("\ndata: ").append(data).append("\n\n");
}

std::string keep_alive_comment() { return ":\n\n"; }

}  // namespace assay::mcp::http
