#include "plans/python.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace assay::plans {
namespace {

constexpr const char* kQuestion =
    "import sys, json, platform\n"
    "print(json.dumps({'executable': sys.executable, 'version': platform.python_version(),"
    " 'folders': [sys.prefix, sys.base_prefix] + [one for one in sys.path if one]}))\n";

}  // namespace

std::vector<std::string> shown_of(const std::filesystem::path& folder) {
  constexpr std::size_t kMostEntries = 256;
  namespace fs = std::filesystem;
  std::vector<std::string> shown;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (shown.size() >= kMostEntries) break;
    // What a link points at is not in the folder.
    const bool is_plain = entry.is_regular_file(error) || entry.is_directory(error);
    if (is_plain && !entry.is_symlink(error)) shown.push_back(entry.path().string());
  }
  return shown;
}

std::variant<Python, NoPython> find_python(const StepRunner& runner, const std::string& wanted,
                                           const std::stop_token& stop) {
  const std::string command = wanted.empty() ? "python3" : wanted;
  const Step step{.name = "python",
                  .argv = {command, "-c", kQuestion},
                  .cwd = "/",
                  .timeout = std::chrono::seconds(30)};
  const StepEnd end = runner.run(step, stop);
  if (!end.succeeded()) return NoPython{command + ": " + describe(end)};
  const auto answer = nlohmann::json::parse(end.standard_output, nullptr, false);
  if (!answer.is_object() || !answer.contains("folders")) {
    return NoPython{command + " did not describe itself: " + printable(end.tail)};
  }
  Python python{.executable = answer.value("executable", command),
                .version = answer.value("version", "")};
  std::error_code error;
  for (const auto& folder : answer.at("folders")) {
    const std::string path = folder.get<std::string>();
    const bool known =
        std::find(python.folders.begin(), python.folders.end(), path) != python.folders.end();
    if (!known && std::filesystem::is_directory(path, error)) python.folders.push_back(path);
  }
  return python;
}

}  // namespace assay::plans
