// One load_inline of a torch_cuda source, built: the two halves told apart by reading
// (engine/source), the host's compiled by a confined C++ compiler against headers compiled ahead,
// the device's by the engine's own compiler, each by its content out of the cache. What the source
// asks for are claims of a process that runs it; what comes back is code for that process alone, so
// that nothing said here needs to be believed.
//
// One object per source, used by its job's thread. Borrows all it is given.
#pragma once

#include "engine/node/compilation.h"
#include "engine/node/wrapper_environment.h"

namespace assay::node {

// What every wrapper of an engine is built with.
struct WrapperTools {
  const Runners& runners;
  PythonZygote& zygote;
  const Compiler& compiler;
  CompileCache& cache;
  WrapperEnvironment& environment;
};

// Whether a source may ask for a wrapper: torch_cuda does, and a script that mixes kernels can.
[[nodiscard]] bool builds_wrappers(const KernelSource& source);

class WrapperBuild {
 public:
  // `arch`: of the device code, as the compiler takes it; a real one makes machine code. `debug`:
  // with -G, for what is looked at.
  WrapperBuild(WrapperTools tools, const KernelSource& source, std::string file, std::string arch,
               std::stop_token stop, bool debug = false)
      : tools_(tools),
        source_(source),
        file_(std::move(file)),
        arch_(std::move(arch)),
        is_debug_(debug),
        stop_(std::move(stop)) {}

  // The answer to a `build` or `kernels` frame of the source's process.
  [[nodiscard]] frames::Frame answer(const frames::Frame& question);

  // Why the last build failed, if it did; taken once.
  [[nodiscard]] std::optional<Ended> take_failure() {
    return std::exchange(failure_, std::nullopt);
  }
  // `ended`, or that device code is none, with the assembler's words and their line, if that is why
  // the emulator could not run it.
  [[nodiscard]] Ended unless_refused(Ended ended) const;
  // What was built, for the report.
  [[nodiscard]] const nlohmann::json& report() const { return report_; }

 private:
  [[nodiscard]] bool on_gpu() const { return arch_.starts_with("sm_"); }
  [[nodiscard]] std::variant<std::string, Ended> build(const nlohmann::json& asked);
  [[nodiscard]] std::variant<std::string, Ended> compile_host(const nlohmann::json& asked,
                                                              std::string text);
  [[nodiscard]] std::variant<Program, Ended> compile_device();
  [[nodiscard]] bool compile_mixing(std::variant<Program, Ended>& compiled);
  [[nodiscard]] std::variant<Program, Ended> compile_kernels(const nlohmann::json& asked);
  [[nodiscard]] std::optional<Ended> too_much_constant_memory(const Program& program) const;
  [[nodiscard]] Ended refuse_host(const nlohmann::json& said) const;

  WrapperTools tools_;
  const KernelSource& source_;
  const std::string file_;
  const std::string arch_;
  const bool is_debug_;
  std::stop_token stop_;
  KernelSource device_{};  // of the last build
  KernelSource own_{};     // the same without what the emulator's device takes otherwise
  std::vector<KernelSource> programs_{};  // likewise, of what was compiled for the emulator
  std::string torn_{};                    // where its brackets depend on the preprocessor, or ""
  std::string hidden_kernel_{};           // one whose head it cannot read, and where, or ""
  unsigned builds_ = 0;
  std::string name_{};    // of the last build
  std::string failed_{};  // of the one that failed
  std::optional<Ended> failure_{};
  nlohmann::json report_ = nlohmann::json::array();
};

}  // namespace assay::node
