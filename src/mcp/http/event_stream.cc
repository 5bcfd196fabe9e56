#include "mcp/http/event_stream.h"

namespace assay::mcp::http {

Fields event_stream_fields() {
  return {{"Content-Type", "text/event-stream"},
          {"Cache-Control", "no-cache, no-transform"},
          {"X-Accel-Buffering", "no"}};
}

std::string event(std::string_view name, std::string_view data, std::string_view id) {
  std::string text;
  text.reserve(name.size() + id.size() + data.size() + 22);
  text.append("event: ").append(name);
  if (!id.empty()) text.append("\nid: ").append(id);
  return text.append("\ndata: ").append(data).append("\n\n");
}

std::string priming_event(std::string_view id, std::chrono::milliseconds retry) {
  std::string text("id: ");
  text.append(id).append("\nretry: ").append(std::to_string(retry.count()));
  return text.append("\ndata: \n\n");
}

void begin_stream(Responder& responder, const std::vector<std::string>& events) {
  responder.open_stream(event_stream_fields());
  responder.write(keep_alive_comment());
  for (const std::string& text : events) responder.write(text);
}

std::string keep_alive_comment() { return ":\n\n"; }

}  // namespace assay::mcp::http
