// `assay serve`: the MCP server. Standard input and output are the protocol; it ends when its input
// ends and everything accepted has been answered, or on SIGTERM and SIGINT.
#include <signal.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/log.h"
#include "cli/termination_signals.h"
#include "engine/confinement/isolation.h"
#include "mcp/server.h"
#include "tools/tools.h"

namespace assay::cli {
namespace {

struct ServeOptions {
  AssemblyOptions assembly{};
  bool stdio = false;
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

int run_serve(const ServeOptions& options) {
  if (!install_log(options.log_level)) {
    spdlog::error("unknown log level '{}'", options.log_level);
    return 2;
  }
  auto streams = mcp::StdioStreams::take();
  confinement::harden_supervisor();
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ,
           SIG_IGN);  // a file size limit is an error of write(), answered as a full disk is
  const TerminationSignals signals;
  Assembly assembly(options.assembly);
  mcp::StdioServer server({.version = ASSAY_VERSION,
                           .instructions = tools::instructions(),
                           .tools = tools::all(assembly.jobs(), &assembly.library()),
                           .log = log_mcp},
                          std::move(streams));
  const mcp::Outcome outcome = server.run(signals.token());
  // A tool that ignored its stop still uses what this function owns: end without destroying it.
  if (outcome.abandoned_calls > 0) std::_Exit(1);
  return 0;
}

}  // namespace

void add_serve(CLI::App& app, int& code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Serve MCP on standard input and output");
  command->add_flag("--stdio", options->stdio, "Standard input and output (the default)");
  command->add_option("--log-level", options->log_level,
                      "trace, debug, info, warning, error, critical or off; to standard error");
  add_source_root_option(*command, options->assembly);
  add_assembly_options(*command, options->assembly);
  command->callback([options, &code] { code = run_serve(*options); });
}

}  // namespace assay::cli
