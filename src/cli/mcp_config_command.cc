// `assay mcp-config CLIENT`: prints what a client's configuration file needs; which file that is
// goes to standard error, so that the output can be redirected into it. Exit 0, or 2 for an unknown
// client, 70 if the output could not be written.
#include <iostream>
#include <memory>

#include "cli/client_config.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"

namespace assay::cli {
namespace {

// The server's address alone means its MCP endpoint; a path is the user's own.
std::string endpoint_of(std::string url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return url;
  const std::size_t path = url.find_first_of("/?#", scheme + 3);
  if (path == std::string::npos) return url + "/mcp";
  return path + 1 == url.size() && url.back() == '/' ? url + "mcp" : url;
}

// Empty: it is the URL of a server.
std::string fault_of(const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://"})
    if (url.starts_with(scheme) && url.find_first_of("/?#", scheme.size()) != scheme.size() &&
        url.size() > scheme.size() && url.find_first_of(" \t\r\n") == std::string::npos)
      return {};
  return "http://HOST:PORT or https://HOST:PORT, not \"" + url + '"';
}

}  // namespace

void add_mcp_config(CLI::App& app, int& code) {
  struct Options {
    std::string client{};
    ServerEntry server{};
    std::vector<std::string> serve{};
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("mcp-config", "Print the configuration that an MCP client needs");
  command->add_option("client", options->client, "Which client")
      ->required()
      ->check(CLI::IsMember(known_clients()));
  CLI::Option* url = command
                         ->add_option("--url", options->server.url,
                                      "A server over HTTP, for example http://127.0.0.1:8000 (its "
                                      "/mcp is meant); default: one "
                                      "that the client starts itself")
                         ->check(CLI::Validator(fault_of, "URL"));
  command
      ->add_option("--token-variable", options->server.token_variable,
                   "The environment variable in which the client finds the token")
      ->needs(url);
  command->add_option("--name", options->server.name, "What the client is to call the server")
      ->check(CLI::Validator(
          [](const std::string& name) {
            return name.empty() ||
                           name.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != std::string::npos
                       ? std::string("letters, digits, _ and - only")
                       : std::string();
          },
          "NAME"));
  command->add_option("serve", options->serve, "After --: further arguments of `assay serve`")
      ->excludes(url);
  command->callback([options, &code] {
    if (!options->server.url.empty() && !takes_url(options->client))
      throw CLI::ValidationError(
          "--url", options->client +
                       "'s file knows only servers that it starts itself; name this one under "
                       "Settings, Connectors");
    options->server.url = endpoint_of(std::move(options->server.url));
    options->server.command = (executable_folder() / "assay").string();
    options->server.arguments = {"serve", "--stdio"};
    options->server.arguments.insert(options->server.arguments.end(), options->serve.begin(),
                                     options->serve.end());
    const ClientConfig config = client_config(options->client, options->server);
    std::cerr << config.file << ":\n";
    std::cout << config.text << std::flush;
    code = std::cout ? kOk : kInternalFault;
    if (!std::cout) std::cerr << "the configuration could not be written to standard output\n";
  });
}

}  // namespace assay::cli
