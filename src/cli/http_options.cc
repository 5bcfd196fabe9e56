#include "cli/http_options.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <stdexcept>

namespace assay::cli {
namespace {

// Shorter ones can be guessed by asking.
constexpr std::size_t kMinTokenChars = 16;

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (fault != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("\"" + std::string(text) + "\" is no port");
  return port;
}

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool only_this_machine(const std::string& host) {
  return host.starts_with("127.") || host == "::1";
}

}  // namespace

void add_http_options(CLI::App& command, HttpOptions& options) {
  command
      .add_option_function<std::vector<std::string>>(
          "--http",
          [&options](const std::vector<std::string>& words) {
            options.wanted = true;
            // What the parser passes for an option without its word.
            if (!words.empty() && !words.front().empty() && words.front() != "{}")
              options.listen = words.front();
          },
          "Serve MCP over HTTP at [HOST:]PORT (default 127.0.0.1:8000), path /mcp")
      ->expected(0, 1)
      ->type_name("[[HOST:]PORT]");
  command.add_option("--token-file", options.token_file,
                     "HTTP clients must show one of the tokens in this file (one a line)");
  command.add_flag("--allow-unauthenticated", options.allow_unauthenticated,
                   "Let other machines in without a token");
  command.add_option("--allow-host", options.hosts,
                     "Another name by which HTTP clients call this server; *: any");
  command.add_option("--allow-origin", options.origins,
                     "Another origin whose pages may speak to this server; *: any");
  command.add_option("--tls-cert", options.tls_certificate,
                     "Speak HTTPS with the certificate (and its chain) in this PEM file");
  command.add_option("--tls-key", options.tls_key, "The certificate's key, in PEM");
}

ListenAddress parse_listen_address(const std::string& text) {
  ListenAddress address;
  std::string_view rest = text;
  if (is_number(rest)) {
    address.port = parse_port(rest);
    return address;
  }
  std::string_view host = rest;
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(']');
    if (end == std::string_view::npos)
      throw std::invalid_argument("\"" + text + "\" is no address");
    host = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
  } else {
    host = rest.substr(0, rest.find(':'));
    rest.remove_prefix(host.size());
  }
  if (!rest.empty()) {
    if (!rest.starts_with(':')) throw std::invalid_argument("\"" + text + "\" is no address");
    address.port = parse_port(rest.substr(1));
  }
  if (!host.empty() && host != "localhost") address.host = std::string(host);
  return address;
}

std::vector<std::string> read_tokens(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("cannot read the token file " + path);
  std::vector<std::string> tokens;
  for (std::string line; std::getline(file, line);) {
    if (line.ends_with('\r')) line.pop_back();
    // A header's value has no blanks around it.
    line = mcp::http::trimmed(line);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.size() < kMinTokenChars)
      throw std::invalid_argument("the token file " + path + " holds a token of less than " +
                                  std::to_string(kMinTokenChars) + " characters");
    tokens.push_back(std::move(line));
  }
  if (tokens.empty()) throw std::invalid_argument("the token file " + path + " holds no token");
  return tokens;
}

mcp::http::HttpConfig http_config(const HttpOptions& options) {
  const ListenAddress address = parse_listen_address(options.listen);
  mcp::http::HttpConfig config{.address = address.host, .port = address.port};
  if (!options.token_file.empty()) config.access.tokens = read_tokens(options.token_file);
  if (options.tls_certificate.empty() != options.tls_key.empty())
    throw std::invalid_argument("--tls-cert and --tls-key are given together");
  if (!options.tls_key.empty()) {
    config.tls = {.certificate = options.tls_certificate, .key = options.tls_key};
    mcp::http::require_usable(*config.tls);
  }
  config.access.hosts = options.hosts;
  config.access.origins = options.origins;
  if (only_this_machine(address.host)) return config;
  if (config.access.tokens.empty() && !options.allow_unauthenticated)
    throw std::invalid_argument("other machines can reach " + address.host +
                                ": give a --token-file, or --allow-unauthenticated");
  // The address itself is a name; where it stands for all of them, a name must be given.
  const bool every_address = address.host == "0.0.0.0" || address.host == "::";
  if (!every_address)
    config.access.hosts.push_back(
        address.host.find(':') == std::string::npos ? address.host : '[' + address.host + ']');
  return config;
}

}  // namespace assay::cli
