#include "engine/node/lifted_launch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace assay::node {
namespace {

using nlohmann::json;

const json* launch_step(const json& steps, std::size_t index) {
  for (const auto& step : steps) {
    if (step.at("do") != "launch") continue;
    if (index == 0) return &step;
    --index;
  }
  return nullptr;
}

std::uint64_t product(const json& triple) {
  std::uint64_t all = 1;
  for (const auto& one : triple) all *= one.get<std::uint32_t>();
  return all;
}

bool are_times(const std::vector<double>& launches_ns, std::size_t launches) {
  if (launches_ns.empty()) return launches == 1;
  return launches_ns.size() == launches &&
         std::all_of(launches_ns.begin(), launches_ns.end(),
                     [](double ns) { return std::isfinite(ns) && ns >= 0; });
}

}  // namespace

std::optional<LiftedLaunch> lifted_launch(const LiftedSequence& sequence,
                                          const CountedLaunch& counted) {
  const std::size_t launches = sequence.kernels.size();
  const json* step = launch_step(sequence.body.at("steps"), counted.index);
  if (step == nullptr || counted.index >= launches || !are_times(counted.launches_ns, launches)) {
    return std::nullopt;
  }
  LiftedLaunch found;
  found.facts = {.grid_blocks = product(step->at("grid")),
                 .block_threads = static_cast<unsigned>(product(step->at("block"))),
                 .registers_per_thread = counted.registers,
                 .shared_bytes_per_block =
                     counted.static_shared_bytes + step->at("shared_bytes").get<std::uint64_t>()};
  json launch = {{"index", counted.index}, {"kernel", sequence.kernels[counted.index]}};
  if (!counted.launches_ns.empty()) {
    const double all_ns =
        std::accumulate(counted.launches_ns.begin(), counted.launches_ns.end(), 0.0);
    found.alone_ns = counted.launches_ns[counted.index];
    launch["ns"] = *found.alone_ns;
    launch["share_pct"] = all_ns > 0 ? json(100 * *found.alone_ns / all_ns) : json(nullptr);
  }
  found.told = {{"launches", launches}, {"launch", std::move(launch)}};
  return found;
}

}  // namespace assay::node
