// A git repository of the user's, looked at and copied from, never written to: every checkout is a
// worktree of a private clone that borrows the user's objects. Through the git command; one thread.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "plans/step_runner.h"

namespace assay::commits {

struct GitEnd {
  bool ok = false;
  std::string output{};
  std::string problem{};             // one line; "" if ok
  std::vector<plans::Step> steps{};  // what was done, for whoever repeats it
};

class Repository {
 public:
  Repository(const plans::StepRunner& runner, std::filesystem::path path, std::stop_token stop);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // The full hash of a commit; "" if there is none.
  [[nodiscard]] std::string resolve(const std::string& revision) const;
  [[nodiscard]] std::string first_parent(const std::string& commit) const;
  // origin/main, origin/master, main or master, whichever is there first.
  [[nodiscard]] std::string main_branch() const;
  [[nodiscard]] std::string message_of(const std::string& commit) const;
  [[nodiscard]] std::string remote_url() const;
  [[nodiscard]] std::string patch_between(const std::string& base, const std::string& head) const;

  // {status, head, refs, worktrees, index}: what must be the same afterwards.
  [[nodiscard]] nlohmann::json state() const;

  // A private clone without a checkout, without remotes.
  [[nodiscard]] GitEnd clone_to(const std::filesystem::path& clone) const;
  // A detached checkout of `commit` at `folder`, a worktree of the clone; submodules too, if there
  // are any.
  [[nodiscard]] GitEnd check_out(const std::filesystem::path& clone, const std::string& commit,
                                 const std::filesystem::path& folder) const;
  [[nodiscard]] GitEnd apply(const std::filesystem::path& folder,
                             const std::filesystem::path& patch) const;

 private:
  [[nodiscard]] GitEnd git(const std::filesystem::path& cwd, std::vector<std::string> arguments,
                           std::chrono::seconds timeout = std::chrono::seconds(600)) const;

  const plans::StepRunner& runner_;
  std::filesystem::path path_;
  std::stop_token stop_;
};

}  // namespace assay::commits
