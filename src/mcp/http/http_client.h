// One request to an HTTP server, and its whole answer: for a command that uses a server which is
// running already. Blocking; any thread. Every failure is an exception, every answer is not.
#pragma once

#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "mcp/http/http_message.h"

namespace assay::mcp::http {

// "http://host:port/path" or "https://…".
struct Url {
  bool is_tls = false;
  std::string host{};
  std::string port{};  // 80 or 443 if the text says none
  std::string path = "/";
  // In PEM, of whoever vouches for the server; empty: those that this machine trusts.
  std::string ca_file{};
};
// Throws std::invalid_argument for what is none, and for other schemes. `ca_file` stays empty.
[[nodiscard]] Url parse_url(const std::string& text);

struct Unreachable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Host, Content-Type and Content-Length are added to `fields`. Throws std::invalid_argument for a
// CA file that cannot be used, Unreachable if the server does not prove to be `url.host` or there
// is no whole answer within `patience`, or `stop` ends the wait: the connection is closed then,
// which the server takes as a cancel.
[[nodiscard]] HttpAnswer post(const Url& url, const Fields& fields, const std::string& body,
                              std::chrono::seconds patience, const std::stop_token& stop);

}  // namespace assay::mcp::http
