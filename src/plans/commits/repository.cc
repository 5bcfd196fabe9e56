#include "plans/commits/repository.h"

#include <sstream>

#include "plans/optest/tensor_file.h"

namespace assay::commits {

namespace fs = std::filesystem;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;

namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// What git calls fatal first is the cause; what follows is what came of it.
std::string cause_in(const std::string& tail) {
  const std::string text = trimmed(plans::printable(tail));
  std::string last;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("fatal: ") || line.starts_with("error: ")) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace

Repository::Repository(const plans::StepRunner& runner, fs::path path, std::stop_token stop)
    : runner_(runner), path_(std::move(path)), stop_(std::move(stop)) {}

GitEnd Repository::git(const fs::path& cwd, std::vector<std::string> arguments,
                       std::chrono::seconds timeout) const {
  // No hook of the repository runs, no question is asked, and looking does not write the index.
  Step step{
      .name = "git",
      .argv = {"git", "-c", "core.hooksPath=/dev/null", "-c", "safe.directory=*", "-c",
               "advice.detachedHead=false", "-c", "protocol.file.allow=always"},
      .cwd = cwd,
      .environment = {{"GIT_OPTIONAL_LOCKS", "0"}, {"GIT_TERMINAL_PROMPT", "0"}, {"LC_ALL", "C"}},
      .timeout = timeout};
  for (auto& word : arguments) step.argv.push_back(std::move(word));
  const StepEnd end = runner_.run(step, stop_);
  GitEnd result{.ok = end.succeeded(), .output = end.standard_output, .steps = {step}};
  if (!result.ok) {
    const std::string said = cause_in(end.tail);
    result.problem = plans::describe(end) + (said.empty() ? "" : ": " + said);
  }
  return result;
}

std::string Repository::resolve(const std::string& revision) const {
  if (revision.empty() || revision.starts_with('-')) return {};
  const GitEnd end = git(path_, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"});
  return end.ok ? trimmed(end.output) : "";
}

std::string Repository::first_parent(const std::string& commit) const {
  return resolve(commit + "^");
}

std::string Repository::main_branch() const {
  for (const char* name : {"origin/main", "origin/master", "main", "master"}) {
    std::string commit = resolve(name);
    if (!commit.empty()) return commit;
  }
  return {};
}

std::string Repository::message_of(const std::string& commit) const {
  return plans::printable(trimmed(git(path_, {"log", "-1", "--format=%B", commit}).output));
}

std::string Repository::remote_url() const {
  return trimmed(git(path_, {"config", "--get", "remote.origin.url"}).output);
}

std::string Repository::patch_between(const std::string& base, const std::string& head) const {
  return plans::printable(git(path_, {"diff", "--no-ext-diff", "--no-color", base, head}).output);
}

json Repository::state() const {
  json state = {
      {"status", git(path_, {"status", "--porcelain=v2", "--ignore-submodules=none"}).output},
      {"head", trimmed(git(path_, {"rev-parse", "HEAD"}).output)},
      {"branch", trimmed(git(path_, {"symbolic-ref", "-q", "HEAD"}).output)},
      {"refs", git(path_, {"for-each-ref"}).output},
      {"worktrees", git(path_, {"worktree", "list", "--porcelain"}).output},
      {"stash", git(path_, {"stash", "list"}).output}};
  const std::string index = trimmed(git(path_, {"rev-parse", "--git-path", "index"}).output);
  std::error_code error;
  const fs::path file = path_ / index;
  state["index"] =
      fs::is_regular_file(file, error) ? json(optest::digest_of_file(file)) : json(nullptr);
  return state;
}

GitEnd Repository::clone_to(const fs::path& clone) const {
  GitEnd end =
      git("/", {"clone", "--quiet", "--shared", "--no-checkout", path_.string(), clone.string()});
  if (!end.ok) return end;
  // What comes after the commit must not be found by what runs on it.
  (void)git(clone, {"remote", "remove", "origin"});
  return end;
}

GitEnd Repository::check_out(const fs::path& clone, const std::string& commit,
                             const fs::path& folder) const {
  GitEnd end = git(clone, {"worktree", "add", "--quiet", "--detach", folder.string(), commit});
  std::error_code error;
  if (!end.ok || !fs::exists(folder / ".gitmodules", error)) return end;
  // "../other.git" of .gitmodules is beside where the user's repository came from, or beside it.
  std::string home = remote_url();
  const bool is_relative = home.starts_with("./") || home.starts_with("../");
  if (home.empty() || is_relative) home = (path_ / home).lexically_normal().string();
  GitEnd modules = git(folder, {"-c", "remote.origin.url=" + home, "submodule", "--quiet", "update",
                                "--init", "--recursive"});
  modules.steps.insert(modules.steps.begin(), end.steps.front());
  return modules;
}

GitEnd Repository::apply(const fs::path& folder, const fs::path& patch) const {
  const GitEnd fits = git(folder, {"apply", "--check", patch.string()});
  return fits.ok ? git(folder, {"apply", patch.string()}) : fits;
}

}  // namespace assay::commits
