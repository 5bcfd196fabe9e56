#include "plans/commits/side.h"

#include <fstream>

#include "plans/container_engine.h"
#include "plans/optest/tensor_file.h"
#include "plans/owned_containers.h"
#include "plans/repeatable.h"
#include "plans/text_file.h"

namespace assay::commits {

namespace fs = std::filesystem;
using nlohmann::json;
using plans::Step;
using plans::StepEnd;

namespace {

// The first engine of those wanted that can really run something.
std::optional<plans::ContainerEngine> usable_engine(const CommitPlan& plan,
                                                    const plans::StepRunner& runner,
                                                    const std::stop_token& stop,
                                                    std::string& reasons) {
  std::vector<std::string> names{"podman", "docker"};
  if (!plan.engine.empty()) names = {plan.engine};
  for (const auto& one : names) {
    auto engine = plans::look_at_engine(runner, one, stop);
    if (engine.usable) return engine;
    reasons += (reasons.empty() ? "" : "; ") + one + ": " + engine.reason;
  }
  return std::nullopt;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

std::string joined_path(const std::vector<fs::path>& folders) {
  std::string text;
  for (const auto& folder : folders) text += (text.empty() ? "" : ":") + folder.string();
  return text;
}

}  // namespace

const char* name(SideKind kind) {
  switch (kind) {
    case SideKind::worktree:
      return "worktree";
    case SideKind::venv:
      return "venv";
    case SideKind::container:
      return "container";
  }
  return "";
}

EnvironmentChoice choose_environment(const CommitPlan& plan, const plans::StepRunner& runner,
                                     const std::stop_token& stop) {
  const bool wants_image = !plan.image.empty() || !plan.dockerfile.empty();
  if (plan.environment == "container" || (plan.environment == "auto" && wants_image)) {
    EnvironmentChoice choice{.kind = SideKind::container};
    std::string reasons;
    const auto engine = usable_engine(plan, runner, stop, reasons);
    if (!engine) {
      choice.problem = "no container engine can be used: " + reasons;
    } else if (!wants_image) {
      choice.problem = "a container needs an image or a dockerfile";
    } else {
      choice.engine = engine->name;
      choice.reason = engine->name + " " + engine->version + " runs here, and an image was named";
    }
    return choice;
  }
  if (plan.environment == "venv" || (plan.environment == "auto" && !plan.install.empty())) {
    return {.kind = SideKind::venv,
            .reason = plan.environment == "venv"
                          ? "as asked"
                          : "there are install commands, which must not touch "
                            "the interpreter's own packages"};
  }
  return {.kind = SideKind::worktree,
          .reason = plan.environment == "worktree"
                        ? "as asked"
                        : "nothing is installed, so a checkout on PYTHONPATH is enough"};
}

Side::Side(std::string name, std::string commit, fs::path folder)
    : name_(std::move(name)),
      commit_(std::move(commit)),
      folder_(std::move(folder)),
      checkout_(folder_ / "checkout"),
      log_(folder_ / "log") {
  fs::create_directories(folder_ / "caches");
  fs::create_directories(folder_ / "temporary");
  const auto cache = [&](const char* variable, const char* folder) {
    variables_[variable] = (folder_ / "caches" / folder).string();
  };
  cache("PIP_CACHE_DIR", "pip");
  cache("UV_CACHE_DIR", "uv");
  cache("TRITON_CACHE_DIR", "triton");
  cache("HF_HOME", "huggingface");
  cache("TORCH_HOME", "torch");
  cache("XDG_CACHE_HOME", "xdg");
  cache("TORCH_EXTENSIONS_DIR", "torch_extensions");
  cache("CCACHE_DIR", "ccache");
  variables_["PYTHONDONTWRITEBYTECODE"] = "1";
  variables_["PYTHONNOUSERSITE"] = "1";
}

std::optional<PhaseFault> Side::prepare(const CommitPlan& plan, const EnvironmentChoice& choice,
                                        const Repository& repository, const fs::path& clone,
                                        const plans::StepRunner& runner,
                                        const std::stop_token& stop) {
  const Context context{plan, choice, repository, clone, runner, stop};
  for (const auto& [key, value] : plan.variables) variables_[key] = value;
  if (!plan.python.empty()) interpreter_ = plan.python;
  if (auto fault = check_out(context)) return fault;
  variables_["PYTHONPATH"] = joined_path({checkout_ / "python", checkout_ / "src", checkout_});
  if (auto fault = make_environment(context)) return fault;
  if (auto fault = run_all(context, "setup", plan.setup, checkout_)) return fault;
  if (auto fault = add_dependencies(context)) return fault;
  return run_all(context, "install", plan.install, checkout_);
}

Side::Fault Side::git_fault(const std::string& phase, const GitEnd& end) {
  const plans::Repeatable told(folder_.parent_path());
  for (const auto& step : end.steps) {
    const bool ok = end.ok || &step != &end.steps.back();
    phases_.push_back({{"phase", phase}, {"command", told.words(step.argv)}, {"ok", ok}});
    steps_.push_back(step);
  }
  if (end.ok) return std::nullopt;
  return PhaseFault{.phase = phase, .cause = end.problem};
}

Side::Fault Side::check_out(const Context& context) {
  if (auto fault =
          git_fault("checkout", context.repository.check_out(context.clone, commit_, checkout_)))
    return fault;
  if (name_ != "patched") return std::nullopt;
  return git_fault("patch", context.repository.apply(checkout_, context.plan.patch));
}

Side::Fault Side::make_environment(const Context& context) {
  if (context.choice.kind == SideKind::venv) return make_venv(context);
  if (context.choice.kind == SideKind::container) return make_image(context);
  return std::nullopt;
}

Side::Fault Side::make_venv(const Context& context) {
  const fs::path venv = folder_ / "venv";
  std::vector<std::string> argv{interpreter_, "-m", "venv", venv.string()};
  if (!plans::find_program("uv").empty() && context.plan.python.empty()) {
    argv = {"uv", "venv", "--seed", "--quiet", "--offline", venv.string()};
  }
  auto fault = step(context, "venv", argv, folder_, false);
  if (fault && argv[0] == "uv") {
    steps_.pop_back();
    fault = step(context, "venv", {interpreter_, "-m", "venv", venv.string()}, folder_, false);
  }
  if (fault) return fault;
  interpreter_ = (venv / "bin" / "python").string();
  const char* path = std::getenv("PATH");
  variables_["PATH"] = (venv / "bin").string() + ":" + (path != nullptr ? path : "/usr/bin:/bin");
  variables_["VIRTUAL_ENV"] = venv.string();
  return std::nullopt;
}

// Built once per commit and recipe, and found again by its name.
Side::Fault Side::make_image(const Context& context) {
  engine_ = context.choice.engine;
  label_ = plans::OwnedContainers::label(context.clone.parent_path());
  image_ = context.plan.image;
  if (context.plan.dockerfile.empty()) return std::nullopt;
  const std::string recipe = plans::read_text(context.plan.dockerfile);
  image_ = "localhost/assay-commit:" +
           optest::digest_of_text(commit_ + "\n" + context.plan.repository.string() + "\n" + recipe)
               .substr(0, 24);
  const StepEnd there = context.runner.run(
      {.name = "image", .argv = {engine_, "image", "inspect", image_}, .cwd = "/", .log = {}},
      context.stop);
  if (there.succeeded()) {
    phases_.push_back({{"phase", "image"}, {"image", image_}, {"cached", true}, {"ok", true}});
    return std::nullopt;
  }
  std::vector<std::string> argv{engine_, "build"};
  // podman would keep an image of every instruction, and of a build that failed.
  if (engine_ == "podman") argv.insert(argv.end(), {"--layers=false", "--force-rm"});
  argv.insert(argv.end(), {"--tag", image_, "--file", context.plan.dockerfile, "--build-arg",
                           "COMMIT=" + commit_, checkout_.string()});
  auto fault = step(context, "image", argv, checkout_, false);
  if (!fault) {
    phases_.back()["image"] = image_;
    phases_.back()["cached"] = false;
  }
  return fault;
}

Side::Fault Side::add_dependencies(const Context& context) {
  for (const auto& dependency : context.plan.dependencies) {
    const std::string phase = "dependency " + dependency.name;
    const fs::path clone = folder_ / "dependencies" / (dependency.name + ".git");
    const fs::path checkout = folder_ / "dependencies" / dependency.name;
    fs::create_directories(clone.parent_path());
    if (auto fault = step(context, phase,
                          {"git", "-c", "core.hooksPath=/dev/null", "clone", "--quiet",
                           "--no-checkout", "--", dependency.repository, clone.string()},
                          folder_, false)) {
      return fault;
    }
    const std::string ref = replaced(dependency.ref, "{commit}", commit_);
    const Repository repository(context.runner, clone, context.stop);
    std::string commit = repository.resolve(ref);
    if (commit.empty()) commit = repository.resolve("origin/" + ref);
    if (commit.empty()) {
      return PhaseFault{.phase = phase, .cause = dependency.repository + " has no commit " + ref};
    }
    if (auto fault = git_fault(phase, repository.check_out(clone, commit, checkout))) return fault;
    variables_["PYTHONPATH"] += ":" + checkout.string();
    if (auto fault = run_all(context, phase.c_str(), dependency.build, checkout)) return fault;
  }
  return std::nullopt;
}

Side::Fault Side::run_all(const Context& context, const char* phase,
                          const std::vector<Command>& commands, const fs::path& cwd) {
  for (const auto& command : commands) {
    if (auto fault = step(context, phase, command, cwd, true)) return fault;
  }
  return std::nullopt;
}

std::vector<std::string> Side::container_prefix(const std::vector<std::string>& mounts,
                                                const std::map<std::string, std::string>& variables,
                                                const fs::path& cwd) const {
  std::vector<std::string> argv{
      engine_,      "run",      "--rm",
      "--label",    label_,     "--workdir",
      cwd.string(), "--volume", folder_.string() + ":" + folder_.string()};
  for (const auto& mount : mounts) {
    argv.emplace_back("--volume");
    argv.push_back(mount + ":" + mount);
  }
  for (const auto* all : {&variables_, &variables}) {
    for (const auto& [key, value] : *all) {
      argv.emplace_back("--env");
      argv.push_back(key + "=" + value);
    }
  }
  argv.push_back(image_);
  return argv;
}

Side::Fault Side::step(const Context& context, const std::string& phase,
                       std::vector<std::string> argv, const fs::path& cwd, bool inside) {
  if (inside && !engine_.empty()) {
    auto prefix = container_prefix({}, {}, cwd);
    prefix.insert(prefix.end(), argv.begin(), argv.end());
    argv = std::move(prefix);
  }
  const Step one{.name = name_ + ": " + phase,
                 .argv = argv,
                 .cwd = cwd,
                 .environment = variables_,
                 .timeout = std::chrono::seconds(context.plan.install_timeout_s),
                 .log = log_};
  const std::string command = plans::Repeatable(folder_.parent_path()).words(argv);
  std::ofstream(log_, std::ios::app | std::ios::binary)
      << "+ [" << phase << "] " << plans::command_line(argv) << '\n';
  const StepEnd end = context.runner.run(one, context.stop);
  steps_.push_back(one);
  phases_.push_back(
      {{"phase", phase}, {"command", command}, {"wall_ms", end.wall_ms}, {"ok", end.succeeded()}});
  if (end.succeeded()) return std::nullopt;
  return PhaseFault{
      .phase = phase, .cause = plans::describe(end), .tail = plans::printable(end.tail)};
}

std::vector<std::string> Side::python(const std::vector<std::string>& mounts,
                                      const std::map<std::string, std::string>& variables) const {
  if (engine_.empty()) return {interpreter_};
  auto argv =
      container_prefix(mounts, variables, mounts.empty() ? folder_ : fs::path(mounts.front()));
  argv.push_back(interpreter_);
  return argv;
}

}  // namespace assay::commits
