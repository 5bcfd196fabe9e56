#include "engine/node/neighbours.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kMostTold = 64;
constexpr unsigned kMostGenerations = 32;
// Less than that is a desktop, or a sample's error.
constexpr unsigned kWorksPct = 5;

// 0 if there is no such process, or nobody may know.
unsigned parent_of(unsigned pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  // The name, in parentheses, may hold anything.
  const auto behind = line.rfind(')');
  if (behind == std::string::npos || behind + 4 >= line.size()) return 0;
  const std::string rest = line.substr(behind + 4);  // " S 1234 …"
  const auto end = rest.find_first_not_of("0123456789");
  if (end == 0 || end > 9) return 0;
  return static_cast<unsigned>(std::stoul(rest.substr(0, end)));
}

std::optional<unsigned> positive(const json& value) {
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  if (number < 0 || number > 0x7fffffff) return std::nullopt;
  return static_cast<unsigned>(number);
}

const json& list_in(const json& state, const char* key) {
  static const json nothing = json::array();
  const auto found = state.is_object() ? state.find(key) : state.end();
  return found != state.end() && found->is_array() ? *found : nothing;
}

}  // namespace

bool is_descendant(unsigned pid, unsigned ancestor) {
  for (unsigned generation = 0; generation < kMostGenerations && pid > 1; ++generation) {
    pid = parent_of(pid);
    if (pid == ancestor) return pid != 0;
  }
  return false;
}

Neighbours neighbours_of(const json& state, bool are_visible,
                         const std::function<bool(unsigned)>& is_ours) {
  Neighbours found;
  if (!are_visible) return found;
  std::vector<unsigned> ours;
  for (const json& item : list_in(state, "pids")) {
    const auto pid = positive(item);
    if (!pid || ours.size() + found.others.size() == kMostTold) continue;
    (is_ours(*pid) ? ours : found.others).push_back(*pid);
  }
  // The one that asked is on the device: where it is not among them, these are numbers of another
  // namespace.
  found.visible = !ours.empty();
  if (!found.visible) return {};
  for (const json& item : list_in(state, "working")) {
    if (!item.is_object() || !item.contains("pid") || !item.contains("sm_pct")) continue;
    const auto pid = positive(item.at("pid"));
    const auto sm_pct = positive(item.at("sm_pct"));
    if (!pid || !sm_pct || *sm_pct < kWorksPct) continue;
    const auto& others = found.others;
    const bool is_other = std::find(others.begin(), others.end(), *pid) != others.end();
    if (is_other) found.computing.push_back({.pid = *pid, .sm_pct = *sm_pct});
  }
  return found;
}

json tell(const Neighbours& neighbours) {
  json told = {{"visible", neighbours.visible}, {"computing", json::array()}};
  if (neighbours.visible) told["others"] = neighbours.others.size();
  for (const auto& busy : neighbours.computing) {
    told["computing"].push_back({{"pid", busy.pid}, {"sm_pct", busy.sm_pct}});
  }
  return told;
}

std::string tenants_warning(const Neighbours& neighbours, const json& busy_before_pct) {
  std::string who;
  for (const auto& busy : neighbours.computing) {
    who += (who.empty() ? "process " : ", process ") + std::to_string(busy.pid) + " (" +
           std::to_string(busy.sm_pct) + " % of the time)";
  }
  if (who.empty() && positive(busy_before_pct).value_or(0) >= kBusyPct) {
    who = "somebody, who used it " + busy_before_pct.dump() +
          " % of the time just before this began,";
  }
  if (who.empty()) return {};
  return "Beside this measurement " + who +
         " worked on the device: the times may be those of two. Measure again on a device of your "
         "own, or when it is free.";
}

}  // namespace assay::node
