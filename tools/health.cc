#include "tools/health.h"

#include <exception>
#include <string>
#include <vector>

#include "tools/preconditions.h"
#include "tools/server_stats.h"

namespace assay::tools {
namespace {

using mcp::OrderedJson;
using nlohmann::json;

struct Problem {
  std::string what;
  std::string cause{};
};
using Problems = std::vector<Problem>;

void tell_journal(Jobs& jobs, Telling telling, OrderedJson& told, Problems& problems) {
  try {
    if (telling == Telling::everything) told["job_stats"] = job_stats(jobs);
    jobs.require_writable();
  } catch (const std::exception& error) {
    problems.push_back({"the journal takes no jobs", error.what()});
  }
}

OrderedJson devices(const json& capabilities) {
  OrderedJson list = OrderedJson::array();
  for (const auto& device : capabilities.value("devices", json::array())) {
    OrderedJson one = {{"name", device.value("name", "")}, {"kind", device.value("kind", "")}};
    if (device.contains("model")) one["model"] = device.at("model");
    if (device.contains("arch")) one["arch"] = device.at("arch");
    if (device.contains("health")) one["condition"] = device.at("health").at("condition");
    if (device.contains("jobs")) one["jobs"] = device.at("jobs");
    list.push_back(std::move(one));
  }
  return list;
}

OrderedJson backends(const json& capabilities, Telling telling, bool& any) {
  OrderedJson list = OrderedJson::object();
  const json types = capabilities.value("kernel_types", json::object());
  for (const auto& [name, type] : types.items()) {
    const bool supported = type.value("supported", false);
    any = any || supported;
    if (supported)
      list[name] = type.value("runs_on", "yes");
    else
      list[name] = telling == Telling::names ? "no" : "no: " + type.value("missing", "");
  }
  return list;
}

// One in quarantine is not available; a server whose GPUs all are does not do what it is there for.
void tell_gpus(const json& capabilities, OrderedJson& told, Problems& problems) {
  OrderedJson available = OrderedJson::array();
  std::size_t shut_away = 0;
  for (const auto& device : capabilities.value("devices", json::array())) {
    if (device.value("kind", "") != "gpu") continue;
    const json health = device.value("health", json::object());
    if (health.value("condition", "") == "quarantined") {
      ++shut_away;
    } else {
      available.push_back(device.value("index", 0));
    }
  }
  if (shut_away > 0 && available.empty())
    problems.push_back({"every GPU is in quarantine: see check_capabilities"});
  told["gpu_manager"] = {{"available_gpus", std::move(available)}};
}

void tell_engine(Jobs& jobs, Telling telling, OrderedJson& told, Problems& problems) {
  try {
    const json seen = jobs.capabilities(true);
    tell_gpus(seen, told, problems);
    told["devices"] = devices(seen);
    bool any = false;
    told["backends"] = backends(seen, telling, any);
    if (!any) problems.push_back({"no kernel type can be judged here: see check_capabilities"});
    const json isolation = seen.value("isolation", json::object());
    const std::string level = isolation.value("level", "");
    const std::string required = isolation.value("required", level);
    told["isolation"] = level;
    if (const std::string failure = isolation.value("failure", ""); !failure.empty())
      problems.push_back({"runners cannot be confined", failure});
    else if (!is_at_least(level, required))
      problems.push_back({"runners are confined at " + level + ", " + required + " is demanded"});
  } catch (const std::exception& error) {
    problems.push_back({"the engine does not answer", error.what()});
  }
}

}  // namespace

Health health(Jobs& jobs, Telling telling) {
  Health health;
  Problems problems;
  health.told["status"] = "healthy";
  tell_journal(jobs, telling, health.told, problems);
  tell_engine(jobs, telling, health.told, problems);
  if (telling == Telling::everything) health.told["active_jobs"] = jobs.counters().counts().active;
  OrderedJson lines = OrderedJson::array();
  for (const Problem& problem : problems) {
    const bool whole = telling == Telling::everything && !problem.cause.empty();
    lines.push_back(whole ? problem.what + ": " + problem.cause : problem.what);
  }
  health.healthy = problems.empty();
  if (!health.healthy) {
    health.told["status"] = "unhealthy";
    health.told["error"] = lines.front();
  }
  health.told["problems"] = std::move(lines);
  return health;
}

}  // namespace assay::tools
