#include "engine/node/claimed_report.h"

#include "engine/node/claimed_value.h"

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kToldStrays = 50;
constexpr std::size_t kToldNameBytes = 200;
// Of what a list or an object may have.
constexpr std::size_t kMostFindings = 4096;
constexpr std::size_t kMostMetrics = 4096;
constexpr std::size_t kMostMembers = 64;
constexpr std::size_t kMostNeighbours = 1U << 16;
constexpr std::size_t kMostReasons = 32;  // why clocks are held down
constexpr std::uint64_t kMostLines = 1U << 30;

// Of a load out of bounds what the report speaks of; the rest as it was said.
json told_stray(const json& said) {
  json told = said;
  for (const char* key : {"kind", "severity", "message"})
    told[key] = said.at(key).get<std::string>();
  told["memory"] = said.value("memory", std::string());
  told["where"] = {{"file", said.at("where").at("file").get<std::string>()},
                   {"line", claimed_count(said.at("where").at("line"), kMostLines)},
                   {"column", claimed_count(said.at("where").at("column"), kMostLines)}};
  return told;
}

}  // namespace

json told_strays(const json& body) {
  json told = json::array();
  for (const auto& said : body.value("findings", json::array())) {
    if (told.size() < kToldStrays) told.push_back(told_stray(said));
  }
  return told;
}

json told_findings(const json& list) {
  for (const json& said : claimed_list(list, kMostFindings)) {
    for (const char* key : {"kind", "severity", "message"}) (void)said.at(key).get<std::string>();
    (void)claimed_count(said.at("where").at("line"), kMostLines);
  }
  return list;
}

json told_profile(const json& said) {
  for (const json& metric : claimed_list(said.at("metrics"), kMostMetrics)) {
    (void)metric.at("name").get<std::string>();
    if (!metric.at("value").is_null()) (void)metric.at("value").get<double>();
  }
  (void)claimed_list(said.at("lines"), kMostMetrics);
  for (const char* key : {"flops", "global_bytes_requested", "global_bytes_unique"}) {
    (void)claimed_number(said.at(key), 0, 1e300);
  }
  return said;
}

json told_counters(const json& said) {
  for (const auto& [name, count] : claimed_object(said, kMostMembers).items()) {
    (void)claimed_number(count, 0, 1e300);
  }
  return said;
}

json told_state(const json& turn) {
  const auto said = turn.find("state");
  if (said == turn.end() || said->is_null()) return nullptr;
  json state = {{"held_down", json::array()}};
  const json reasons = claimed_object(*said, kMostMembers).value("held_down", json::array());
  for (const json& reason : claimed_list(reasons, kMostReasons)) {
    state["held_down"].push_back(claimed_text(reason, kToldNameBytes));
  }
  for (const char* key :
       {"sm_mhz", "memory_mhz", "temperature_c", "power_w", "processes", "busy_pct"}) {
    const auto found = said->find(key);
    if (found == said->end()) continue;
    (void)claimed_number(*found, 0, 1e9);
    state[key] = *found;
  }
  if (said->contains("set_lower")) state["set_lower"] = said->at("set_lower").get<bool>();
  for (const char* key : {"pids", "working"}) {
    if (said->contains(key)) state[key] = claimed_list(said->at(key), kMostNeighbours);
  }
  return state;
}

json told_fault(const json& body) {
  json fault = claimed_object(body.value("fault", json::object()), kMostMembers);
  if (fault.contains("message")) (void)fault.at("message").get<std::string>();
  if (fault.contains("where")) {
    (void)fault.at("where").at("file").get<std::string>();
    (void)claimed_count(fault.at("where").at("line"), kMostLines);
  }
  return fault;
}

}  // namespace assay::node
