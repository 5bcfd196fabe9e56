// What a client wants to read in its configuration file so that it finds this server: each client's
// own format, on stdio or by URL. Pure.
#pragma once

#include <string>
#include <vector>

namespace assay::cli {

struct ServerEntry {
  std::string name = "assay";
  // On stdio: the program and its arguments.
  std::string command{};
  std::vector<std::string> arguments{};
  // Over HTTP, if not empty: then the two above mean nothing.
  std::string url{};
  // The environment variable that holds the token; "" for a server that wants none. A token itself
  // has no place in a file that is shared.
  std::string token_variable{};
};

// The names that client_config() knows, in the order in which help lists them.
[[nodiscard]] std::vector<std::string> known_clients();

// Whether the client's file can name a server over HTTP.
[[nodiscard]] bool takes_url(const std::string& client);

// The text of the file, and which file that is. REQUIRES: `client` is one of known_clients().
struct ClientConfig {
  std::string file{};
  std::string text{};
};
[[nodiscard]] ClientConfig client_config(const std::string& client, const ServerEntry& server);

}  // namespace assay::cli
