// One commit's own environment: a checkout, private caches, an interpreter that sees this checkout
// and no other. Made phase by phase; every phase has its log. One thread.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "plans/commits/commit_plan.h"
#include "plans/commits/repository.h"

namespace assay::commits {

enum class SideKind { worktree, venv, container };
[[nodiscard]] const char* name(SideKind kind);

struct EnvironmentChoice {
  SideKind kind = SideKind::worktree;
  std::string engine{};  // of a container
  std::string reason{};
  std::string problem{};  // "": it can be had
};
[[nodiscard]] EnvironmentChoice choose_environment(const CommitPlan& plan,
                                                   const plans::StepRunner& runner,
                                                   const std::stop_token& stop);

// What went wrong before anything of the commit's own ran: the environment's fault.
struct PhaseFault {
  std::string phase{};
  std::string cause{};
  std::string tail{};
};

class Side {
 public:
  Side(std::string name, std::string commit, std::filesystem::path folder);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& commit() const { return commit_; }

  // Checkout, dependencies, setup, install. Nothing: it is ready.
  [[nodiscard]] std::optional<PhaseFault> prepare(const CommitPlan& plan,
                                                  const EnvironmentChoice& choice,
                                                  const Repository& repository,
                                                  const std::filesystem::path& clone,
                                                  const plans::StepRunner& runner,
                                                  const std::stop_token& stop);

  // docker or podman; "": it runs on the host.
  [[nodiscard]] const std::string& engine() const { return engine_; }

  // How Python starts in it, with the folders that it needs under the same paths.
  [[nodiscard]] std::vector<std::string> python(
      const std::vector<std::string>& mounts,
      const std::map<std::string, std::string>& variables) const;
  [[nodiscard]] const std::map<std::string, std::string>& variables() const { return variables_; }
  [[nodiscard]] const std::filesystem::path& checkout() const { return checkout_; }
  [[nodiscard]] const std::filesystem::path& log() const { return log_; }
  // What was done to make it, in order: for whoever repeats it.
  [[nodiscard]] const std::vector<plans::Step>& steps() const { return steps_; }
  // [{phase, command, wall_ms, ok}], and whether the image was there already. Paths of a command
  // that go with the measurement are below "$d".
  [[nodiscard]] const nlohmann::json& phases() const { return phases_; }

 private:
  struct Context {
    const CommitPlan& plan;
    const EnvironmentChoice& choice;
    const Repository& repository;
    const std::filesystem::path& clone;
    const plans::StepRunner& runner;
    const std::stop_token& stop;
  };
  using Fault = std::optional<PhaseFault>;

  [[nodiscard]] Fault check_out(const Context& context);
  [[nodiscard]] Fault make_environment(const Context& context);
  [[nodiscard]] Fault make_venv(const Context& context);
  [[nodiscard]] Fault make_image(const Context& context);
  [[nodiscard]] Fault add_dependencies(const Context& context);
  [[nodiscard]] Fault run_all(const Context& context, const char* phase,
                              const std::vector<Command>& commands,
                              const std::filesystem::path& cwd);
  [[nodiscard]] Fault step(const Context& context, const std::string& phase,
                           std::vector<std::string> argv, const std::filesystem::path& cwd,
                           bool inside);
  [[nodiscard]] Fault git_fault(const std::string& phase, const GitEnd& end);
  [[nodiscard]] std::vector<std::string> container_prefix(
      const std::vector<std::string>& mounts, const std::map<std::string, std::string>& variables,
      const std::filesystem::path& cwd) const;

  std::string name_;
  std::string commit_;
  std::filesystem::path folder_;    // of everything of this side
  std::filesystem::path checkout_;  // below it
  std::filesystem::path log_;
  std::map<std::string, std::string> variables_{};
  std::string interpreter_ = "python3";
  std::string engine_{};  // "": no container
  std::string label_{};   // of its containers: owned_containers.h
  std::string image_{};
  nlohmann::json phases_ = nlohmann::json::array();
  std::vector<plans::Step> steps_{};
};

}  // namespace assay::commits
