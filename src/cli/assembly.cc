#include "cli/assembly.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "cli/commands.h"
#include "cli/plan_kinds.h"
#include "engine/node/toolkit.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kArtifactBytes = 1ULL << 30;

void warn(const std::string& text) { spdlog::warn("{}", text); }

node::EngineCommand engine_command(const AssemblyOptions& options, const fs::path& state_dir) {
  node::EngineCommand command{.executable = executable_folder() / "assay",
                              .arguments = {"engine", "--min-isolation", options.min_isolation,
                                            "--cache", (state_dir / "compiled").string()}};
  command.arguments.emplace_back("--device");
  command.arguments.push_back(options.device);
  if (options.allow_unsandboxed) command.arguments.emplace_back("--allow-unsandboxed");
  if (options.slots > 0) {
    command.arguments.emplace_back("--slots");
    command.arguments.push_back(std::to_string(options.slots));
  }
  if (options.keep_warm_s > 0) {
    command.arguments.emplace_back("--keep-warm");
    command.arguments.push_back(std::to_string(options.keep_warm_s));
  }
  for (const auto& python : options.pythons) {
    command.arguments.emplace_back("--python");
    command.arguments.push_back(python);
  }
  if (!options.disassembler.empty()) {
    command.arguments.emplace_back("--disassembler");
    command.arguments.push_back(options.disassembler);
  }
  if (!options.runner.empty()) {
    command.arguments.emplace_back("--runner");
    command.arguments.push_back(options.runner);
  }
  return command;
}

bool has_disassembler(const AssemblyOptions& options) {
  return !options.disassembler.empty() ||
         !node::find_toolkit(executable_folder()).disassembler.empty();
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const fs::path inside =
      fs::weakly_canonical(path).lexically_relative(fs::weakly_canonical(folder));
  return !inside.empty() && *inside.begin() != "..";
}

// What a server keeps is no source: a root that lies in its state is refused, and of one around it
// the state is left out (see SourceFiles).
std::vector<fs::path> source_roots(const AssemblyOptions& options, const fs::path& state_dir) {
  std::vector<fs::path> roots(options.source_roots.begin(), options.source_roots.end());
  for (const fs::path& root : roots) {
    if (lies_in(root, state_dir)) {
      throw WrongOption("--source-root " + root.string() + " lies in the state folder " +
                        state_dir.string() + ": name a folder of sources, or another --state");
    }
  }
  if (!roots.empty()) return roots;
  if (!lies_in(fs::current_path(), state_dir)) return {fs::current_path()};
  return {};
}

}  // namespace

fs::path state_directory(const std::string& wanted) {
  if (!wanted.empty()) return fs::absolute(wanted);
  if (const char* state = std::getenv("ASSAY_STATE"); state != nullptr && *state != '\0')
    return state;
  if (const char* xdg = std::getenv("XDG_STATE_HOME"); xdg != nullptr && *xdg != '\0') {
    return fs::path(xdg) / "assay";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home != '\0' ? home : "/tmp") / ".local/state/assay";
}

fs::path contracts_folder(const fs::path& state_dir) { return state_dir / "contracts"; }

void add_source_root_option(CLI::App& command, AssemblyOptions& options) {
  command
      .add_option("--source-root", options.source_roots,
                  "A folder below which source_file may name kernels (repeatable); default: the "
                  "working directory")
      ->check(CLI::ExistingDirectory);
}

void add_cleanup_options(CLI::App& command, AssemblyOptions& options) {
  command
      .add_option("--cleanup-every", options.cleanup_every_s,
                  "Seconds between two clean-ups (default 300)")
      ->check(CLI::Range(1U, 86'400U));
  command
      .add_option("--keep-jobs-for", options.keep_jobs_for_s,
                  "Seconds that a job is kept after its end (default 3600)")
      ->check(CLI::Range(1U, 366U * 86'400U));
}

void add_python_option(CLI::App& command, AssemblyOptions& options) {
  command
      .add_option("--python", options.pythons,
                  "An interpreter that can import torch, for kernels in Python: PATH or NAME=PATH "
                  "(repeatable: a call's `python` chooses, else the first that can); default: "
                  "python3 on PATH")
      ->allow_extra_args(false);
}

void add_assembly_options(CLI::App& command, AssemblyOptions& options) {
  command.add_option("--state", options.state_dir, "Directory for jobs and artifacts");
  command
      .add_option("--min-isolation", options.min_isolation,
                  "Refuse to run anything if runners are confined less than this")
      ->check(CLI::IsMember({"L1", "L1u", "L1n", "L2", "L3"}));
  command
      .add_option("--device", options.device,
                  "What a call's \"auto\" means: auto, emulator or gpu:N")
      ->check(CLI::Validator(
          [](const std::string& device) {
            const bool is_gpu = device.starts_with("gpu:") && device.size() > 4 &&
                                device.find_first_not_of("0123456789", 4) == std::string::npos;
            return is_gpu || device == "auto" || device == "emulator"
                       ? std::string()
                       : "not auto, emulator or gpu:N";
          },
          "DEVICE"));
  command.add_flag("--allow-unsandboxed", options.allow_unsandboxed,
                   "Run user code even where no confinement is possible");
  command.add_option("--slots", options.slots, "Jobs that run side by side")
      ->check(CLI::Range(1U, 1024U));
  command
      .add_option(
          "--keep-warm", options.keep_warm_s,
          "Seconds after a GPU's last job for which processes are kept ready there, a gigabyte "
          "of its memory (default 900)")
      ->check(CLI::Range(1U, 366U * 86'400U));
  command
      .add_option("--disassembler", options.disassembler,
                  "nvdisasm or cuobjdump, for a job's machine code; default: the CUDA toolkit's")
      ->check(CLI::ExistingFile);
  command.add_option("--runner", options.runner)->group("");
}

Assembly::Assembly(const AssemblyOptions& options)
    : cleanup_every_(options.cleanup_every_s),
      state_dir_(state_directory(options.state_dir)),
      source_roots_(source_roots(options, state_dir_)),
      journal_(state_dir_, {.kinds = job_kinds(),
                            .keep_for = std::chrono::seconds(options.keep_jobs_for_s),
                            .log = warn}),
      artifacts_(state_dir_ / "artifacts", kArtifactBytes, warn,
                 {.pinned = [this](const std::string& id) { return journal_.references(id); },
                  .make_room = [this](std::uint64_t bytes) { journal_.make_room(bytes); }}),
      engine_(engine_command(options, state_dir_), warn),
      library_{.contracts = tools::StoredContracts(contracts_folder(state_dir_)),
               .files = tools::SourceFiles(source_roots_, state_dir_)},
      jobs_(journal_, artifacts_, engine_, warn,
            {.has_disassembler = has_disassembler(options),
             .kept_for = std::chrono::seconds(options.keep_jobs_for_s)}),
      housekeeping_([this](const std::stop_token& stop) { keep_house(stop); }) {}

std::string Assembly::overlap() const {
  if (source_roots_.empty()) {
    return "the working directory lies in the state folder " + state_dir_.string() +
           ": no source_file can be named; start elsewhere, or give --source-root";
  }
  for (const fs::path& root : source_roots_) {
    if (lies_in(state_dir_, root)) {
      return "the state folder " + state_dir_.string() + " lies below the source root " +
             root.string() + ": no source_file is read from it";
    }
  }
  return {};
}

void Assembly::keep_house(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  for (;;) {
    std::unique_lock lock(mutex);
    if (never.wait_for(lock, stop, cleanup_every_, [&] { return stop.stop_requested(); })) return;
    try {
      journal_.sweep();
      artifacts_.sweep();
    } catch (const std::exception& error) {
      warn(std::string("housekeeping: ") + error.what());
    }
  }
}

}  // namespace assay::cli
