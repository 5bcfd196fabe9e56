#include "engine/node/floor.h"

#include <algorithm>
#include <array>

#include "engine/node/cold_stop.h"
#include "engine/node/roof.h"

namespace assay::node {
namespace {

using nlohmann::json;

// 10 · major + minor of devices that share the host's memory: its rate is not what clock and width
// of a bus would give.
constexpr std::array kIntegrated{32, 53, 62, 72, 87, 101, 110, 121};

std::uint64_t positive(const json& facts, const char* key) {
  const auto found = facts.find(key);
  const bool is_there = found != facts.end() && found->is_number_integer();
  return is_there && found->get<std::int64_t>() > 0 ? found->get<std::uint64_t>() : 0;
}

bool has_memory_of_its_own(const json& facts) {
  const auto capability = 10 * positive(facts, "compute_major") + positive(facts, "compute_minor");
  return capability != 0 && std::find(kIntegrated.begin(), kIntegrated.end(),
                                      static_cast<int>(capability)) == kIntegrated.end();
}

std::uint64_t output_bytes(const contract::Contract& contract) {
  std::uint64_t bytes = 0;
  for (const auto& arg : contract.args) {
    if (!arg.is_tensor() || arg.role != contract::Role::output) continue;
    // What begins with contents need not be written.
    if (arg.tensor_spec->init || arg.tensor_spec->data) continue;
    // Elements that share memory are moved once.
    bytes += std::min(arg.tensor_spec->contiguous_bytes(), arg.tensor_spec->buffer_bytes());
  }
  return bytes;
}

}  // namespace

Floor floor_of(const json& facts, const contract::Contract& contract, bool writes_all) {
  Floor floor{.bytes = least_bytes(contract), .l2_bytes = positive(facts, "l2_bytes")};
  const auto rate = roof_of(facts).bytes_per_second;
  if (rate) floor.ns = 1e9 * static_cast<double>(floor.bytes) / *rate;
  if (!rate || !writes_all || floor.l2_bytes == 0 || !has_memory_of_its_own(facts)) return floor;
  const std::uint64_t written = output_bytes(contract);
  floor.must_bytes = written > floor.l2_bytes ? written - floor.l2_bytes : 0;
  floor.must_ns = 1e9 * static_cast<double>(floor.must_bytes) / *rate;
  return floor;
}

json tell(const Floor& floor, std::optional<double> kernel_ns) {
  json told = {
      {"bytes", floor.bytes},
      {"ns", nullptr},
      {"share_pct", nullptr},
      {"must_bytes", floor.must_bytes},
      {"must_ns", nullptr},
      {"note",
       "Every tensor read or written once at the memory's own rate; a kernel that need not touch "
       "all of them may be faster. `must`: outputs beyond the L2, which no kernel is faster "
       "than."}};
  if (floor.ns) told["ns"] = *floor.ns;
  if (floor.must_ns) told["must_ns"] = *floor.must_ns;
  if (floor.ns && kernel_ns && *kernel_ns > 0 && floor.bytes > floor.l2_bytes) {
    const double share_pct = 100 * *floor.ns / *kernel_ns;
    if (share_pct <= kMostSharePct) told["share_pct"] = share_pct;
  }
  return told;
}

bool is_below(const Floor& floor, double claimed_ns) {
  const double must_ns = floor.must_ns.value_or(0);
  return claimed_ns + kEventResolutionNs < kShareOfMust * must_ns;
}

}  // namespace assay::node
