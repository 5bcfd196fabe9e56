// `assay contract`: IO contracts for people. build (from compact text or a CUDA file), save, load,
// print, list. Needs no server and starts no engine. Exit codes: 0 done, 2 usage, 3 refused, 4 the
// state directory cannot be used, 70 the result could not be written.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <system_error>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "tools/tools.h"

namespace assay::cli {
namespace {

using mcp::Json;

struct ContractOptions {
  std::string state_dir{};
  std::string from{};  // a file, "-", or for load and print a stored name
  std::string text{};
  std::string kernel_name{};
  std::string kernel_type{};
  std::string name{};
  std::vector<std::string> sizes{};
  bool as_text = false;
};

std::optional<std::string> read_input(const std::string& path) {
  if (path == "-") return std::string{std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  // A folder opens like a file, and fails when it is read.
  if (!file || std::filesystem::is_directory(path)) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

bool add_sizes(const ContractOptions& options, Json& arguments) {
  for (const auto& size : options.sizes) {
    const auto equals = size.find('=');
    const Json value =
        equals == std::string::npos ? Json() : Json::parse(size.substr(equals + 1), nullptr, false);
    if (!value.is_number_integer()) return false;
    arguments["sizes"][size.substr(0, equals)] = value;
  }
  return true;
}

// A file is a CUDA source, a contract as JSON, or compact text: what it begins with and says
// decides.
void add_input(const std::string& text, const ContractOptions& options, Json& arguments) {
  const Json document = Json::parse(text, nullptr, false);
  if (document.is_object()) {
    arguments["io"] = document;
  } else if (text.find("__global__") != std::string::npos) {
    arguments["kernel"] = {{"source_code", text}};
    if (!options.kernel_name.empty()) {
      arguments["kernel"]["metadata"] = {{"kernel_name", options.kernel_name}};
    }
  } else {
    arguments["text"] = text;
  }
}

int answer(const Json& arguments, const ContractOptions& options) {
  const tools::Library library{
      .contracts = tools::StoredContracts(contracts_folder(state_directory(options.state_dir))),
      .files = tools::SourceFiles({})};
  const mcp::ToolResult result = tools::build_contract(arguments, {.library = &library});
  const bool made = result.structured.contains("io_contract");
  if (!made) {
    std::cerr << result.text << '\n';
    return kRefused;
  }
  if (options.as_text) {
    std::cout << result.structured.at("text").get<std::string>();
  } else {
    std::cout << result.structured.at("io_contract").dump(2) << '\n';
  }
  for (const char* key : {"explanation", "assumptions"}) {
    for (const auto& line : result.structured.at(key)) {
      std::cerr << (key[0] == 'a' ? "assumed: " : "  ") << line.get<std::string>() << '\n';
    }
  }
  return kOk;
}

int run_build(const ContractOptions& options) {
  Json arguments = Json::object();
  if (!options.text.empty()) {
    arguments["text"] = options.text;
  } else {
    const auto text = read_input(options.from);
    if (!text) {
      std::cerr << "cannot read " << options.from << '\n';
      return kUsage;
    }
    add_input(*text, options, arguments);
  }
  if (!options.kernel_type.empty()) arguments["kernel_type"] = options.kernel_type;
  if (!add_sizes(options, arguments)) {
    std::cerr << "--size takes NAME=INTEGER\n";
    return kUsage;
  }
  if (!options.name.empty()) {
    if (!tools::StoredContracts::is_name(options.name)) {
      std::cerr << "a name has letters, digits, '_', '-' and '.', at most 100\n";
      return kUsage;
    }
    arguments["save_as"] = options.name;
  }
  return answer(arguments, options);
}

int run_stored(const ContractOptions& options) { return answer({{"io", options.name}}, options); }

int run_list(const ContractOptions& options) {
  const tools::StoredContracts stored(contracts_folder(state_directory(options.state_dir)));
  for (const auto& name : stored.names()) std::cout << name << '\n';
  return kOk;
}

// Runs a verb; a state directory that cannot be used is no fault of the contract.
template <typename Run>
std::function<void()> guarded(const std::shared_ptr<ContractOptions>& options, int& code,
                              const Run& run) {
  return [options, &code, run] {
    try {
      code = run(*options);
      std::cout.flush();
      if (!std::cout) {
        std::cerr << "the result could not be written to standard output\n";
        code = kInternalFault;
      }
    } catch (const std::system_error& error) {
      std::cerr << error.what() << '\n';
      code = kFault;
    }
  };
}

}  // namespace

void add_contract(CLI::App& app, int& code) {
  CLI::App* command =
      app.add_subcommand("contract", "Build, save, load, print and list IO contracts");
  command->require_subcommand(1);
  command->footer(
      "Exit codes: 0 done; 2 usage; 3 refused; 4 the state directory cannot be used; 70 internal "
      "fault, or the result could not be written.");
  auto options = std::make_shared<ContractOptions>();
  const auto with_state = [&](CLI::App* verb) {
    verb->add_option("--state", options->state_dir, "Directory that holds the stored contracts");
    return verb;
  };

  CLI::App* build = with_state(command->add_subcommand(
      "build", "Make a contract from compact text, from JSON, or inferred from a CUDA file"));
  auto* from = build->add_option("file", options->from, "A file, or - for standard input");
  build->add_option("--text", options->text, "The compact text itself")->excludes(from);
  build->add_option("--kernel", options->kernel_name, "Which __global__ of the file");
  build->add_option("--kernel-type", options->kernel_type, "Check what this type demands")
      ->check(CLI::IsMember({"cuda", "torch", "torch_cuda", "triton", "multi_kernel"}));
  build->add_option("--size", options->sizes,
                    "NAME=INTEGER, the value of an int scalar (repeatable)");
  build->add_option("--save", options->name, "Store it under this name");
  build->add_flag("--as-text", options->as_text, "Print compact text instead of JSON");
  build->callback(guarded(options, code, [](const ContractOptions& given) {
    if (!given.text.empty() || !given.from.empty()) return run_build(given);
    std::cerr << "assay contract build needs a file, - or --text\n";
    return static_cast<int>(kUsage);
  }));

  CLI::App* save = with_state(command->add_subcommand("save", "Check a contract and store it"));
  save->add_option("name", options->name, "The name to store it under")->required();
  save->add_option("file", options->from, "JSON or compact text; - for standard input")->required();
  save->callback(guarded(options, code, run_build));

  CLI::App* load = with_state(command->add_subcommand("load", "Print a stored contract as JSON"));
  load->add_option("name", options->name, "Its name")->required();
  load->callback(guarded(options, code, run_stored));

  CLI::App* print = with_state(command->add_subcommand("print", "Print a stored contract as text"));
  print->add_option("name", options->name, "Its name")->required();
  print->callback(guarded(options, code, [options](const ContractOptions&) {
    options->as_text = true;
    return run_stored(*options);
  }));

  CLI::App* list = with_state(command->add_subcommand("list", "Names of the stored contracts"));
  list->callback(guarded(options, code, run_list));
}

}  // namespace assay::cli
