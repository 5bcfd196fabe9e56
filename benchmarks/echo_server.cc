// One tool that says what it was told, over HTTP on a free port, printed first: what the protocol
// layer costs when the tool costs nothing. Its counterpart is echo_server.mjs.
#include <cstdio>
#include <stop_token>

#include "mcp/http/http_server.h"

int main() {
  using namespace assay::mcp;
  const Tool echo{.name = "echo",
                  .description = "Says what it is told",
                  .input_schema = {{"type", "object"},
                                   {"properties", {{"text", {{"type", "string"}}}}},
                                   {"required", {"text"}}},
                  .run = [](const Json& arguments, CallContext&) {
                    return ToolResult{.text = arguments.at("text").get<std::string>()};
                  }};
  http::HttpServer server({.version = "0", .tools = {echo}}, {.port = 0});
  std::printf("%u\n", static_cast<unsigned>(server.port()));
  std::fflush(stdout);
  const std::stop_source never;
  (void)server.run(never.get_token());
  return 0;
}
