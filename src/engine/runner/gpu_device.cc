// A GPU through the driver. What a program's kernels take is read from its PTX, as for the
// emulator; what runs is the cubin.
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "engine/runner/captured_output.h"
#include "engine/runner/device.h"
#include "engine/runner/gpu_counting.h"
#include "engine/runner/gpu_launch.h"
#include "engine/runner/gpu_mapping.h"
#include "engine/runner/gpu_sequence.h"
#include "engine/runner/gpu_textures.h"
#include "engine/runner/gpu_timer.h"
#include "engine/runner/late_reading.h"
#include "engine/runner/one_launch.h"
#include "engine/source/ptx_variables.h"

namespace assay::runner {
namespace {

using Clock = std::chrono::steady_clock;
using emulator::Ending;
using emulator::Outcome;

// Of a reading that takes milliseconds.
constexpr std::chrono::seconds kStateLimit{1};

// Host memory with a place on the device: copied there before a run and back after it.
class CopiedArena final : public Arena {
 public:
  CopiedArena(const GpuContext& context, LentMemory lent)
      : host_(adopt_host_memory(std::move(lent), 0)), device_(context) {
    device_.reserve(std::max<std::size_t>(host_->size(), 1));
  }
  [[nodiscard]] std::uint64_t address() const override { return device_.address(); }
  [[nodiscard]] std::span<std::byte> bytes() const override { return host_->bytes(); }
  [[nodiscard]] std::size_t size() const override { return host_->size(); }

 private:
  std::unique_ptr<Arena> host_;
  GpuMemory device_;
};

// The referee's own device memory.
class MappedArena final : public Arena {
 public:
  MappedArena(const GpuContext& context, const LentMemory& lent)
      : mapping_(context, lent.descriptor, lent.size), size_(lent.size) {}
  [[nodiscard]] std::uint64_t address() const override { return mapping_.address(); }
  [[nodiscard]] std::size_t size() const override { return size_; }

 private:
  GpuMapping mapping_;
  std::size_t size_;
};

// What a place of this sequence needs beside the arena itself.
std::uint64_t sequence_room(const GpuSequence& work,
                            const std::vector<std::unique_ptr<Arena>>& arenas) {
  const std::uint64_t wanted = work.sequence().memory_bytes;
  const std::uint64_t arena = arenas.empty() ? 0 : arenas.front()->size();
  return wanted > arena ? wanted - arena : 0;
}

// In place of one that a kernel has left no way to adopt: nothing is launched on it.
class NoArena final : public Arena {
 public:
  [[nodiscard]] std::uint64_t address() const override { return 0; }
  [[nodiscard]] std::size_t size() const override { return 0; }
};

class GpuDevice final : public Device {
 public:
  GpuDevice() : timer_(context_) {
    context_.driver().check(context_.driver().EventCreate(&start_, 0), "cuEventCreate");
    context_.driver().check(context_.driver().EventCreate(&stop_, 0), "cuEventCreate");
  }

  Loaded load(const ProgramText& program) override {
    has_run_ = false;
    timer_.forget_graphs();
    sequence_.reset();
    auto parsed = emulator::Module::parse(program.ptx);
    if (const auto* error = std::get_if<emulator::ParseError>(&parsed)) return *error;
    // What came without machine code the driver assembles.
    cubin_.assign(program.cubin.empty() ? program.ptx : program.cubin);
    has_variables_ =
        source::has_global_variables(program.ptx) || source::has_constant_variables(program.ptx);
    if (const int result = load_module(); result != cuda::kSuccess) {
      return emulator::ParseError{.message = context_.driver().text(result)};
    }
    auto kernels = std::get<std::shared_ptr<const emulator::Module>>(parsed)->kernels();
    for (auto& kernel : kernels) {
      // The emulator's gaps are not the device's.
      kernel.unsupported_instruction.clear();
      kernel.unsupported_ptx_line = 0;
      kernel.unsupported_where = {};
    }
    return kernels;
  }

  std::unique_ptr<Arena> adopt(LentMemory lent) override {
    std::unique_ptr<Arena> arena = std::make_unique<NoArena>();
    guard([&] {
      // Each time elsewhere: what a kernel was given in one run is not where another's results go.
      if (lent.on_device) {
        arena = std::make_unique<MappedArena>(context_, lent);
      } else {
        arena = std::make_unique<CopiedArena>(context_, std::move(lent));
      }
    });
    return arena;
  }

  Outcome launch(const emulator::Launch& launch, std::span<const emulator::Buffer>, Arena& arena,
                 const emulator::Budget& budget) override {
    Outcome outcome;
    return ran([&] { outcome = launched(launch, arena, budget); }) ? outcome : *left_;
  }

  void reload() override {
    guard([&] { reload_program(); });
  }

  bool reset() override {
    const auto& driver = context_.driver();
    timer_.scrub();
    sequence_.reset();
    if (module_ != nullptr) driver.check(driver.ModuleUnload(module_), "cuModuleUnload");
    module_ = nullptr;
    cubin_.clear();
    return !left_ && driver.CtxSynchronize() == cuda::kSuccess;
  }

  bool has_clock() const override { return true; }

  Profiled profile(const emulator::Launch& launch, Arena& arena,
                   const CounterRequest& request) override {
    if (left_) return {.outcome = *left_};
    cuda::Handle function = nullptr;
    if (auto refused = prepare(launch, function)) return {.outcome = *refused};
    const CapturedOutput unwanted;
    return counting_.profile(function, launch, arena, request);
  }
  void ready_counters(const CounterRequest& request) override { counting_.ready(request); }

  std::uint32_t stage(std::vector<std::unique_ptr<Arena>>&& arenas, std::uint32_t places,
                      std::uint64_t scratch_bytes) override {
    const std::uint64_t own = sequence_ ? sequence_room(*sequence_, arenas) : 0;
    std::uint32_t made = 1;  // if it fails by what a kernel left, which time() then tells
    guard([&] { made = timer_.stage(std::move(arenas), places, std::max(own, scratch_bytes)); });
    return made;
  }
  Timed time(const TimedLaunch& launch, const TimingPlan& plan) override {
    Timed told;
    const bool has_run = ran([&] {
      cuda::Handle function = nullptr;
      if (auto refused = prepare(launch.launch, function)) {
        told.outcome = *refused;
      } else {
        told = timed(OneLaunch(context_, function, launch), plan);
      }
    });
    return has_run ? std::move(told) : Timed{.outcome = *left_};
  }

  std::string capture(const TimedLaunch& launch, const TimingPlan& plan) override {
    std::string failure;
    guard([&] {
      cuda::Handle function = nullptr;
      if (prepare(launch.launch, function)) return;  // time() says it
      failure = timer_.capture(OneLaunch(context_, function, launch), plan);
    });
    return failure;
  }

  std::string load_sequence(Sequence&& sequence) override {
    has_run_ = false;
    timer_.forget_graphs();
    sequence_.emplace(context_, std::move(sequence));
    std::string failure = sequence_->load();
    if (!failure.empty()) sequence_.reset();
    return failure;
  }

  Outcome run_sequence(Arena& arena, const emulator::Budget& budget) override {
    Outcome outcome;
    return ran([&] { outcome = sequence_run(arena, budget); }) ? outcome : *left_;
  }
  Timed time_sequence(const TimingPlan& plan) override {
    Timed told;
    return ran([&] { told = timed(*sequence_, plan); }) ? std::move(told)
                                                        : Timed{.outcome = *left_};
  }
  std::string capture_sequence(const TimingPlan& plan) override {
    std::string failure;
    guard([&] { failure = timer_.capture(*sequence_, plan); });
    return failure;
  }

  Profiled profile_sequence(Arena& arena, const CounterRequest& request) override {
    if (left_) return {.outcome = *left_};
    const CapturedOutput unwanted;
    return counting_.profile(*sequence_, arena, request);
  }

 private:
  // What a kernel did to the context, or to code of ours in it (docs/trust.md), may come out where
  // none of its runs ends: whatever has an outcome next tells it.
  template <typename Work>
  void guard(Work&& work) {
    if (left_) return;
    try {
      work();
    } catch (const cuda::DriverError& error) {
      if (!has_run_) throw;
      left_ = left_by_kernel(error);
    }
  }
  // The same of what runs a kernel; whether it ran, and nothing that one had left came out.
  template <typename Work>
  bool ran(Work&& work) {
    guard(work);
    has_run_ = true;
    return !left_;
  }

  Outcome launched(const emulator::Launch& launch, Arena& arena, const emulator::Budget& budget) {
    const auto& driver = context_.driver();
    cuda::Handle function = nullptr;
    if (auto refused = prepare(launch, function)) return *refused;
    const auto until =
        Clock::now() + (budget.wall.count() > 0 ? budget.wall : std::chrono::hours(1));
    const auto host = arena.bytes();
    if (!host.empty()) {
      driver.check(context_.copy_in(arena.address(), host), "inputs");
    }
    GpuTextures textures(context_, launch.textures);
    auto block = launch.parameters;
    int result = textures.put_into(block);
    const CapturedOutput output;
    driver.check(context_.overwrite_shared(), "shared memory");
    driver.check(driver.EventRecord(start_, context_.stream()), "cuEventRecord");
    if (result == cuda::kSuccess) result = queue_launch(context_, function, launch, block);
    if (result == cuda::kSuccess) result = driver.EventRecord(stop_, context_.stream());
    Outcome outcome = concluded(result, until, output, budget);
    if (outcome.ending != Ending::completed) return outcome;
    if (!host.empty()) {
      driver.check(driver.MemcpyDtoH(host.data(), arena.address(), host.size()), "outputs");
    }
    return outcome;
  }

  void reload_program() {
    timer_.forget_graphs();
    if (sequence_) return sequence_->reload();
    if (!has_variables_) return;
    const int result = load_module();
    if (result != cuda::kSuccess) throw cuda::DriverError(result, "the module was loaded before");
  }

  Outcome sequence_run(Arena& arena, const emulator::Budget& budget) {
    const auto& driver = context_.driver();
    const cuda::Handle stream = context_.stream();
    const auto until =
        Clock::now() + (budget.wall.count() > 0 ? budget.wall : std::chrono::hours(1));
    GpuMemory memory(context_);
    memory.reserve(std::max<std::size_t>(sequence_->sequence().memory_bytes, arena.size()));
    const auto host = arena.bytes();
    driver.check(host.empty() ? driver.MemcpyDtoDAsync(memory.address(), arena.address(),
                                                       arena.size(), stream)
                              : context_.copy_in(memory.address(), host),
                 "inputs");
    driver.check(sequence_->clear_scratch(memory.address()), "scratch");
    const CapturedOutput output;
    driver.check(context_.overwrite_shared(), "shared memory");
    driver.check(driver.EventRecord(start_, stream), "cuEventRecord");
    int result = sequence_->queue(memory.address());
    if (result == cuda::kSuccess) result = driver.EventRecord(stop_, stream);
    Outcome outcome = concluded(result, until, output, budget);
    if (outcome.ending != Ending::completed) return outcome;
    driver.check(host.empty() ? driver.MemcpyDtoDAsync(arena.address(), memory.address(),
                                                       arena.size(), stream)
                              : driver.MemcpyDtoH(host.data(), memory.address(), host.size()),
                 "outputs");
    // It goes back to the driver, who may give it to another.
    driver.check(driver.MemsetD32Async(memory.address(), 0, memory.bytes() / 4, stream),
                 "clearing");
    driver.check(driver.CtxSynchronize(), "outputs");
    return outcome;
  }

  // Waits for what was queued, if it was: how it ended, what it printed, how long it took.
  [[nodiscard]] Outcome concluded(int result, Clock::time_point until, const CapturedOutput& output,
                                  const emulator::Budget& budget) {
    const auto& driver = context_.driver();
    if (result == cuda::kSuccess) result = context_.wait(until);
    if (result != cuda::kNotReady) {
      // Hands over what the kernel printed, also before a fault.
      const int synchronised = driver.CtxSynchronize();
      if (result == cuda::kSuccess) result = synchronised;
    }
    Outcome outcome = outcome_of(context_, result);
    output.take(budget.printf_bytes, outcome);
    if (outcome.ending != Ending::completed) return outcome;
    float milliseconds = 0;
    driver.check(driver.EventElapsedTime(&milliseconds, start_, stop_), "cuEventElapsedTime");
    outcome.wall = std::chrono::nanoseconds(static_cast<std::int64_t>(milliseconds * 1e6F));
    return outcome;
  }

  [[nodiscard]] Timed timed(const GpuWork& work, const TimingPlan& plan) {
    const CapturedOutput unwanted;
    // Beside the runs: as they were timed is how the device is to be described.
    if (plan.tell_state) {
      const Look look = plan.tell_neighbours ? Look::neighbours : Look::state;
      state_.begin([nvml = nvml_, look] { return nvml->read(look); });
    }
    Timed timed = timer_.time(work, plan);
    // A driver that does not answer costs the report these figures, and the kernel nothing.
    if (plan.tell_state) timed.state = state_.take(kStateLimit).value_or(GpuState{});
    return timed;
  }

  [[nodiscard]] int load_module() {
    const auto& driver = context_.driver();
    if (module_ != nullptr) driver.ModuleUnload(module_);
    module_ = nullptr;
    return driver.ModuleLoadData(&module_, cubin_.data());
  }

  // The function, ready for that much shared memory; or why no device accepts the launch.
  [[nodiscard]] std::optional<Outcome> prepare(const emulator::Launch& launch,
                                               cuda::Handle& function) const {
    const auto& driver = context_.driver();
    driver.check(driver.ModuleGetFunction(&function, module_, launch.kernel.c_str()),
                 "cuModuleGetFunction");
    int max_threads = 0;
    driver.check(driver.FuncGetAttribute(&max_threads, cuda::kFunctionMaxThreads, function),
                 "cuFuncGetAttribute");
    const auto& block = launch.block;
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    if (threads > static_cast<std::uint64_t>(max_threads)) {
      return Outcome{.ending = Ending::invalid_launch,
                     .message = "a block of " + std::to_string(threads) +
                                " threads, this kernel can have " + std::to_string(max_threads) +
                                " (its registers or __launch_bounds__ allow no more)"};
    }
    const int bytes = static_cast<int>(launch.dynamic_shared_bytes);
    const int result = driver.FuncSetAttribute(function, cuda::kFunctionMaxDynamicShared, bytes);
    if (result != cuda::kSuccess) {
      return Outcome{.ending = Ending::invalid_launch,
                     .message = std::to_string(bytes) +
                                " bytes of dynamic shared memory are more than this kernel can "
                                "have on this device"};
    }
    if (const int refused = allow_own_clusters(driver, function); refused != cuda::kSuccess) {
      return Outcome{.ending = Ending::invalid_launch,
                     .message = "its clusters: " + driver.text(refused)};
    }
    return std::nullopt;
  }

  GpuContext context_{};
  std::shared_ptr<const Nvml> nvml_ = std::make_shared<const Nvml>(context_.pci());
  LateReading<GpuState> state_{};
  GpuTimer timer_;
  GpuCounting counting_{context_};
  std::string cubin_{};
  bool has_variables_ = false;
  bool has_run_ = false;           // what was loaded last: what others left is not its fault
  std::optional<Outcome> left_{};  // what it left, if that has come out
  std::optional<GpuSequence> sequence_{};
  cuda::Handle module_ = nullptr;
  cuda::Handle start_ = nullptr;
  cuda::Handle stop_ = nullptr;
};

}  // namespace

std::unique_ptr<Device> make_gpu_device() { return std::make_unique<GpuDevice>(); }

}  // namespace assay::runner
