// `assay call TOOL ARGS.json|-`: one tool, called in this process; prints the structured result. On
// a terminal the stages are shown on standard error as they pass.
//
// A job is waited for to its end, unless the arguments have a wait_s. Exit code 0 if a report was
// produced. With --check: 0 passed, 1 any other verdict or none yet, 2 usage, 3 refused, 4 engine
// fault, 5 cancelled or interrupted. `-` with several lines: JSON lines in, JSON lines out, a line
// for each, the highest code of all. SIGINT and SIGTERM cancel the job that runs; its report is
// printed, and the rest is not begun. 70: a result could not be written.
#include <signal.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/http_options.h"
#include "cli/remote_tools.h"
#include "cli/termination_signals.h"
#include "engine/confinement/isolation.h"
#include "mcp/arguments.h"
#include "mcp/codec.h"
#include "mcp/schema.h"
#include "tools/tools.h"

namespace assay::cli {
namespace {

using mcp::Json;
using mcp::ToolResult;

constexpr int kEndS = 20;  // that a cancelled job may take to end

constexpr const char* kExitCodes =
    "Exit codes: 0 a report was produced; 2 usage; 3 the arguments were refused; 4 engine fault; "
    "5 cancelled or interrupted; 70 internal fault, or the result could not be written. With "
    "--check: "
    "0 passed, 1 any other verdict or none yet. JSON lines: the highest of all.";

struct CallOptions {
  AssemblyOptions assembly{};
  std::string tool{};
  std::string arguments = "{}";
  bool check = false;
  std::string url{};
  std::string token_file{};
  std::string ca_file{};
};

int exit_code(const ToolResult& result, bool check) {
  const auto& structured = result.structured;
  const std::string status = structured.value("status", "");
  const std::string state = structured.value("state", "");
  if (status == "client_error" || state == "not_found") return kRefused;
  if (!check) return result.is_error ? kFault : kOk;
  const auto verdict = structured.find("verdict");
  const std::string word =
      verdict != structured.end() && verdict->is_string() ? verdict->get<std::string>() : "";
  if (state == "interrupted" || word == "cancelled") return kCancelled;
  if (result.is_error || word == "engine_fault") return kFault;
  // Tools that judge nothing have no verdict at all.
  if (verdict == structured.end()) return kOk;
  return word == "passed" ? kOk : kNotPassed;
}

class Caller {
 public:
  // `report` is the tool that gives a job's report: what a cancelled call left is asked of it.
  Caller(mcp::Tool tool, mcp::Tool report, bool check, std::stop_token stop)
      : tool_(std::move(tool)),
        report_(std::move(report)),
        schema_(Json(tool_.input_schema)),
        check_(check),
        stop_(std::move(stop)) {}

  // For a line that is no arguments at all: every line is answered by one.
  static void refuse(const std::string& why) {
    print({{"status", "client_error"},
           {"error", {{"violations", {{{"pointer", ""}, {"message", why}}}}}}});
  }

  [[nodiscard]] const std::stop_token& stop() const { return stop_; }

  int call(Json arguments) {
    if (tool_.adapt) arguments = tool_.adapt(std::move(arguments));
    const auto violations = mcp::check_arguments(schema_, arguments);
    if (!violations.empty()) {
      print({{"status", "client_error"}, {"error", {{"violations", mcp::to_json(violations)}}}});
      std::cerr << mcp::describe(violations) << '\n';
      return kRefused;
    }
    mcp::CallContext context{.stop = stop_};
    if (::isatty(STDERR_FILENO) != 0) {
      context.progress_sink = [](const mcp::Progress& progress) {
        std::cerr << "  " << progress.message << '\n';
      };
    }
    const bool may_wait = !arguments.contains("wait_s");
    ToolResult result = tool_.run(arguments, context);
    while (may_wait && !stop_.stop_requested() && is_unfinished(result)) {
      context.arrived = std::chrono::steady_clock::now();  // a call of its own
      result = report_.run(
          {{"job_id", result.structured.at("job_id")}, {"wait_s", kLongestWaitSeconds}}, context);
    }
    if (stop_.stop_requested()) result = ended(std::move(result));
    print(result.structured);
    return stop_.stop_requested() ? kCancelled : exit_code(result, check_);
  }

 private:
  static constexpr int kLongestWaitSeconds = 45;

  static bool is_unfinished(const ToolResult& result) {
    const auto& report = result.structured;
    return !result.is_error && report.contains("job_id") && report.contains("verdict") &&
           report.at("verdict").is_null();
  }

  static void print(const mcp::OrderedJson& value) {
    std::cout << value.dump(::isatty(STDOUT_FILENO) != 0 ? 2 : -1, ' ', false,
                            mcp::OrderedJson::error_handler_t::replace)
              << std::endl;
  }

  // The whole report of a job that was cancelled under way.
  ToolResult ended(ToolResult cancelled) const {
    if (cancelled.structured.value("state", "") != "cancelled") return cancelled;
    mcp::CallContext context;
    return report_.run({{"job_id", cancelled.structured.at("job_id")}, {"wait_s", kEndS}}, context);
  }

  mcp::Tool tool_;
  mcp::Tool report_;
  mcp::Schema schema_;
  bool check_;
  std::stop_token stop_;
};

// Reading waits for whoever types: nothing runs meanwhile that would need an orderly end.
bool read_line(const Caller& caller, std::istream& in, std::string& line) {
  const std::stop_callback leave(caller.stop(), [] { std::_Exit(kCancelled); });
  return static_cast<bool>(std::getline(in, line));
}

std::string read_rest(const Caller& caller, std::istream& in) {
  const std::stop_callback leave(caller.stop(), [] { std::_Exit(kCancelled); });
  return {std::istreambuf_iterator<char>(in), {}};
}

int call_text(Caller& caller, const std::string& text) {
  mcp::Decoder decoder;
  auto parsed = decoder.decode_json(text);
  if (const auto* fault = std::get_if<mcp::JsonFault>(&parsed)) {
    std::cerr << "the arguments are not JSON: " << fault->message << '\n';
    return kUsage;
  }
  return caller.call(std::move(std::get<Json>(parsed)));
}

// One object over several lines, or one object a line: what parses as a whole is one.
int call_stream(Caller& caller, std::istream& in) {
  std::string first;
  while (read_line(caller, in, first) && first.find_first_not_of(" \t\r") == std::string::npos) {
  }
  mcp::Decoder decoder;
  if (std::holds_alternative<mcp::JsonFault>(decoder.decode_json(first))) {
    return call_text(caller, first + "\n" + read_rest(caller, in));
  }
  int worst = call_text(caller, first);
  // Nobody reads on where nothing can be written.
  for (std::string line;
       std::cout && !caller.stop().stop_requested() && read_line(caller, in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const int code = call_text(caller, line);
    if (code == kUsage) caller.refuse("this line is not JSON");
    worst = std::max(worst, code);
  }
  return worst;
}

// A full disk, a pipe whose reader has gone: whoever reads the exit code has no result.
int written(int code) {
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << "the result could not be written to standard output\n";
  return kInternalFault;
}

// By its name, or by an older one, whose form of arguments it then takes.
std::optional<mcp::Tool> tool_named(const std::vector<mcp::Tool>& tools, const std::string& name) {
  for (const mcp::Tool& tool : tools) {
    if (tool.name == name) return tool;
    for (const mcp::Alias& alias : tool.aliases) {
      if (alias.name != name) continue;
      mcp::Tool meant = tool;
      meant.adapt = alias.adapt;
      return meant;
    }
  }
  return std::nullopt;
}

int call_one_of(const std::vector<mcp::Tool>& tools, const CallOptions& options,
                const std::stop_token& stop) {
  const auto tool = tool_named(tools, options.tool);
  const auto report = tool_named(tools, "get_job");
  if (!tool || !report) {
    std::cerr << "no tool named '" << options.tool << "'; there are:";
    for (const auto& one : tools) std::cerr << ' ' << one.name;
    std::cerr << '\n';
    return kUsage;
  }
  Caller caller(*tool, *report, options.check, stop);
  if (options.arguments == "-") return written(call_stream(caller, std::cin));
  if (options.arguments.starts_with('{')) return written(call_text(caller, options.arguments));
  std::ifstream file(options.arguments);
  // A folder opens like a file, and fails when it is read.
  if (!file || std::filesystem::is_directory(options.arguments)) {
    std::cerr << "cannot read " << options.arguments << '\n';
    return kUsage;
  }
  return written(call_stream(caller, file));
}

// On a server that is running; nothing is started here.
int run_remotely(const CallOptions& options, const std::stop_token& stop) {
  try {
    const auto tokens =
        options.token_file.empty() ? std::vector<std::string>{} : read_tokens(options.token_file);
    const auto tools = remote_tools(options.url, tokens.empty() ? "" : tokens.front(),
                                    options.ca_file, options.tool);
    return call_one_of(tools, options, stop);
  } catch (const std::invalid_argument& error) {
    std::cerr << error.what() << '\n';
    return kUsage;
  } catch (const std::runtime_error& error) {
    std::cerr << error.what() << '\n';
    return kFault;
  }
}

int run_call(const CallOptions& options) {
  ::signal(SIGPIPE, SIG_IGN);
  if (!options.url.empty()) {
    const TerminationSignals signals;
    return run_remotely(options, signals.token());
  }
  confinement::harden_supervisor();
  const TerminationSignals signals;
  Assembly assembly(options.assembly);
  return call_one_of(tools::all(assembly.jobs(), &assembly.library()), options, signals.token());
}

}  // namespace

void add_call(CLI::App& app, int& code) {
  auto options = std::make_shared<CallOptions>();
  CLI::App* command = app.add_subcommand("call", "Call one tool and print its structured result");
  command->add_option("tool", options->tool, "Tool name")->required();
  command->add_option(
      "arguments", options->arguments,
      "A file with the arguments as JSON, the JSON itself, or - for standard input");
  command->add_flag(
      "--check", options->check,
      "Exit code by verdict: 0 passed, 1 not, 3 refused, 4 engine fault, 5 cancelled");
  command->footer(kExitCodes);
  command->add_option("--url", options->url,
                      "Call a server that is running, for example http://127.0.0.1:8000");
  command->add_option("--token-file", options->token_file,
                      "The first token in this file is shown to that server");
  command->add_option("--ca", options->ca_file,
                      "Who vouches for a server of https: certificates in this PEM file; default: "
                      "whom this machine trusts");
  add_source_root_option(*command, options->assembly);
  add_python_option(*command, options->assembly);
  add_assembly_options(*command, options->assembly);
  command->callback([options, &code] { code = run_call(*options); });
}

void add_capabilities(CLI::App& app, int& code) {
  auto options = std::make_shared<CallOptions>();
  options->tool = "check_capabilities";
  CLI::App* command =
      app.add_subcommand("capabilities", "Print devices, toolkit and the isolation seen in force");
  add_python_option(*command, options->assembly);
  add_assembly_options(*command, options->assembly);
  command->callback([options, &code] { code = run_call(*options); });
}

}  // namespace assay::cli
