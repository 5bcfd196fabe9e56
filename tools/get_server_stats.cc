// get_server_stats: the numbers of /stats, for a model.
#include <cmath>

#include "tools/old_arguments.h"
#include "tools/schemas.h"
#include "tools/server_stats.h"
#include "tools/tools.h"

namespace assay::tools {
namespace {

using mcp::CallContext;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

std::string percent(const OrderedJson& share) {
  if (!share.is_number()) return "none yet";
  return std::to_string(std::lround(share.get<double>() * 100)) + " %";
}

std::string describe(const OrderedJson& stats) {
  const OrderedJson& through = stats.at("throughput");
  const OrderedJson& compiled = stats.at("compilation_metrics");
  return std::to_string(stats.at("gpu_count").get<std::size_t>()) +
         " GPUs; jobs since the start: " + through.at("total_requests").dump() +
         ", active: " + through.at("active_jobs").dump() +
         ", ended by a fault: " + through.at("failed_requests").dump() +
         "\ncompiled: " + percent(compiled.at("success_rate")) +
         ", from the cache: " + percent(compiled.at("cache_hit_rate")) +
         ", outputs right: " + percent(stats.at("profiling_metrics").at("correctness_rate"));
}

}  // namespace

mcp::Tool get_server_stats(Jobs& jobs) {
  return {.name = "get_server_stats",
          .title = "Get server statistics",
          .description =
              "Jobs, compilations, GPU use and latencies, counted since this server "
              "started.",
          .annotations = {.read_only = true,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema("get_server_stats.input.json"),
          .output_schema = schema("server_stats.json"),
          .run =
              [&jobs](const Json&, CallContext&) {
                ToolResult result{.structured = server_stats(jobs)};
                result.text = describe(result.structured);
                return result;
              },
          .adapt = without_request};
}

}  // namespace assay::tools
