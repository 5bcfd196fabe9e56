#include "engine/node/gpu_profile.h"

#include <algorithm>

#include "engine/node/kernel_session.h"
#include "engine/node/roof.h"

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

json GpuProfile::count(const KernelSource& source, const Program& program,
                       const contract::Contract& judged, const std::vector<std::string>& counters,
                       CounterValues& values, std::string& entry) {
  KernelSession session(pool_.take({}, GpuPool::Side::judged).process, RunnerRole::gpu_kernel,
                        "/kernel", stop_);
  const auto told = [&]() -> json {
    auto loaded = session.load(source, program, judged, referee_.places());
    if (auto* ended = std::get_if<Ended>(&loaded)) return {{"unavailable", ended->summary}};
    entry = std::get<Loaded>(loaded).entry;
    if (counters.empty()) return json::object();
    auto arena = referee_.fill(0);
    if (auto* ended = std::get_if<Ended>(&arena)) return {{"unavailable", ended->summary}};
    auto counted = session.profile(std::move(std::get<LentArena>(arena)), cupti_, counters);
    if (auto* ended = std::get_if<Ended>(&counted)) return {{"unavailable", ended->summary}};
    auto& found = std::get<Counted>(counted);
    values = std::move(found.values);
    json out = {
        {"passes", found.passes}, {"setup_ms", found.setup_ms}, {"counting_ms", found.counting_ms}};
    if (!found.missing.empty()) out["unavailable"] = found.missing;
    if (!found.refused.empty()) out["refused"] = found.refused;
    return out;
  }();
  used_.push_back(session.release());
  return told;
}

LaunchFacts GpuProfile::facts(const KernelSource& source, const Program& program,
                              const std::string& entry) const {
  const auto launch = program.contract_of(source).launch.value_or(contract::LaunchConfig{});
  LaunchFacts facts{.grid_blocks = product(launch.grid, 1),
                    .block_threads = static_cast<unsigned>(product(launch.block, 256)),
                    .shared_bytes_per_block = launch.shared_mem_bytes.value_or(0)};
  const Gpu& gpu = pool_.gpu();
  facts.multiprocessors = gpu.facts.value("multiprocessors", 0U);
  const json* resources = resources_of(program, entry);
  if (resources == nullptr) return facts;
  facts.registers_per_thread = resources->at("registers").get<unsigned>();
  facts.shared_bytes_per_block += resources->at("static_shared_bytes").get<std::uint64_t>();
  const auto limits = multiprocessor_limits(gpu.compute_major * 10 + gpu.compute_minor);
  if (limits) {
    facts.occupancy = occupancy(*limits, {.threads = std::max(facts.block_threads, 1U),
                                          .registers_per_thread = facts.registers_per_thread,
                                          .shared_bytes = facts.shared_bytes_per_block});
  }
  return facts;
}

json GpuProfile::measure(const KernelSource& source, const Program& program,
                         const contract::Contract& judged, const std::vector<std::string>& sections,
                         const TimingFacts& timing) {
  CounterValues values;
  std::string entry;
  const json told = count(source, program, judged, counters_of(sections), values, entry);
  const LaunchFacts launch = facts(source, program, entry);
  json out = tell_metrics(sections, values, launch);
  out.update(limiter_of(values, launch, timing));
  out.update(told);
  out.update(tell_roof(pool_.gpu().facts, judged, timing.kernel_ns));
  return out;
}

}  // namespace assay::node
