#include "engine/node/launch_resources.h"

#include <algorithm>
#include <cmath>

namespace assay::node {
namespace {

using nlohmann::json;

const json* resources_of(const Program& program, const std::string& entry) {
  for (const auto& kernel : program.kernels) {
    if (kernel.value("symbol", "") != entry) continue;
    const auto found = kernel.find("resources");
    return found == kernel.end() ? nullptr : &*found;
  }
  return nullptr;
}

std::uint64_t product(const std::optional<contract::LaunchDim>& dim, std::uint64_t otherwise) {
  if (!dim) return otherwise;
  return std::uint64_t{dim->x} * dim->y * dim->z;
}

}  // namespace

LaunchFacts launch_facts(const KernelSource& source, const Program& program,
                         const std::string& entry, const Gpu& gpu) {
  const auto launch = program.contract_of(source).launch.value_or(contract::LaunchConfig{});
  LaunchFacts facts{.grid_blocks = product(launch.grid, 1),
                    .block_threads = static_cast<unsigned>(product(launch.block, 256)),
                    .shared_bytes_per_block = launch.shared_mem_bytes.value_or(0)};
  const json* resources = resources_of(program, entry);
  if (resources != nullptr) {
    facts.registers_per_thread = resources->at("registers").get<unsigned>();
    facts.shared_bytes_per_block += resources->at("static_shared_bytes").get<std::uint64_t>();
  }
  add_limits(facts, gpu);
  return facts;
}

void add_limits(LaunchFacts& facts, const Gpu& gpu) {
  facts.multiprocessors = gpu.facts.value("multiprocessors", 0U);
  if (facts.registers_per_thread == 0) return;  // nobody knows
  const auto limits = multiprocessor_limits(gpu.compute_major * 10 + gpu.compute_minor);
  if (limits) {
    facts.occupancy = occupancy(*limits, {.threads = std::max(facts.block_threads, 1U),
                                          .registers_per_thread = facts.registers_per_thread,
                                          .shared_bytes = facts.shared_bytes_per_block});
  }
}

json tell_launch(const KernelSource& source, const Program& program, const std::string& entry,
                 const Gpu& gpu) {
  const json* resources = resources_of(program, entry);
  if (resources == nullptr) return nullptr;
  const LaunchFacts facts = launch_facts(source, program, entry, gpu);
  json out = json::object();
  for (const char* key : {"registers", "stack_bytes", "spill_store_bytes", "spill_load_bytes",
                          "static_shared_bytes"}) {
    out[key] = resources->at(key).get<std::uint64_t>();
  }
  out["dynamic_shared_bytes"] =
      facts.shared_bytes_per_block - out.at("static_shared_bytes").get<std::uint64_t>();
  if (!facts.occupancy) {
    out["occupancy"] = {{"unknown", "the limits of " + gpu.arch() + " are not documented"}};
    return out;
  }
  json limited = json::array();
  for (const Limiter limiter : facts.occupancy->limited_by) limited.push_back(name(limiter));
  out["occupancy"] = {{"percent", std::round(facts.occupancy->percent() * 10) / 10},
                      {"warps_per_multiprocessor", facts.occupancy->warps},
                      {"max_warps_per_multiprocessor", facts.occupancy->max_warps},
                      {"limited_by", std::move(limited)},
                      {"waves", nullptr}};
  const double places = static_cast<double>(facts.occupancy->blocks) * facts.multiprocessors;
  if (places > 0) {
    out["occupancy"]["waves"] = static_cast<double>(facts.grid_blocks) / places;
  }
  return out;
}

}  // namespace assay::node
