// The MCP server over HTTP: a configuration, a port, and one blocking run().
//
//   mcp::http::HttpServer server(server_config, {.port = 8000});   // listens from here on
//   mcp::Outcome outcome = server.run(stop_token);
//
//   /mcp, /mcp/        Streamable HTTP             mcp_endpoint.h
//   /sse, /messages    HTTP+SSE                    sse_endpoint.h
//   the site's own paths                           site.h
//   anything else      404
//
// Threads: one at a time is the event thread and owns all protocol state, at first the one that
// calls run() (io_loop.h); the others are the pools of tool threads. All have ended before run()
// returns, except abandoned ones.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "mcp/http/http_config.h"
#include "mcp/server.h"

namespace assay::mcp::http {

class HttpServer {
 public:
  // Throws std::system_error when the address cannot be listened on, and std::invalid_argument as
  // StdioServer does, or for TLS files that cannot be used.
  HttpServer(ServerConfig config, HttpConfig http);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // The one it listens on.
  [[nodiscard]] std::uint16_t port() const;

  // Serves until `stop` is requested. Call it once.
  [[nodiscard]] Outcome run(const std::stop_token& stop);

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with tool threads that were given up
};

}  // namespace assay::mcp::http
