// `assay serve`: the MCP server, on standard input and output, over HTTP, or both at once on the
// same jobs. On stdio it ends when its input ends and everything accepted has been answered;
// otherwise on SIGTERM and SIGINT.
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>

#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/http_options.h"
#include "cli/log.h"
#include "cli/termination_signals.h"
#include "engine/confinement/isolation.h"
#include "engine/posix/descriptor.h"
#include "mcp/conformance/fixtures.h"
#include "mcp/http/http_server.h"
#include "mcp/server.h"
#include "rest/rest.h"
#include "tools/guides.h"
#include "tools/job_answer.h"
#include "tools/job_resources.h"
#include "tools/prompts.h"
#include "tools/tools.h"

namespace assay::cli {
namespace {

struct ServeOptions {
  AssemblyOptions assembly{};
  HttpOptions http{};
  bool stdio = false;
  bool conformance_fixtures = false;
  bool allow_commands = false;
  std::string tools = "all";
  std::string log_level = "warning";
};

void log_mcp(mcp::Level level, std::string_view text) {
  switch (level) {
    case mcp::Level::debug:
      return spdlog::debug("{}", text);
    case mcp::Level::info:
      return spdlog::info("{}", text);
    case mcp::Level::warning:
      return spdlog::warn("{}", text);
    case mcp::Level::error:
      return spdlog::error("{}", text);
  }
}

mcp::ServerConfig server_config(Assembly& assembly, const ServeOptions& options,
                                tools::Commands commands) {
  mcp::ServerConfig config{
      .version = ASSAY_VERSION,
      .instructions = tools::instructions(),
      .tools = options.tools == "kernel"
                   ? tools::kernel_tools(assembly.jobs(), &assembly.library())
                   : tools::all(assembly.jobs(), &assembly.library(), commands),
      .resources = tools::with_guides(tools::job_resources(assembly.jobs())),
      .prompts = tools::prompts(assembly.jobs()),
      .tasks = tools::job_tasks(assembly.jobs()),
      .log = log_mcp};
  if (options.conformance_fixtures) mcp::conformance::add_fixtures(config);
  return config;
}

// A server over HTTP on a thread of its own, until it is stopped.
class HttpService {
 public:
  HttpService(mcp::ServerConfig config, const mcp::http::HttpConfig& http,
              const std::stop_token& stop)
      : stopped_(stop, [this] { end_.request_stop(); }), server_(std::move(config), http) {
    // Not a log line: whoever asked for any free port has to learn which one it is.
    const bool v6 = http.address.find(':') != std::string::npos;
    std::cerr << "assay: " << (http.tls ? "https" : "http") << "://"
              << (v6 ? '[' + http.address + ']' : http.address) << ':' << server_.port() << "/mcp"
              << std::endl;
    thread_ = std::thread([this] { outcome_ = server_.run(end_.get_token()); });
  }
  ~HttpService() {
    end_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  HttpService(const HttpService&) = delete;
  HttpService& operator=(const HttpService&) = delete;

  // After the stop.
  [[nodiscard]] mcp::Outcome wait() {
    thread_.join();
    return outcome_;
  }

 private:
  std::stop_source end_{};
  std::stop_callback<std::function<void()>> stopped_;
  mcp::http::HttpServer server_;
  mcp::Outcome outcome_{};
  std::thread thread_{};
};

int serve(const ServeOptions& options, const std::optional<mcp::http::HttpConfig>& http,
          std::optional<mcp::StdioStreams> streams) {
  confinement::harden_supervisor();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ,
           SIG_IGN);  // a file size limit is an error of write(), answered as a full disk is
  const TerminationSignals signals;
  std::stop_source end;
  const std::stop_callback terminated(signals.token(), [&end] { end.request_stop(); });
  Assembly assembly(options.assembly);
  std::optional<HttpService> service;
  if (http) {
    auto with_site = *http;
    with_site.site = rest::site(assembly.jobs(), &assembly.library());
    service.emplace(
        server_config(assembly, options,
                      options.allow_commands ? tools::Commands::allowed : tools::Commands::refused),
        with_site, end.get_token());
  }
  // After the line that says where: that one is looked for.
  if (const std::string overlap = assembly.overlap(); !overlap.empty()) spdlog::warn("{}", overlap);
  std::size_t abandoned_calls = 0;
  if (streams) {
    mcp::StdioServer server(server_config(assembly, options, tools::Commands::allowed),
                            std::move(*streams));
    abandoned_calls += server.run(end.get_token()).abandoned_calls;
    end.request_stop();  // who started us on stdio has gone, or wants us to
  }
  if (service) abandoned_calls += service->wait().abandoned_calls;
  // A tool that ignored its stop still uses what this function owns: end without destroying it.
  if (abandoned_calls > 0) std::_Exit(1);
  return kOk;
}

int run_serve(const ServeOptions& options) {
  if (!install_log(options.log_level)) {
    spdlog::error("unknown log level '{}'", options.log_level);
    return kUsage;
  }
  std::optional<mcp::http::HttpConfig> http;
  try {
    if (options.http.wanted) http = http_config(options.http);
  } catch (const std::invalid_argument& fault) {
    spdlog::error("{}", fault.what());
    return kUsage;
  }
  std::optional<mcp::StdioStreams> streams;
  if (options.stdio || !http) streams = mcp::StdioStreams::take();
  return serve(options, http, std::move(streams));
}

}  // namespace

void add_serve(CLI::App& app, int& code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve MCP on standard input and output, over HTTP, or both");
  command->add_flag("--stdio", options->stdio, "Standard input and output (the default)");
  add_http_options(*command, options->http);
  command->add_option("--log-level", options->log_level,
                      "trace, debug, info, warning, error, critical or off; to standard error");
  command->add_flag("--conformance-fixtures", options->conformance_fixtures,
                    "Also offer what the official MCP conformance suite expects");
  command->add_flag(
      "--allow-commands", options->allow_commands,
      "Let clients over HTTP start plans, generators, builds and scenarios, which run "
      "commands as this user");
  command
      ->add_option("--tools", options->tools,
                   "kernel: without the tools for plans, generators, commits and scenarios")
      ->check(CLI::IsMember({"all", "kernel"}))
      ->capture_default_str();
  add_source_root_option(*command, options->assembly);
  add_cleanup_options(*command, options->assembly);
  add_python_option(*command, options->assembly);
  add_assembly_options(*command, options->assembly);
  command->callback([options, &code] { code = run_serve(*options); });
}

}  // namespace assay::cli
