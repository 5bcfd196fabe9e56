// `assay optest run --plan FILE`: operator test plans from a shell, also as `optest run …`. Exit
// codes: 0 everything that was selected passed, 1 something failed, nothing matched, or the plan is
// not valid, 2 usage (no plan, no such file).
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <set>

#include "cli/assembly.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/termination_signals.h"
#include "cli/visible_text.h"
#include "engine/confinement/isolation.h"
#include "plans/optest/case_record.h"
#include "plans/optest/plan.h"
#include "plans/optest/plan_job.h"
#include "plans/optest/selection.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kToldRest = 10;  // names of runs that were not started

// The runner of plans has its own table (docs/plans.md).
enum PlanExit { kPassed = 0, kFailed = 1, kNoPlan = 2 };

struct OptestOptions {
  AssemblyOptions assembly{};
  std::string plan{};
  std::string backend{};
  std::string chip{};
  std::vector<std::string> cases{};
  std::vector<std::string> tags{};
  std::vector<std::string> skip_tags{};
  std::optional<std::int64_t> priority_max{};
  std::string cache{};
  std::string report = "terminal";
  std::string report_path{};
  std::string python{};
  std::string isolation = "auto";
  std::string only{};
  std::string files{};
  std::optional<std::int64_t> seed{};
  bool list = false;
  bool no_color = false;
  bool stop_on_first = false;
};

json choice_of(const OptestOptions& options) {
  json choice = {
      {"cases", options.cases}, {"tags", options.tags}, {"skip_tags", options.skip_tags}};
  if (!options.backend.empty()) choice["backend"] = options.backend;
  if (!options.chip.empty()) choice["chip"] = options.chip;
  if (!options.only.empty()) choice["only"] = options.only;
  if (options.priority_max) choice["priority_max"] = *options.priority_max;
  return choice;
}

// What people see while it runs.
class Terminal {
 public:
  explicit Terminal(const OptestOptions& options)
      : colored_(!options.no_color), out_(options.report == "json" ? std::cerr : std::cout) {}

  void tell(const json& one) {
    const std::string status = one.value("status", "");
    out_ << paint(label(status), color(status)) << ' ' << visible(one.value("id", ""));
    const std::string details = one.value("details", "");
    if (!details.empty() && status != "passed") out_ << ": " << visible_lines(details);
    out_ << '\n';
    for (const auto& warning : one.value("warnings", json::array())) {
      out_ << "      " << visible_lines(warning.get<std::string>()) << '\n';
    }
    const bool bad = status == "failed" || status == "error" || status == "xfail-pass";
    if (bad && one.contains("repro"))
      out_ << "      " << visible(one.at("repro").get<std::string>()) << '\n';
    out_ << std::flush;
  }

  void summarize(const json& report) {
    const json& summary = report.at("summary");
    const auto failures = summary.at("failures").get<std::size_t>();
    std::string text = summary.at("total").dump() + " runs";
    for (const char* status :
         {"passed", "failed", "error", "xfail", "xfail-pass", "unsupported", "cancelled"}) {
      const auto count = summary.value(status, std::size_t{0});
      if (count > 0) text += ", " + std::to_string(count) + " " + status;
    }
    const bool cut = report.value("cancelled", false);
    if (cut) text = "CANCELLED: " + text + ", " + told_rest(report);
    out_ << paint(text, failures > 0 || cut ? "31" : "32") << std::endl;
  }

 private:
  static std::string told_rest(const json& report) {
    const json& rest = report.at("not_started");
    std::string text = std::to_string(rest.size()) + " not started";
    for (std::size_t i = 0; i < rest.size() && i < kToldRest; ++i) {
      text += (i == 0 ? ": " : ", ") + visible(rest[i].get<std::string>());
    }
    return text + (rest.size() > kToldRest ? ", …" : "");
  }
  static std::string label(const std::string& status) {
    if (status == "passed") return "PASS ";
    if (status == "failed") return "FAIL ";
    if (status == "error") return "ERROR";
    if (status == "xfail") return "XFAIL";
    if (status == "xfail-pass") return "XPASS";
    if (status == "cancelled") return "CANCL";
    return "UNSUP";
  }
  static const char* color(const std::string& status) {
    if (status == "passed") return "32";
    if (status == "xfail" || status == "unsupported") return "33";
    return "31";
  }
  [[nodiscard]] std::string paint(const std::string& text, const char* color) const {
    return colored_ ? std::string("\033[") + color + "m" + text + "\033[0m" : text;
  }

  bool colored_;
  std::ostream& out_;
};

json told_runs(const job::JobRecord& record) {
  json cases = json::array();
  for (const auto& stage : record.stages) {
    if (stage.name == "ran") cases.push_back(stage.body);
  }
  return cases;
}

// All runs: from the artifact where the conclusion has only the first ones.
json whole_report(Assembly& assembly, const job::JobRecord& record) {
  for (const auto& link : record.artifacts) {
    if (link.name != "report") continue;
    const auto bytes = assembly.jobs().artifact(link);
    if (bytes) return json::parse(*bytes, nullptr, false);
  }
  const json told = record.conclusion.value("report", json());
  if (told.is_object() && !told.contains("truncated")) return told;
  return optest::report_of(told_runs(record));
}

// Where the logs are: only of those that were really stored.
void tell_logs(json& report, const job::JobRecord& record) {
  std::set<std::string> stored;
  for (const auto& link : record.artifacts) stored.insert(link.name);
  for (auto& one : report.at("cases")) {
    if (!one.contains("log")) continue;
    const std::string uri = one.at("log").get<std::string>();
    if (!stored.contains(uri.substr(uri.rfind('/') + 1))) one.erase("log");
  }
  report["job_id"] = record.id;
}

bool write_report(const std::string& path, const json& report) {
  std::ofstream file(path, std::ios::binary);
  file << report.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  file.close();
  if (file) return true;
  std::cerr << "optest: cannot write " << path << '\n';
  return false;
}

int finish(const OptestOptions& options, Assembly& assembly, const job::JobRecord& record,
           const std::vector<std::string>& runs, Terminal& terminal) {
  json report = whole_report(assembly, record);
  if (record.verdict == job::Verdict::cancelled) optest::tell_cancelled(report, runs);
  for (const auto& one : report.at("cases")) {
    if (one.at("status") == "cancelled") terminal.tell(one);  // no stage told of it
  }
  tell_logs(report, record);
  terminal.summarize(report);
  bool written = true;
  if (!options.report_path.empty()) written = write_report(options.report_path, report);
  if (options.report == "json" && options.report_path.empty()) {
    std::cout << report.dump(2, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  if (record.verdict == job::Verdict::passed) return written ? kPassed : kFailed;
  if (record.verdict != job::Verdict::failed) {
    std::cerr << "optest: "
              << visible_lines(record.conclusion.value("summary", std::string("not finished")))
              << '\n';
  }
  return kFailed;
}

int run_job(const OptestOptions& options, const std::string& text, const fs::path& folder,
            const std::vector<std::string>& runs) {
  confinement::harden_supervisor();
  ::signal(SIGPIPE, SIG_IGN);
  const TerminationSignals signals;
  Assembly assembly(options.assembly);
  json request = {{"plan", text},
                  {"file", options.plan},
                  {"is_file", true},
                  {"folder", folder.string()},
                  {"choice", choice_of(options)},
                  {"stop_on_first", options.stop_on_first},
                  {"isolation", options.isolation}};
  if (!options.cache.empty()) request["cache"] = options.cache;
  if (!options.python.empty()) request["python"] = options.python;
  if (!options.files.empty()) request["files"] = fs::absolute(options.files).string();
  if (options.seed) request["seed"] = *options.seed;
  const std::string principal = "local";
  const std::string id = assembly.jobs().submit(optest::plan_kind(), std::move(request), principal);
  const std::stop_callback cancel(signals.token(), [&] {
    [[maybe_unused]] const auto done = assembly.jobs().cancel(id, principal);
  });
  Terminal terminal(options);
  std::size_t told = 0;
  constexpr auto kForever = std::chrono::steady_clock::time_point::max();
  const auto record =
      assembly.jobs().wait(id, principal, kForever, {}, [&](const job::JobRecord& seen) {
        for (; told < seen.stages.size(); ++told) {
          if (seen.stages[told].name == "ran") terminal.tell(seen.stages[told].body);
        }
      });
  if (!record) return kFailed;
  return finish(options, assembly, *record, runs, terminal);
}

int run_optest(const OptestOptions& options) {
  // Looked at before it is opened: a FIFO would wait for its writer.
  std::error_code error;
  const bool is_file = fs::is_regular_file(options.plan, error);
  std::ifstream file;
  if (is_file) file.open(options.plan, std::ios::binary);
  if (!is_file || !file) {
    std::cerr << "optest: there is no plan " << options.plan << '\n';
    return kNoPlan;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const fs::path folder = fs::canonical(options.plan).parent_path();
  const optest::Loaded loaded = optest::load_plan(text, folder);
  for (const auto& problem : loaded.problems) {
    std::cerr << visible_lines(optest::to_text(problem, options.plan)) << '\n';
  }
  if (!loaded.plan) return kFailed;
  const optest::Choice choice = optest::choice_from(choice_of(options));
  const auto runs = optest::select_runs(*loaded.plan, choice);
  if (runs.empty()) {
    std::cerr << visible_lines(optest::nothing_selected(*loaded.plan, choice)) << '\n';
    return kFailed;
  }
  if (options.list) {
    for (const auto& run : runs)
      std::cout << visible(run.id) << (run.xfail ? " (xfail)" : "") << '\n';
    return kPassed;
  }
  try {
    std::vector<std::string> ids;
    for (const auto& run : runs) ids.push_back(run.id);
    return run_job(options, text, folder, ids);
  } catch (const std::exception& fault) {
    std::cerr << "optest: " << fault.what() << '\n';
    return kFailed;
  }
}

void add_run_options(CLI::App& run, OptestOptions& options) {
  run.add_option("--plan,--config", options.plan, "The plan file")->required();
  run.add_option("--backend", options.backend, "Only backends of this type: cann, cuda, assay");
  run.add_option("--chip", options.chip, "Only backends of this chip, letter case aside");
  run.add_option("--cases", options.cases, "Case names, globs, comma-separated")->delimiter(',');
  run.add_option("--tags", options.tags, "One of these, comma-separated")->delimiter(',');
  run.add_option("--skip-tags", options.skip_tags, "None of these, comma-separated")
      ->delimiter(',');
  run.add_option("--priority-max", options.priority_max, "Only cases up to this priority");
  run.add_option("--cache", options.cache, "Overrides the plan's policy for inputs")
      ->check(CLI::IsMember({"reuse", "regen"}));
  run.add_option("--report", options.report, "What is printed")
      ->check(CLI::IsMember({"terminal", "json"}));
  run.add_option("--report-path", options.report_path, "Also write the JSON report to this file");
  run.add_option("--python", options.python, "Interpreter for custom functions; default python3");
  run.add_option("--isolation", options.isolation, "host: custom functions run unconfined too")
      ->check(CLI::IsMember({"auto", "host"}));
  run.add_option("--only", options.only, "Only the run of this id, as --list prints it");
  run.add_option("--files", options.files,
                 "A folder for relative inputs and outputs instead of the workdir");
  run.add_option("--seed", options.seed, "Of inputs to which the plan gives none");
  run.add_flag("--list", options.list, "Print what would run, and run nothing");
  run.add_flag("--stop-on-first", options.stop_on_first, "End at the first failure");
  run.add_flag("--no-color", options.no_color, "Plain text");
}

}  // namespace

std::vector<std::string> as_subcommand(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = argc - 1; i > 0; --i) arguments.emplace_back(argv[i]);
  if (argc > 0 && fs::path(argv[0]).filename() == "optest") arguments.emplace_back("optest");
  return arguments;
}

void add_optest(CLI::App& app, int& code) {
  CLI::App* command = app.add_subcommand("optest", "Operator test plans");
  command->set_version_flag("--version", ASSAY_VERSION);
  command->require_subcommand(1);
  auto options = std::make_shared<OptestOptions>();
  CLI::App* run = command->add_subcommand("run", "Run a plan, or list what would run");
  add_run_options(*run, *options);
  add_assembly_options(*run, options->assembly);
  run->callback([options, &code] {
    code = run_optest(*options);
    if (std::cout.flush()) return;
    std::cerr << "optest: standard output cannot be written to\n";
    code = kInternalFault;
  });
}

}  // namespace assay::cli
