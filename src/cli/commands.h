// The commands of the one executable. main() parses nothing itself: each command declares its
// options and, when chosen, wires the parts it needs and runs. Exit codes are documented with each
// command.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace assay::cli {

// Each adds a subcommand whose callback stores its exit code in `code`.
void add_serve(CLI::App& app, int& code);
void add_engine(CLI::App& app, int& code);
void add_call(CLI::App& app, int& code);
void add_contract(CLI::App& app, int& code);
void add_capabilities(CLI::App& app, int& code);
void add_mcp_config(CLI::App& app, int& code);
void add_optest(CLI::App& app, int& code);

// The arguments for CLI::App::parse, last first. Called by the name `optest` (a link to the
// executable) they are those of that subcommand.
[[nodiscard]] std::vector<std::string> as_subcommand(int argc, char** argv);

// The folder of the running executable: assay-runner and the CUDA parts lie beside it.
[[nodiscard]] std::filesystem::path executable_folder();

}  // namespace assay::cli
