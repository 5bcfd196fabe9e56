// A device that executes nothing: it says what it is told to say and remembers what it was asked.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "engine/runner/device.h"

namespace assay::runner {

class FakeDevice final : public Device {
 public:
  static constexpr std::uint64_t kArena = 0x5000'0000;

  Loaded answer = std::vector<emulator::KernelInfo>{};
  emulator::Outcome outcome{};
  // Written to the first byte of every buffer, as a kernel would.
  std::byte writes{0};

  std::vector<std::string> programs{};
  std::vector<std::string> cubins{};
  std::vector<emulator::Launch> launches{};
  std::vector<std::string> buffer_names{};
  std::vector<std::uint64_t> buffer_addresses{};
  int reloads = 0;
  Profiled profiled{};
  CounterRequest readied{};
  bool clock = false;
  // Of each plan that was to be captured or timed, what it repeats.
  std::vector<std::pair<std::string, std::size_t>> plans{};

  Loaded load(const ProgramText& program) override {
    programs.emplace_back(program.ptx);
    cubins.emplace_back(program.cubin);
    return answer;
  }
  std::unique_ptr<Arena> adopt(LentMemory lent) override {
    return adopt_host_memory(std::move(lent), kArena);
  }
  emulator::Outcome launch(const emulator::Launch& launch,
                           std::span<const emulator::Buffer> buffers, Arena&,
                           const emulator::Budget&) override {
    launches.push_back(launch);
    for (const auto& buffer : buffers) {
      buffer_names.push_back(buffer.name);
      buffer_addresses.push_back(buffer.address);
      if (!buffer.bytes.empty()) buffer.bytes[0] = writes;
    }
    return outcome;
  }
  void reload() override { ++reloads; }
  bool has_clock() const override { return clock; }
  std::uint32_t stage(std::vector<std::unique_ptr<Arena>>&&, std::uint32_t places,
                      std::uint64_t) override {
    return places;
  }
  std::string capture(const TimedLaunch&, const TimingPlan& plan) override {
    plans.emplace_back("capture", plan.runs.size());
    return "no reason";
  }
  Timed time(const TimedLaunch&, const TimingPlan& plan) override {
    plans.emplace_back("time", plan.runs.size());
    return {.outcome = {.ending = emulator::Ending::completed}, .samples_ns = {1}};
  }
  Profiled profile(const emulator::Launch&, Arena&, const CounterRequest&) override {
    return profiled;
  }
  void ready_counters(const CounterRequest& request) override { readied = request; }
  std::string load_sequence(Sequence&&) override { return {}; }
  Profiled profile_sequence(Arena&, const CounterRequest& request) override {
    readied = request;
    return profiled;
  }
};

}  // namespace assay::runner
