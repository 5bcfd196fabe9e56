#include "plans/scenarios/workspace_package.h"

#include <fstream>
#include <regex>

namespace assay::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxLines = 10'000;
constexpr std::size_t kMaxLength = 500;  // of a line that may name a package

// The first match of `name` in a line of `file`, below one of the sections if there are any.
std::string named_in(const fs::path& file, const std::regex& name, const std::regex* section) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return {};
  std::ifstream stream(file, std::ios::binary);
  bool is_inside = section == nullptr;
  std::string line;
  for (std::size_t i = 0; i < kMaxLines && std::getline(stream, line); ++i) {
    if (line.size() > kMaxLength) continue;
    if (section != nullptr && line.starts_with('[')) is_inside = std::regex_search(line, *section);
    std::smatch match;
    if (is_inside && std::regex_search(line, match, name)) return match[1].str();
  }
  return {};
}

}  // namespace

std::string package_of(const fs::path& folder) {
  static const std::regex project("^\\[(project|tool\\.poetry)\\]");
  static const std::regex metadata("^\\[metadata\\]");
  static const std::regex toml_name("^\\s*name\\s*=\\s*[\"']([A-Za-z0-9][A-Za-z0-9._-]*)[\"']");
  static const std::regex ini_name("^\\s*name\\s*=\\s*([A-Za-z0-9][A-Za-z0-9._-]*)\\s*$");
  static const std::regex call_name("\\bname\\s*=\\s*[\"']([A-Za-z0-9][A-Za-z0-9._-]*)[\"']");
  if (folder.empty()) return {};
  std::string name = named_in(folder / "pyproject.toml", toml_name, &project);
  if (name.empty()) name = named_in(folder / "setup.cfg", ini_name, &metadata);
  if (name.empty()) name = named_in(folder / "setup.py", call_name, nullptr);
  return name;
}

}  // namespace assay::scenarios
