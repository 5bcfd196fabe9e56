// assay: one executable, one command each. What is written to standard output is what the command
// is for; everything else goes to standard error.
#include <spdlog/spdlog.h>

#include <exception>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/log.h"

int main(int argc, char** argv) {
  if (!assay::cli::install_log("warning")) return assay::cli::kInternalFault;
  CLI::App app{"Assay: an MCP server on which AI agents try GPU kernels"};
  app.set_version_flag("--version", ASSAY_VERSION);
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done; 2 usage; 70 internal fault; others: see each command's --help.");
  int code = assay::cli::kOk;
  assay::cli::add_serve(app, code);
  assay::cli::add_call(app, code);
  assay::cli::add_contract(app, code);
  assay::cli::add_capabilities(app, code);
  assay::cli::add_mcp_config(app, code);
  assay::cli::add_engine(app, code);
  assay::cli::add_optest(app, code);
  try {
    app.parse(assay::cli::as_subcommand(argc, argv));
  } catch (const CLI::ParseError& error) {
    const int wrong = app.exit(error);
    return wrong == 0 ? assay::cli::kOk : assay::cli::kUsage;
  } catch (const assay::cli::WrongOption& error) {
    spdlog::error("{}", error.what());
    return assay::cli::kUsage;
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
    return assay::cli::kInternalFault;
  }
  return code;
}
