#include "plans/requirement_form.h"

#include <algorithm>
#include <array>

#include "plans/requirements.h"

namespace assay::plans {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 4> kBounds{"sm", "cuda_version", "memory_gb", "gpus"};
constexpr std::array<const char*, 3> kLists{"python", "tools", "feature"};

template <std::size_t Count>
bool is_one_of(const std::string& key, const std::array<const char*, Count>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const char* one) { return key == one; });
}

bool is_bound(const json& need) {
  if (need.is_number()) return need.get<double>() >= 0;
  if (!need.is_string()) return false;
  const auto text = need.get<std::string>();
  const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
  std::string relation = text.substr(0, digits);
  std::erase(relation, ' ');
  constexpr std::array<const char*, 6> kRelations{">=", ">", "<=", "<", "==", "="};
  return version_numbers(text.substr(digits)).has_value() &&
         (relation.empty() || is_one_of(relation, kRelations));
}

bool is_list(const json& need) {
  if (need.is_string()) return !need.get_ref<const std::string&>().empty();
  return need.is_array() && std::all_of(need.begin(), need.end(), [](const json& one) {
           return one.is_string() && !one.get_ref<const std::string&>().empty();
         });
}

bool is_engine(const json& need) {
  if (!need.is_string()) return false;
  std::string rest = need.get<std::string>();
  for (bool more = true; more;) {
    const std::size_t bar = rest.find('|');
    const std::string name = rest.substr(0, bar);
    if (name != "docker" && name != "podman") return false;
    more = bar != std::string::npos;
    if (more) rest.erase(0, bar + 1);
  }
  return true;
}

// "" or what it must be.
std::string fault_in(const std::string& key, const json& need) {
  if (key == "cuda") return need.is_boolean() ? "" : "must be true or false";
  if (is_one_of(key, kBounds))
    return is_bound(need) ? ""
                          : R"(must be a bound such as ">=12.4" or a number, which means at least)";
  if (is_one_of(key, kLists)) return is_list(need) ? "" : "must be a name or a list of names";
  if (key == "engine") return is_engine(need) ? "" : "must be docker, podman or docker|podman";
  return "is no requirement known here: cuda, sm, cuda_version, memory_gb, gpus, python, tools, "
         "engine, feature are";
}

}  // namespace

std::vector<MalformedRequirement> malformed_requirements(const json& needs) {
  std::vector<MalformedRequirement> malformed;
  for (const auto& [key, need] : needs.items()) {
    if (std::string fault = fault_in(key, need); !fault.empty())
      malformed.push_back({key, std::move(fault)});
  }
  return malformed;
}

}  // namespace assay::plans
