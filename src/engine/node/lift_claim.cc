#include "engine/node/lift_claim.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::size_t kMostSteps = 512;
constexpr std::size_t kMostRegions = 4096;
constexpr std::size_t kMostOutputs = 64;
constexpr std::size_t kMostTraits = 8;
constexpr std::size_t kMostParameterBytes = 32U << 10;  // that a launch takes on any device
constexpr std::size_t kMostNameBytes = 16U << 10;       // templates of templates
// Of all launches together: what is made of them must fit into a frame.
constexpr std::size_t kMostAllParameterBytes = 1U << 20;
constexpr std::size_t kMostAllNameBytes = 1U << 20;
constexpr std::size_t kToldBytes = 300;
// Launch attributes that are numbers (CUlaunchAttributeID): cooperative, cluster dimension, cluster
// scheduling, programmatic serialization.
constexpr std::array<int, 4> kHonoured{2, 4, 5, 6};

// Inside this file only: becomes the answer of captured_call().
class Nonsense : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void require(bool holds, const char* what) {
  if (!holds) throw Nonsense(what);
}

std::uint64_t number(const json& value) {
  require(value.is_number_unsigned(), "a size that is none");
  return value.get<std::uint64_t>();
}

std::uint32_t small(const json& value) {
  const std::uint64_t wide = number(value);
  require(wide <= std::numeric_limits<std::uint32_t>::max(), "a size beyond all sizes");
  return static_cast<std::uint32_t>(wide);
}

CapturedRange range(std::uint64_t address, std::uint64_t bytes) {
  require(bytes <= std::numeric_limits<std::uint64_t>::max() - address,
          "a range beyond all addresses");
  return {.address = address, .bytes = bytes};
}

std::array<std::uint32_t, 3> triple(const json& list) {
  require(list.is_array() && list.size() == 3, "a dimension that is none");
  return {small(list[0]), small(list[1]), small(list[2])};
}

std::vector<CapturedRange> regions_of(const json& list) {
  require(list.is_array() && list.size() <= kMostRegions, "too many buffers");
  std::vector<CapturedRange> regions;
  for (const auto& item : list) regions.push_back(range(number(item.at(0)), number(item.at(1))));
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  for (std::size_t i = 1; i < regions.size(); ++i) {
    const CapturedRange& before = regions[i - 1];
    require(before.address + before.bytes <= regions[i].address,
            "memory that was freed and taken again in other sizes");
  }
  return regions;
}

std::vector<CapturedOutput> outputs_of(const json& list, const CapturedRange& arena) {
  require(list.is_array() && list.size() <= kMostOutputs, "too many outputs");
  std::vector<CapturedOutput> outputs;
  for (const auto& item : list) {
    const CapturedRange from = range(number(item.at(0)), number(item.at(2)));
    const std::uint64_t to = number(item.at(1));
    require(to >= arena.address && to - arena.address <= arena.bytes &&
                from.bytes <= arena.bytes - (to - arena.address),
            "an output beside the memory it was lent");
    outputs.push_back({.range = from, .place = to - arena.address});
  }
  return outputs;
}

void read_launch(const json& item, std::string_view& parameters, CapturedStep& step) {
  step.program = small(item.at("program"));
  step.entry = item.at("entry").get<std::string>();
  require(!step.entry.empty() && step.entry.size() <= kMostNameBytes, "a kernel without a name");
  step.grid = triple(item.at("grid"));
  step.block = triple(item.at("block"));
  step.shared_bytes = small(item.at("shared_bytes"));
  const std::uint64_t bytes = number(item.at("parameter_bytes"));
  require(bytes <= kMostParameterBytes && bytes <= parameters.size(),
          "parameters that are missing");
  step.parameters = parameters.substr(0, bytes);
  parameters.remove_prefix(bytes);
  const json& traits = item.at("traits");
  require(traits.is_array() && traits.size() <= kMostTraits, "too many launch attributes");
  for (const auto& trait : traits) {
    step.traits.push_back(trait.get<std::array<int, 4>>());
    require(std::find(kHonoured.begin(), kHonoured.end(), step.traits.back()[0]) != kHonoured.end(),
            "a launch attribute that cannot be honoured");
  }
}

void read_move(const json& item, CapturedStep& step) {
  step.to = number(item.at("to"));
  step.bytes = number(item.at("bytes"));
  if (step.what == "copy") {
    step.from = number(item.at("from"));
    return;
  }
  step.value = small(item.at("value"));
  step.width = small(item.at("width"));
  require(step.width == 1 || step.width == 2 || step.width == 4, "a fill of an odd width");
  require(step.to % step.width == 0 && step.bytes % step.width == 0, "a fill out of step");
}

CapturedCall decoded(const json& body, std::string_view parameters, std::uint64_t arena_bytes) {
  CapturedCall call{.refused = body.at("refused").get<std::string>().substr(0, kToldBytes)};
  if (!call.refused.empty()) return call;
  call.arena = range(number(body.at("address")), arena_bytes);
  call.regions = regions_of(body.at("regions"));
  call.outputs = outputs_of(body.at("outputs"), call.arena);
  const json& steps = body.at("steps");
  require(steps.is_array() && steps.size() <= kMostSteps, "too many steps");
  require(parameters.size() <= kMostAllParameterBytes, "too many parameters");
  std::size_t name_bytes = 0;
  for (const auto& item : steps) {
    CapturedStep step{.what = item.at("do").get<std::string>()};
    if (step.what == "launch") {
      read_launch(item, parameters, step);
      name_bytes += step.entry.size();
      require(name_bytes <= kMostAllNameBytes, "names of kernels that are too long");
    } else {
      require(step.what == "copy" || step.what == "fill", "a step of no kind");
      read_move(item, step);
    }
    call.steps.push_back(std::move(step));
  }
  return call;
}

}  // namespace

std::variant<CapturedCall, std::string> captured_call(const json& body, std::string_view parameters,
                                                      std::uint64_t arena_bytes) {
  try {
    return decoded(body, parameters, arena_bytes);
  } catch (const Nonsense& nonsense) {
    return std::string(nonsense.what());
  }
}

}  // namespace assay::node
