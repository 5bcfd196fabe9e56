#include "engine/node/lift_match.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace assay::node {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostScratchBytes = 256ULL << 20;
constexpr std::uint64_t kAlignment = 512;
// What lies between the members of a functor, of an iterator's strides, of a shape.
constexpr std::uint64_t kMostBlankedBytes = 64;
constexpr std::size_t kToldNameBytes = 200;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Where an address lies: in the arena, or in one of the process's own buffers.
struct Spot {
  std::optional<std::size_t> region{};  // of the call's list; none: the arena
  std::uint64_t offset = 0;
};

std::optional<Spot> find(const CapturedCall& call, std::uint64_t address) {
  if (call.arena.holds(address)) return Spot{.offset = address - call.arena.address};
  for (const auto& output : call.outputs) {
    if (output.range.holds(address)) {
      return Spot{.offset = output.place + (address - output.range.address)};
    }
  }
  for (std::size_t i = 0; i < call.regions.size(); ++i) {
    if (!call.regions[i].holds(address)) continue;
    return Spot{.region = i, .offset = address - call.regions[i].address};
  }
  return std::nullopt;
}

class Matcher {
 public:
  Matcher(const CapturedCall& one, const CapturedCall& other) : one_(one), other_(other) {}

  std::variant<LiftedWork, std::string> match() {
    if (one_.steps.size() != other_.steps.size()) {
      return "a call does " + std::to_string(one_.steps.size()) + " steps, another " +
             std::to_string(other_.steps.size());
    }
    work_.scratch_begin = work_.memory_bytes = aligned(one_.arena.bytes);
    for (std::size_t i = 0; i < one_.steps.size() && failure_.empty(); ++i) {
      take(one_.steps[i], other_.steps[i]);
    }
    if (failure_.empty() && work_.kernels.empty()) failure_ = "it launches nothing";
    if (failure_.empty() && work_.scratch_bytes() > kMostScratchBytes) {
      failure_ = "it uses " + std::to_string(work_.scratch_bytes() >> 20) +
                 " MiB of buffers that are neither input nor output, beyond " +
                 std::to_string(kMostScratchBytes >> 20);
    }
    if (!failure_.empty()) return std::move(failure_);
    return std::move(work_);
  }

 private:
  void fail(std::string why) {
    if (failure_.empty()) failure_ = std::move(why);
  }

  void take(const CapturedStep& one, const CapturedStep& other) {
    if (one.what != other.what) return fail("what it does differs from call to call");
    if (one.what == "launch") return take_launch(one, other);
    if (one.bytes != other.bytes || one.value != other.value || one.width != other.width) {
      return fail("a " + one.what + " differs from call to call");
    }
    json step = {{"do", one.what}, {"bytes", one.bytes}};
    if (!put(step, "to", one.to, other.to, one.bytes)) return;
    if (one.what == "copy") {
      if (!put(step, "from", one.from, other.from, one.bytes)) return;
    } else {
      step["value"] = one.value;
      step["width"] = one.width;
    }
    work_.steps.push_back(std::move(step));
  }

  void take_launch(const CapturedStep& one, const CapturedStep& other) {
    const std::string name = one.entry.substr(0, kToldNameBytes);
    if (one.entry != other.entry || one.program != other.program) {
      return fail("which kernels it launches differs from call to call (" + name + ", " +
                  other.entry.substr(0, kToldNameBytes) + ")");
    }
    if (one.grid != other.grid || one.block != other.block ||
        one.shared_bytes != other.shared_bytes || one.traits != other.traits) {
      return fail("the launch of " + name + " differs from call to call");
    }
    if (one.parameters.size() != other.parameters.size()) {
      return fail("the parameters of " + name + " differ from call to call");
    }
    json pointers = json::array();
    std::string block = one.parameters;
    const std::uint64_t blanked_before = work_.blanked_bytes;
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= block.size(); at += sizeof(std::uint64_t)) {
      if (!take_word(other.parameters, at, name, block, pointers)) return;
    }
    blank(other.parameters, at, block.size(), block);
    if (work_.blanked_bytes - blanked_before > kMostBlankedBytes) {
      return fail("numbers that " + name + " is given differ from call to call");
    }
    work_.kernels.push_back(name);
    work_.parameters += block;
    json traits = one.traits;
    work_.steps.push_back({{"do", "launch"},
                           {"program", number_of(one.program)},
                           {"entry", one.entry},
                           {"grid", one.grid},
                           {"block", one.block},
                           {"shared_bytes", one.shared_bytes},
                           {"parameter_bytes", block.size()},
                           {"pointers", std::move(pointers)},
                           {"traits", std::move(traits)}});
  }

  // One aligned word of a parameter block: an address in both, or a number.
  bool take_word(const std::string& others, std::size_t at, const std::string& name,
                 std::string& block, json& pointers) {
    std::uint64_t one = 0;
    std::uint64_t other = 0;
    std::memcpy(&one, block.data() + at, sizeof one);
    std::memcpy(&other, others.data() + at, sizeof other);
    const auto here = find(one_, one);
    const auto there = find(other_, other);
    if (!here || !there) {
      blank(others, at, at + sizeof one, block);
      return true;
    }
    const auto offset = common(here, there);
    if (!offset) {
      fail("the buffers of " + name + " differ from call to call");
      return false;
    }
    std::memcpy(block.data() + at, &*offset, sizeof *offset);
    pointers.push_back(at);
    return true;
  }

  void blank(const std::string& others, std::size_t begin, std::size_t end, std::string& block) {
    for (std::size_t i = begin; i < end; ++i) {
      if (block[i] == others[i]) continue;
      block[i] = 0;
      ++work_.blanked_bytes;
    }
  }

  bool put(json& step, const char* key, std::uint64_t one, std::uint64_t other,
           std::uint64_t bytes) {
    const auto offset = common(find(one_, one), find(other_, other));
    const bool fits =
        offset && *offset <= work_.memory_bytes && bytes <= work_.memory_bytes - *offset;
    if (!fits) {
      fail("a " + step.at("do").get<std::string>() +
           " between memory that is not the device's, or "
           "that differs from call to call");
      return false;
    }
    step[key] = *offset;
    return true;
  }

  // The offset into the memory of a run, if both mean the same.
  std::optional<std::uint64_t> common(const std::optional<Spot>& one,
                                      const std::optional<Spot>& other) {
    if (!one || !other || one->offset != other->offset ||
        one->region.has_value() != other->region.has_value()) {
      return std::nullopt;
    }
    if (!one->region) return one->offset;
    const auto begin = scratch_of(*one->region, *other->region);
    return begin ? std::optional(*begin + one->offset) : std::nullopt;
  }

  // Buffers are paired as they are met; each is the other's for good.
  std::optional<std::uint64_t> scratch_of(std::size_t one, std::size_t other) {
    const CapturedRange& range = one_.regions[one];
    // What lies round the lent memory is nobody's buffer.
    if (range.holds(one_.arena.address)) return std::nullopt;
    const auto known = pairs_.find(one);
    if (known != pairs_.end()) {
      return known->second.other == other ? std::optional(known->second.begin) : std::nullopt;
    }
    const bool taken = std::any_of(pairs_.begin(), pairs_.end(),
                                   [&](const auto& pair) { return pair.second.other == other; });
    if (taken || range.bytes != other_.regions[other].bytes) return std::nullopt;
    const std::uint64_t begin = work_.memory_bytes;
    // Beyond the cap nothing is added up: it is refused as it is.
    if (range.bytes > kMostScratchBytes * 4) {
      fail("a buffer of " + std::to_string(range.bytes >> 20) +
           " MiB that is neither input nor output");
      return std::nullopt;
    }
    pairs_[one] = {.other = other, .begin = begin};
    work_.scratch.push_back(range.bytes);
    work_.scratch_begins.push_back(begin);
    work_.memory_bytes += aligned(range.bytes);
    return begin;
  }

  std::size_t number_of(std::size_t program) {
    const auto known = std::find(work_.programs.begin(), work_.programs.end(), program);
    if (known != work_.programs.end()) {
      return static_cast<std::size_t>(known - work_.programs.begin());
    }
    work_.programs.push_back(program);
    return work_.programs.size() - 1;
  }

  struct Pair {
    std::size_t other = 0;
    std::uint64_t begin = 0;  // in the memory of a run
  };
  const CapturedCall& one_;
  const CapturedCall& other_;
  LiftedWork work_{};
  std::map<std::size_t, Pair> pairs_{};  // by region of the first call
  std::string failure_{};
};

// By the program that holds it, and its name.
std::map<std::pair<std::size_t, std::string>, std::size_t> launches_by_kernel(
    const CapturedCall& call) {
  std::map<std::pair<std::size_t, std::string>, std::size_t> launches;
  for (const CapturedStep& step : call.steps) {
    if (step.what == "launch") ++launches[{step.program, step.entry}];
  }
  return launches;
}

}  // namespace

std::variant<LiftedWork, std::string> matched(const CapturedCall& one, const CapturedCall& other) {
  for (const CapturedCall* call : {&one, &other}) {
    if (!call->refused.empty()) return call->refused;
  }
  return Matcher(one, other).match();
}

json kernel_set(const CapturedCall& one, const CapturedCall& other) {
  json item = {{"check", "kernel_set"}, {"result", "unknown"}};
  for (const CapturedCall* call : {&one, &other}) {
    if (call->refused.empty()) continue;
    item["detail"] = "its launches are not all known: " + call->refused;
    return item;
  }
  const auto launched = launches_by_kernel(one);
  if (launched != launches_by_kernel(other)) {
    item["detail"] = "calls on different inputs launch different kernels, or not as often";
    return item;
  }
  std::size_t launches = 0;
  for (const auto& [kernel, times] : launched) launches += times;
  item["result"] = "agrees";
  item["detail"] =
      "calls on different inputs launch the same kernels: " + std::to_string(launched.size()) +
      ", in " + std::to_string(launches) + " launches";
  return item;
}

}  // namespace assay::node
