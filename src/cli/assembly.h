// The parts of a server, wired: state directory, journal, artifacts, engine, jobs. `serve` and
// `call` own one each. Construction order is dependency order; destruction ends jobs, then the
// engine.
#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "engine/journal/artifacts.h"
#include "engine/journal/journal.h"
#include "engine/node/engine_process.h"
#include "tools/jobs.h"
#include "tools/library.h"

namespace assay::cli {

struct AssemblyOptions {
  std::string
      state_dir{};  // "": $ASSAY_STATE, else $XDG_STATE_HOME/assay, else ~/.local/state/assay
  std::string device = "auto";
  std::string min_isolation = "L1";
  bool allow_unsandboxed = false;
  unsigned slots = 0;
  unsigned keep_warm_s = 0;  // 0: as long as a pool keeps processes ready by itself
  // Clean-up: how often, and how long a job that has ended is kept.
  unsigned cleanup_every_s = 300;
  unsigned keep_jobs_for_s = 3600;
  std::vector<std::string> pythons{};       // interpreters; none: the active one
  std::string disassembler{};               // "": what the CUDA toolkit has
  std::string runner{};                     // tests put a misbehaving one here
  std::vector<std::string> source_roots{};  // folders that source_file may name; none: nothing
};

// The state directory that `wanted` ("" for the default) means.
[[nodiscard]] std::filesystem::path state_directory(const std::string& wanted);

// Where contracts are stored by name, in a state directory.
[[nodiscard]] std::filesystem::path contracts_folder(const std::filesystem::path& state_dir);

// Declares --source-root. Where it is not given, the working directory is the one root.
void add_source_root_option(CLI::App& command, AssemblyOptions& options);

// Declares --cleanup-every and --keep-jobs-for, for what runs long enough to clean up.
void add_cleanup_options(CLI::App& command, AssemblyOptions& options);

// Declares --python, for what judges kernels in Python. (optest has one of its own.)
void add_python_option(CLI::App& command, AssemblyOptions& options);

// Declares --state, --min-isolation, --allow-unsandboxed, --slots and what is of devices on a
// command.
void add_assembly_options(CLI::App& command, AssemblyOptions& options);

// What is asked for cannot be: usage, exit code 2.
struct WrongOption : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

class Assembly {
 public:
  // Throws WrongOption, before it touches anything.
  explicit Assembly(const AssemblyOptions& options);
  Assembly(const Assembly&) = delete;
  Assembly& operator=(const Assembly&) = delete;

  [[nodiscard]] tools::Jobs& jobs() { return jobs_; }
  [[nodiscard]] journal::Journal& journal() { return journal_; }
  [[nodiscard]] const tools::Library& library() const { return library_; }
  // How sources and state lie in each other's way, in words; "": they do not.
  [[nodiscard]] std::string overlap() const;

 private:
  // Every cleanup_every: retention limits, jobs of dead servers, the bound of the artifact store.
  void keep_house(const std::stop_token& stop);

  const std::chrono::seconds cleanup_every_;
  std::filesystem::path state_dir_;
  const std::vector<std::filesystem::path> source_roots_;
  journal::Journal journal_;
  journal::ArtifactStore artifacts_;
  node::EngineProcess engine_;
  tools::Library library_;
  tools::Jobs jobs_;
  std::jthread housekeeping_;
};

}  // namespace assay::cli
