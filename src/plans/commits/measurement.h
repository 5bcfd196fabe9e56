// One commit measured: its sides made, a reference on base, equivalence on head, then interleaved
// runs of all sides. One object per commit, one thread.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plans/commits/record.h"
#include "plans/commits/side.h"
#include "plans/generators/generator_run.h"
#include "plans/owned_containers.h"
#include "plans/scratch_folder.h"

namespace assay::commits {

// Whose fault it is that there is no measurement: the machine's and its packages', the code's, or
// the generator's that was to test it.
enum class FaultKind { none, environment, code, test };

struct Measured {
  // success, base_failed, head_failed, main_failed, patched_failed, equivalence_failed,
  // equivalence_not_performed (the times are there), install_failed, no_test, no_commit,
  // unsupported, timeout, cancelled
  std::string status = "success";
  FaultKind fault = FaultKind::none;
  std::string cause{};
  std::string command{};
  std::string tail{};
  nlohmann::json body = nlohmann::json::object();  // the result of this commit
  nlohmann::json record = nullptr;
};

// Told of every side that is ready and every run that ended: phase, body, and a log if it failed.
using Teller =
    std::function<void(const std::string& stage, bool ok, nlohmann::json body, std::string log)>;

class Measurement {
 public:
  Measurement(const CommitPlan& plan, const CommitToMeasure& commit,
              const plans::StepRunner& runner, const std::filesystem::path& folder, Teller tell,
              std::stop_token stop);

  [[nodiscard]] Measured run();

 private:
  struct Problem {
    std::string status{};
    FaultKind fault = FaultKind::none;
    std::string cause{};
    std::string command{};
    std::string tail{};
  };
  using Trouble = std::optional<Problem>;

  [[nodiscard]] Trouble resolve();
  [[nodiscard]] Trouble make_sides();
  [[nodiscard]] Trouble make_reference();
  [[nodiscard]] Trouble check_equivalence();
  [[nodiscard]] Trouble measure();
  [[nodiscard]] generators::GeneratorEnd run_on(const Side& side, bool reference, bool eqcheck,
                                                const std::string& what);
  [[nodiscard]] Problem blame(const Side& side, const generators::GeneratorEnd& end) const;
  // Whether the reference of this run is one that base's made.
  [[nodiscard]] bool loaded_of_base(const generators::GeneratorEnd& end) const;
  // One line for a shell that makes `side` anew, and base's reference if it was asked for, and does
  // `last`.
  [[nodiscard]] std::string repeat(const Side& side, const std::vector<plans::Step>& last) const;
  void compare();
  [[nodiscard]] Measured finish(const Trouble& trouble);

  const CommitPlan& plan_;
  const CommitToMeasure& commit_;
  const plans::StepRunner& runner_;
  const std::filesystem::path folder_;
  const Teller tell_;
  const std::stop_token stop_;
  const Repository repository_;
  std::string base_{};
  std::string head_{};
  std::string main_{};
  std::filesystem::path script_{};  // our copy, outside every checkout
  EnvironmentChoice choice_{};
  std::optional<plans::OwnedContainers> containers_{};
  std::vector<Side> sides_{};
  std::vector<plans::Step> first_steps_{};    // before any side: the generator's copy, the clone
  std::vector<plans::Step> reference_{};      // of base
  std::set<std::filesystem::path> stored_{};  // what base's reference run left in the work folder
  std::map<std::string, std::vector<double>> times_{};
  nlohmann::json body_ = nlohmann::json::object();
  int runs_ = 0;
};

}  // namespace assay::commits
