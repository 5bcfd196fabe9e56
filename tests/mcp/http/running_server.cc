#include "tests/mcp/http/running_server.h"

#include <chrono>

namespace assay::mcp::http {

std::string call_text(const std::string& tool, const Json& arguments, const Json& more) {
  Json params = {{"name", tool}, {"arguments", arguments}};
  params.update(more);
  const HttpRequest request = modern("tools/call", params);
  return post_text(
      "/mcp", request.body,
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: " + tool + "\r\n");
}

std::string list_text() {
  return post_text("/mcp/", modern("tools/list").body,
                   "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n");
}

bool soon(const std::function<bool()>& happened) {
  for (int i = 0; i < 2000; ++i) {
    if (happened()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

std::string said(const WireAnswer& answer) {
  return Json::parse(answer.body)["result"]["structuredContent"]["said"].get<std::string>();
}

}  // namespace assay::mcp::http
