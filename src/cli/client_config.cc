#include "cli/client_config.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace assay::cli {
namespace {

using Json = nlohmann::ordered_json;

Json headers(const std::string& reference) { return {{"Authorization", "Bearer " + reference}}; }

// command and args, or what `remote` makes of the URL.
Json plain_entry(const ServerEntry& server, const char* url_member, const char* type,
                 const std::string& token_reference) {
  if (server.url.empty()) return {{"command", server.command}, {"args", server.arguments}};
  Json entry = Json::object();
  if (type != nullptr) entry["type"] = type;
  entry[url_member] = server.url;
  if (!server.token_variable.empty()) entry["headers"] = headers(token_reference);
  return entry;
}

std::string under(const char* section, const ServerEntry& server, const Json& entry) {
  return Json{{section, {{server.name, entry}}}}.dump(2) + '\n';
}

std::string claude(const ServerEntry& server) {
  return under("mcpServers", server,
               plain_entry(server, "url", "http", "${" + server.token_variable + "}"));
}

std::string cursor(const ServerEntry& server) {
  return under("mcpServers", server,
               plain_entry(server, "url", nullptr, "${env:" + server.token_variable + "}"));
}

std::string gemini(const ServerEntry& server) {
  return under("mcpServers", server,
               plain_entry(server, "httpUrl", nullptr, "$" + server.token_variable));
}

std::string vscode(const ServerEntry& server) {
  Json entry = plain_entry(server, "url", "http", "${env:" + server.token_variable + "}");
  if (server.url.empty()) entry["type"] = "stdio";
  return under("servers", server, entry);
}

std::string opencode(const ServerEntry& server) {
  Json entry = {{"type", server.url.empty() ? "local" : "remote"}, {"enabled", true}};
  if (server.url.empty()) {
    entry["command"] = Json::array({server.command});
    for (const std::string& argument : server.arguments) entry["command"].push_back(argument);
  } else {
    entry["url"] = server.url;
    if (!server.token_variable.empty())
      entry["headers"] = headers("{env:" + server.token_variable + "}");
  }
  return under("mcp", server, entry);
}

// TOML's basic strings are JSON's.
std::string codex(const ServerEntry& server) {
  const auto quoted = [](const std::string& text) { return Json(text).dump(); };
  std::string text = "[mcp_servers." + server.name + "]\n";
  if (server.url.empty()) {
    text += "command = " + quoted(server.command) + "\nargs = [";
    for (std::size_t i = 0; i < server.arguments.size(); ++i)
      text += (i > 0 ? ", " : "") + quoted(server.arguments[i]);
    return text + "]\n";
  }
  text += "url = " + quoted(server.url) + '\n';
  if (!server.token_variable.empty())
    text += "bearer_token_env_var = " + quoted(server.token_variable) + '\n';
  return text;
}

struct Client {
  const char* name;
  const char* file;
  std::string (*write)(const ServerEntry& server);
  bool takes_url = true;  // false: the file knows only servers that the client starts itself
};
constexpr std::array<Client, 7> kClients{
    {{"claude", ".mcp.json", claude},
     {"claude-desktop", "claude_desktop_config.json", claude, false},
     {"codex", "~/.codex/config.toml", codex},
     {"cursor", ".cursor/mcp.json", cursor},
     {"gemini", "~/.gemini/settings.json", gemini},
     {"opencode", "opencode.json", opencode},
     {"vscode", ".vscode/mcp.json", vscode}}};

}  // namespace

std::vector<std::string> known_clients() {
  std::vector<std::string> names;
  for (const Client& client : kClients) names.emplace_back(client.name);
  return names;
}

bool takes_url(const std::string& client) {
  return std::any_of(kClients.begin(), kClients.end(),
                     [&client](const Client& one) { return client == one.name && one.takes_url; });
}

ClientConfig client_config(const std::string& client, const ServerEntry& server) {
  for (const Client& one : kClients)
    if (client == one.name) return {.file = one.file, .text = one.write(server)};
  throw std::invalid_argument("unknown client " + client);
}

}  // namespace assay::cli
