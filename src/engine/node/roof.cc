#include "engine/node/roof.h"

#include <algorithm>
#include <array>

namespace assay::node {
namespace {

using nlohmann::json;

// Single-precision lanes of a multiprocessor, by compute capability (CUDA C++ Programming Guide,
// throughput of native arithmetic instructions).
struct Lanes {
  int from = 0;  // 10 · major + minor
  int to = 0;
  double count = 0;
};
constexpr std::array kLanes{Lanes{50, 53, 128}, Lanes{60, 60, 64},   Lanes{61, 62, 128},
                            Lanes{70, 75, 64},  Lanes{80, 80, 64},   Lanes{86, 89, 128},
                            Lanes{90, 90, 128}, Lanes{100, 121, 128}};

double number(const json& facts, const char* key) {
  const auto found = facts.find(key);
  return found != facts.end() && found->is_number() ? found->get<double>() : 0;
}

json or_null(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

}  // namespace

Roof roof_of(const json& facts) {
  Roof roof;
  const int capability =
      static_cast<int>(10 * number(facts, "compute_major") + number(facts, "compute_minor"));
  const auto lanes = std::find_if(kLanes.begin(), kLanes.end(), [&](const Lanes& one) {
    return capability >= one.from && capability <= one.to;
  });
  const double cycles = 1e3 * number(facts, "clock_khz") * number(facts, "multiprocessors");
  if (lanes != kLanes.end() && cycles > 0) roof.flops_per_second = 2 * lanes->count * cycles;
  // Two transfers per clock.
  const double traffic =
      2 * 1e3 * number(facts, "memory_clock_khz") * number(facts, "memory_bus_bits") / 8;
  if (traffic > 0) roof.bytes_per_second = traffic;
  return roof;
}

std::uint64_t least_bytes(const contract::Contract& contract) {
  std::uint64_t bytes = 0;
  for (const auto& arg : contract.args) {
    if (!arg.is_tensor()) continue;
    const std::uint64_t once = arg.tensor_spec->contiguous_bytes();
    bytes += (arg.is_read() ? once : 0) + (arg.is_written() ? once : 0);
  }
  return bytes;
}

std::optional<double> Traffic::reached() const {
  if (!kernel_ns || *kernel_ns <= 0) return std::nullopt;
  return 1e9 * bytes / *kernel_ns;
}

std::optional<double> Traffic::share_pct() const {
  if (!roof || *roof <= 0) return std::nullopt;
  if (!stays_in_l2 && kernel_ns && *kernel_ns > 0) return 100 * *reached() / *roof;
  if (cold_bytes <= 0 || !cold_ns || *cold_ns <= 0) return std::nullopt;
  return 100 * 1e9 * cold_bytes / *cold_ns / *roof;
}

Traffic traffic_of(const json& facts, const contract::Contract& contract,
                   std::optional<double> kernel_ns, std::optional<double> cold_ns) {
  Traffic traffic{.bytes = static_cast<double>(least_bytes(contract)),
                  .roof = roof_of(facts).bytes_per_second,
                  .kernel_ns = kernel_ns,
                  .cold_ns = cold_ns};
  // What is written may still be in the L2 when the kernel ends.
  for (const auto& arg : contract.args) {
    if (arg.is_tensor() && arg.is_read()) {
      traffic.cold_bytes += static_cast<double>(arg.tensor_spec->contiguous_bytes());
    }
  }
  traffic.stays_in_l2 = traffic.bytes <= number(facts, "l2_bytes");
  return traffic;
}

json tell_roof(const json& facts, const Traffic& traffic) {
  const Roof roof = roof_of(facts);
  json told = {
      {"roof",
       {{"gpu", facts.value("name", json(nullptr))},
        {"flops_per_second", or_null(roof.flops_per_second)},
        {"bytes_per_second", or_null(roof.bytes_per_second)},
        {"note",
         "At the highest clocks: float32 without tensor cores, and the memory's own rate, of "
         "which a copy reaches about nine tenths."}}}};
  json& floor = told["floor"] = {
      {"bytes", traffic.bytes},
      {"ns", nullptr},
      {"share_pct", nullptr},
      {"gb_s", nullptr},
      {"note",
       "Every tensor read or written once at the memory's own rate. A kernel that need not touch "
       "all of them may be faster."}};
  if (const auto reached = traffic.reached()) floor["gb_s"] = *reached * 1e-9;
  if (!traffic.roof) return told;
  floor["ns"] = 1e9 * traffic.bytes / *traffic.roof;
  const auto share = traffic.share_pct();
  if (!traffic.stays_in_l2 && traffic.kernel_ns && share && *share <= kMostSharePct) {
    floor["share_pct"] = *share;
  }
  return told;
}

}  // namespace assay::node
