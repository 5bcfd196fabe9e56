// What the port serves besides MCP, if anything: whole answers to whole requests, made by whoever
// owns the server. The room knows nothing of what they mean.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "mcp/http/http_message.h"

namespace assay::mcp::http {

struct Visit {
  HttpRequest request{};
  // As Access names it; "" for a visitor of a public path who has shown no token.
  std::string principal{};
  // The visitor has gone, or the server ends: nobody will read the answer.
  std::stop_token stop{};
  // As of a CallContext (mcp/tool.h).
  std::chrono::steady_clock::time_point arrived = std::chrono::steady_clock::now();
  std::function<std::shared_ptr<void>()> step_aside{};
};

struct Site {
  // The path is one of this site's. Event thread: must not block. Empty: there is no site.
  std::function<bool(const HttpRequest& request)> serves{};
  // Shown to whoever asks, token or not. As above.
  std::function<bool(const HttpRequest& request)> is_public{};
  // Runs on a pool thread, concurrently with itself; may block. What it throws is answered by 500.
  std::function<HttpAnswer(const Visit& visit)> answer{};
  // A refusal of ours in the site's own form: no access, too busy, a fault.
  std::function<HttpAnswer(int status, const std::string& why)> refusal{};
};

}  // namespace assay::mcp::http
