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
#include "engine/posix/descriptor.h"
#include "engine/runner/cupti.h"
#include "engine/runner/kernel_record.h"
#include "engine/runner/nvml.h"
#include "engine/runner/sequence.h"

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
  bool keep = false;     // afterwards the run's memory is handed back as the arena `content`
  bool as_left = false;  // not in a graph: begins with what the run before has left in its place
};

enum class TimingView {
  cold,   // caches flushed before each run
  warm,   // its tensors in the caches as far as they fit: put where it works just before
  graph,  // N and 2N runs in a graph: the slope, free of launch costs
};

struct TimingPlan {
  TimingView view = TimingView::cold;
  std::vector<TimedRun> runs{};
  std::uint32_t warmups = 1;
  std::chrono::nanoseconds wall{0};  // beyond this a run counts as one that never ends
  bool tell_state = false;           // of the device, which takes milliseconds to ask
  bool tell_neighbours = false;      // of that state: who else is there
  double ramp_below_mhz = 0;         // runs at a lower clock do not count: clock_ramp.h
  bool precise = false;              // of a graph: longer ones, for a comparison
  bool renews_each = false;          // of a graph: contents are put anew before each launch
  double typical_ns = 0;             // that a launch is known to take; 0: nobody knows
  bool fresh = false;                // nothing that earlier runs left is there
  bool digests = false;              // of what cold and warm runs leave are told
};

// A stretch of graph launches by this process's own clock, beside their events: what the launches
// of a stretch hide from the events is the work of somebody who can write to them.
struct Wall {
  std::uint64_t launches = 0;
  double wall_ns = 0;
  double events_ns = 0;
  // Where those differ by more than launching and waiting takes: what a launch hides, by the least
  // of several looks at N and at 2N launches.
  std::optional<double> hidden_ns{};
};

// The clock was low, and the device was kept busy until it was not, or would not rise.
struct Ramp {
  double from_mhz = 0;
  double ms = 0;
};

struct Timed {
  emulator::Outcome outcome{};        // completed, or why not
  std::vector<double> samples_ns{};   // one per run of the plan; of a graph one per repetition,
                                      // of 2N launches less N, per launch
  std::vector<double> once_ns{};      // of a graph: of its N launches, beside each of those
  std::uint32_t launches = 1;         // of a graph: N
  std::optional<double> clock_mhz{};  // of the multiprocessors, over the whole measurement
  GpuState state{};                   // of the device, during it, if that was asked for
  double event_overhead_ns = 0;       // between two events with nothing in between
  std::string note{};                 // why there are no samples
  std::optional<Wall> wall{};         // of a graph
  std::optional<Ramp> ramp{};         // before what is told here
  // If asked for, and the device can (run_digests.h): of each run what it left, and of each of the
  // staged arenas what runs begin with. Equal ones are of equal bytes.
  std::vector<std::uint64_t> digests{};
  std::vector<std::uint64_t> begun_with{};
};

// The launch of a sequence that was counted: the one that takes the most time.
struct ProfiledLaunch {
  std::size_t index = 0;  // among its launches
  unsigned registers = 0;
  std::uint64_t static_shared_bytes = 0;
  std::vector<double> launches_ns{};  // of each, beginning cold; empty where there is only one
};

struct Profiled {
  emulator::Outcome outcome{};
  std::optional<ProfiledLaunch> launch{};  // of a sequence
  CounterReadings readings{};
  // What each group of the request would take by itself, as far as that is known.
  std::map<std::string, std::size_t> group_passes{};
  KernelActivity activity{};  // where there are no readings
  double setup_ms = 0;
  double counting_ms = 0;
};

// The memory of a run, which the referee made and the engine lends: inputs and room for outputs.
class Arena {
 public:
  Arena() = default;
  virtual ~Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  // Where it begins for the kernel.
  [[nodiscard]] virtual std::uint64_t address() const = 0;
  // Its bytes; empty if the host cannot see them.
  [[nodiscard]] virtual std::span<std::byte> bytes() const { return {}; }
  [[nodiscard]] virtual std::size_t size() const = 0;
};

// What comes with a request: host memory, or a device's.
struct LentMemory {
  posix::Descriptor descriptor{};
  std::size_t size = 0;
  bool on_device = false;
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
  // Takes what was lent into this process. Throws std::runtime_error if it is no such memory. Where
  // a kernel has left a fault, an empty one: what would work in it tells of that.
  [[nodiscard]] virtual std::unique_ptr<Arena> adopt(LentMemory lent) = 0;
  // Runs one launch of the loaded program to its end, whatever that is. A kernel's own failure is
  // an Outcome; an exception is ours. `buffers` are parts of `arena`.
  [[nodiscard]] virtual emulator::Outcome launch(const emulator::Launch& launch,
                                                 std::span<const emulator::Buffer> buffers,
                                                 Arena& arena, const emulator::Budget& budget) = 0;
  // The program's variables are what they were when it was loaded.
  virtual void reload() = 0;
  // Nothing is left of what was loaded, run or staged: for the same client's next attempt. False:
  // that cannot be said of this device.
  [[nodiscard]] virtual bool reset() { return false; }

  // Timing, for devices that have a clock worth reading. stage() takes over the contents that
  // time() puts before its runs and writes kept runs back to; all arenas have one size. Answers how
  // many places runs can work in, at most as many as wished, each with as much scratch at least.
  [[nodiscard]] virtual bool has_clock() const { return false; }
  [[nodiscard]] virtual std::uint32_t stage(std::vector<std::unique_ptr<Arena>>&& /*arenas*/,
                                            std::uint32_t /*places*/,
                                            std::uint64_t /*scratch_bytes*/) {
    return 0;
  }
  // Hardware counters of one launch, each pass beginning with the arena as it is now and cold
  // caches. In a process that times nothing.
  [[nodiscard]] virtual Profiled profile(const emulator::Launch& /*launch*/, Arena& /*arena*/,
                                         const CounterRequest& /*request*/) {
    return {.readings = {.missing = "this device has no counters"}};
  }
  // What such a request needs beside the device, ahead of it: the chip's metrics are read, and what
  // the groups take is found out.
  virtual void ready_counters(const CounterRequest& /*request*/) {}
  [[nodiscard]] virtual Timed time(const TimedLaunch& /*launch*/, const TimingPlan& /*plan*/) {
    return {};
  }
  // Makes the graphs of such a plan ready for a time() to come, if they can be kept until then.
  // Queues nothing. Why a capture failed, after which nobody knows how the process is; else "".
  [[nodiscard]] virtual std::string capture(const TimedLaunch& /*launch*/,
                                            const TimingPlan& /*plan*/) {
    return {};
  }

  // A sequence instead of a program: until the next load() or load_sequence(), launch() and time()
  // are for nobody, and stage() and reload() are its. "" or why the device does not take it.
  [[nodiscard]] virtual std::string load_sequence(Sequence&& /*sequence*/) {
    return "this device runs one kernel at a time";
  }
  // Runs it once on the arena and on scratch of zeros.
  [[nodiscard]] virtual emulator::Outcome run_sequence(Arena& /*arena*/,
                                                       const emulator::Budget& /*budget*/) {
    return {.ending = emulator::Ending::unsupported};
  }
  [[nodiscard]] virtual Timed time_sequence(const TimingPlan& /*plan*/) { return {}; }
  [[nodiscard]] virtual std::string capture_sequence(const TimingPlan& /*plan*/) { return {}; }
  // As profile(), of the launch that takes the most time. Without metrics: which one that is.
  [[nodiscard]] virtual Profiled profile_sequence(Arena& /*arena*/,
                                                  const CounterRequest& /*request*/) {
    return {.readings = {.missing = "this device has no counters"}};
  }
};

// Host memory at an address of the device's choice.
[[nodiscard]] std::unique_ptr<Arena> adopt_host_memory(LentMemory lent, std::uint64_t address);

// What a device maps for an arena, which is in pages.
[[nodiscard]] emulator::Surroundings surroundings_of(const Arena& arena);

[[nodiscard]] std::unique_ptr<Device> make_emulator_device();
// The one GPU that this process is shown. Throws std::runtime_error if there is none to be had.
[[nodiscard]] std::unique_ptr<Device> make_gpu_device();

}  // namespace assay::runner
