// What `assay serve --http` is told on the command line, made into a configuration of the server.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "mcp/http/http_config.h"

namespace assay::cli {

struct HttpOptions {
  bool wanted = false;
  std::string listen = "127.0.0.1:8000";
  std::string token_file{};
  bool allow_unauthenticated = false;
  std::vector<std::string> hosts{};
  std::vector<std::string> origins{};
  std::string tls_certificate{};
  std::string tls_key{};
};

// Declares --http, --token-file, --allow-unauthenticated, --allow-host, --allow-origin,
// --tls-cert, --tls-key.
void add_http_options(CLI::App& command, HttpOptions& options);

// Throws std::invalid_argument, in words for the command line, for an address that is none, a token
// file or a certificate that cannot be used, and an address that others can reach without a token.
[[nodiscard]] mcp::http::HttpConfig http_config(const HttpOptions& options);

// One token a line; blank lines and lines that begin with # are nothing. Throws
// std::invalid_argument as http_config() does.
[[nodiscard]] std::vector<std::string> read_tokens(const std::string& path);

// "HOST:PORT", "HOST", "PORT", ":PORT", "[ADDRESS]:PORT".
struct ListenAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8000;
};
[[nodiscard]] ListenAddress parse_listen_address(const std::string& text);

}  // namespace assay::cli
