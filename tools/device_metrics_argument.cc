#include "tools/device_metrics_argument.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "engine/node/device_metrics.h"

namespace assay::tools {
namespace {

using mcp::Json;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void add_section(const std::string& name, const std::string& pointer,
                 std::vector<std::string>& sections, std::vector<contract::Violation>& violations) {
  const auto section = node::section_of(name);
  if (!section) {
    std::string known;
    for (const auto& one : node::all_sections()) known += (known.empty() ? "" : ", ") + one;
    violations.push_back({pointer, "'" + name + "' is no section; there are " + known});
  } else if (std::find(sections.begin(), sections.end(), *section) == sections.end()) {
    sections.push_back(*section);
  }
}

// What the operator has set; a name that nobody knows is passed over there.
std::vector<std::string> usual_sections() {
  const std::string enabled = environment("ENABLE_DEVICE_METRICS");
  if (enabled != "1" && enabled != "true" && enabled != "on") return {};
  std::vector<std::string> sections;
  std::vector<contract::Violation> ignored;
  std::istringstream names(environment("NCU_SECTIONS"));
  for (std::string name; std::getline(names, name, ',');) {
    add_section(name, "", sections, ignored);
  }
  return sections.empty() ? node::default_sections() : sections;
}

}  // namespace

std::vector<std::string> read_device_metrics(const Json& arguments,
                                             std::vector<contract::Violation>& violations) {
  const auto asked = arguments.find("device_metrics");
  if (asked == arguments.end() || asked->is_null()) return usual_sections();
  if (asked->is_boolean()) {
    return asked->get<bool>() ? node::default_sections() : std::vector<std::string>{};
  }
  if (asked->is_string()) {
    const auto word = asked->get<std::string>();
    if (word == "off") return {};
    if (word == "on") return node::default_sections();
    if (word == "all") return node::all_sections();
    std::vector<std::string> sections;
    add_section(word, "/device_metrics", sections, violations);
    return sections;
  }
  std::vector<std::string> sections;
  for (std::size_t i = 0; i < asked->size(); ++i) {
    add_section(asked->at(i).get<std::string>(), "/device_metrics/" + std::to_string(i), sections,
                violations);
  }
  return sections;
}

}  // namespace assay::tools
