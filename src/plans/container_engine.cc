#include "plans/container_engine.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace assay::plans {
namespace {

std::string first_line(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return {};
  return printable(text.substr(begin, text.find('\n', begin) - begin));
}

}  // namespace

std::string find_program(const std::string& name) {
  namespace fs = std::filesystem;
  if (name.empty()) return {};
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  return {};
}

ContainerEngine look_at_engine(const StepRunner& runner, const std::string& name,
                               const std::stop_token& stop) {
  ContainerEngine engine{.name = name};
  const std::string program = find_program(name);
  engine.cli_present = !program.empty();
  if (!engine.cli_present) {
    engine.reason = "there is no " + name + " on PATH";
    return engine;
  }
  // docker's server must answer; podman is its own, and `info` exercises its storage.
  const std::vector<std::string> question =
      name == "docker"
          ? std::vector<std::string>{program, "version", "--format", "{{.Server.Version}}"}
          : std::vector<std::string>{program, "info", "--format", "{{.Version.Version}}"};
  const StepEnd end = runner.run(
      {.name = name, .argv = question, .cwd = "/", .timeout = std::chrono::seconds(30)}, stop);
  engine.version = first_line(end.standard_output);
  engine.usable = end.succeeded() && !engine.version.empty();
  if (!engine.usable) {
    const std::string said = first_line(end.tail);
    engine.reason = said.empty() ? describe(end) : said;
  }
  return engine;
}

nlohmann::json to_json(const ContainerEngine& engine) {
  nlohmann::json out = {{"name", engine.name},
                        {"cli_present", engine.cli_present},
                        {"server_reachable", engine.usable}};
  if (!engine.version.empty()) out["version"] = engine.version;
  if (!engine.reason.empty()) out["reason"] = engine.reason;
  return out;
}

}  // namespace assay::plans
