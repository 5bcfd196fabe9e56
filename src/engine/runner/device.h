// What a kernel runner needs of the device it runs on. The emulator is one (emulator_device.cc),
// the driver of a GPU another (gpu_device.cc), tests have a fake: the role that speaks to the
// engine (kernel_role.cc) knows none of them. The values that pass are those of emulator.h, which
// are plain and name no device.
//
// One program at a time, one launch at a time; used by the runner's one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/emulator/emulator.h"

namespace assay::runner {

// What the compiler made: PTX, and machine code for the device if it has an instruction set of its
// own.
struct ProgramText {
  std::string_view ptx{};
  std::string_view cubin{};
};

// One kernel as it is timed: the launch, and where in the parameter block the tensors' addresses
// stand, so that each run can be given tensors elsewhere.
struct TimedLaunch {
  emulator::Launch launch{};  // parameters: as for an arena at address 0
  std::vector<std::size_t> pointer_offsets{};
};

// One timed run. `content` says which of the staged arenas the run begins with, `place` where it is
// put: neither tells a kernel which run it is.
struct TimedRun {
  std::uint32_t place = 0;
  std::uint32_t content = 0;
  bool keep = false;  // afterwards the run's memory is handed back as the arena `content`
};

enum class TimingView {
  cold,   // caches flushed before each run
  warm,   // the same run once before
  graph,  // N and 2N runs in a graph: the slope, free of launch costs
};

struct TimingPlan {
  TimingView view = TimingView::cold;
  std::vector<TimedRun> runs{};
  std::uint32_t warmups = 1;
  std::chrono::nanoseconds wall{0};  // beyond this a run counts as one that never ends
};

struct Timed {
  emulator::Outcome outcome{};        // completed, or why not
  std::vector<double> samples_ns{};   // one per run of the plan; of a graph one per repetition
  std::uint32_t launches = 1;         // of a graph: N
  std::optional<double> clock_mhz{};  // of the multiprocessors, over the whole measurement
  double event_overhead_ns = 0;       // between two events with nothing in between
  std::string note{};                 // why there are no samples
};

class Device {
 public:
  using Loaded = std::variant<std::vector<emulator::KernelInfo>, emulator::ParseError>;

  Device() = default;
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // The kernels of a program, which takes the place of the last one.
  [[nodiscard]] virtual Loaded load(const ProgramText& program) = 0;
  // Where an arena of that size appears to the kernel.
  [[nodiscard]] virtual std::uint64_t arena_address(std::size_t bytes) = 0;
  // Runs one launch of the loaded program to its end, whatever that is. A kernel's own failure is
  // an Outcome; an exception is ours. `buffers` are parts of `arena`.
  [[nodiscard]] virtual emulator::Outcome launch(const emulator::Launch& launch,
                                                 std::span<const emulator::Buffer> buffers,
                                                 std::span<std::byte> arena,
                                                 const emulator::Budget& budget) = 0;
  // The program's variables are what they were when it was loaded.
  virtual void reload() = 0;

  // Timing, for devices that have a clock worth reading. stage() takes over the contents that
  // time() puts before its runs and writes kept runs back to; all arenas have one size.
  [[nodiscard]] virtual bool has_clock() const { return false; }
  virtual void stage(const std::vector<std::span<std::byte>>& /*arenas*/) {}
  [[nodiscard]] virtual Timed time(const TimedLaunch& /*launch*/, const TimingPlan& /*plan*/) {
    return {};
  }
};

[[nodiscard]] std::unique_ptr<Device> make_emulator_device();
// The one GPU that this process is shown. Throws std::runtime_error if there is none to be had.
[[nodiscard]] std::unique_ptr<Device> make_gpu_device();

}  // namespace assay::runner
