// What a torch_cuda wrapper's launches on CPU tensors become: the emulator, in the process whose
// tensors they work on, so that a kernel's address is the host's and nothing is copied. C functions
// for wrapper/on_cpu.h and assay_runner/extension.py.
//
// The process runs the user's host code anyway: what it says here is a claim, and only the outputs
// count. One state per process, as the functions have no object to hang it on; launches come one at
// a time, memory is noted by any thread.
#include <cxxabi.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "engine/emulator/emulator.h"

#define ASSAY_EXPORTED extern "C" __attribute__((visibility("default")))

namespace assay::python {
namespace {

// A launch of honest size takes seconds here; the engine's own deadline is the net below this one.
constexpr std::chrono::seconds kLaunchLimit{60};

struct Program {
  std::shared_ptr<const emulator::Module> module{};
  std::unique_ptr<emulator::Device> device{};
};

// Memory that kernels may touch. What overlaps something older has taken its place.
class Regions {
 public:
  // `name`: the contract's, of what is lent.
  void add(std::uint64_t address, std::size_t bytes, std::string name = {}) {
    const std::lock_guard lock(mutex_);
    forget_locked(address, bytes);
    if (bytes > 0) regions_[address] = {bytes, std::move(name)};
  }
  void remove(std::uint64_t address) {
    const std::lock_guard lock(mutex_);
    regions_.erase(address);
  }
  void forget(std::uint64_t address, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    forget_locked(address, bytes);
  }
  std::vector<emulator::Buffer> buffers() {
    const std::lock_guard lock(mutex_);
    std::vector<emulator::Buffer> list;
    for (const auto& [address, region] : regions_) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer when it was noted
      auto* const memory = reinterpret_cast<std::byte*>(address);
      list.push_back({.address = address, .bytes = {memory, region.bytes}, .name = region.name});
    }
    return list;
  }

 private:
  void forget_locked(std::uint64_t address, std::size_t bytes) {
    auto at = regions_.lower_bound(address);
    if (at != regions_.begin()) {
      const auto before = std::prev(at);
      if (before->first + before->second.bytes > address) at = before;
    }
    while (at != regions_.end() && at->first < address + bytes) at = regions_.erase(at);
  }

  struct Region {
    std::size_t bytes = 0;
    std::string name{};
  };

  std::mutex mutex_{};
  std::map<std::uint64_t, Region> regions_{};
};

struct State {
  std::vector<Program> programs{};
  Regions regions{};
  std::string failure{};  // of the first launch that failed: later ones fail likewise
  std::string kind{};
  std::uint64_t launches = 0;
  bool skips = false;  // launches succeed and do nothing
};

State& state() {
  static State one;
  return one;
}

int fail(const char* kind, const std::string& message) {
  state().kind = kind;
  state().failure = message;
  return -1;
}

const emulator::KernelInfo* find(const Program& program, std::string_view entry) {
  for (const auto& kernel : program.module->kernels()) {
    if (kernel.name == entry) return &kernel;
  }
  return nullptr;
}

std::string at_line(const emulator::SourceLine& where) {
  if (where.line <= 0) return {};
  const auto slash = where.file.rfind('/');
  return " at " + where.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(where.line);
}

// As the source has it, without its parameters.
std::string plain_name(const std::string& entry) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !name) return entry;
  const std::string whole(name.get());
  return whole.substr(0, whole.find('('));
}

int tell(const emulator::Outcome& outcome, const std::string& mangled) {
  using emulator::Ending;
  const std::string entry = plain_name(mangled);
  const auto& fault = outcome.fault;
  const std::string said = fault.message.empty() ? outcome.message : fault.message;
  const std::string text = said + at_line(fault.where);
  switch (outcome.ending) {
    case Ending::completed:
      return 0;
    case Ending::faulted:
      return fail("device_fault", text);
    case Ending::unsupported:
      return fail("device_unsupported",
                  "The emulator cannot execute " + fault.instruction + at_line(fault.where));
    case Ending::out_of_memory:
      return fail("device_memory", text);
    case Ending::invalid_launch:
      return fail("device_launch", "No device takes this launch of " + entry + ": " + text);
    default:
      return fail("device_hang", "A launch of " + entry + " did not end in " +
                                     std::to_string(kLaunchLimit.count()) + " s" +
                                     at_line(fault.where));
  }
}

// The parameter block, or why the call does not fit the kernel.
std::string pack(const emulator::KernelInfo& kernel, const void* const* arguments,
                 const std::size_t* sizes, std::size_t count, std::vector<std::byte>& block) {
  if (count != kernel.parameters.size()) {
    return std::to_string(count) + " arguments for " + std::to_string(kernel.parameters.size()) +
           " parameters";
  }
  block.resize(kernel.parameter_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    const auto& parameter = kernel.parameters[i];
    if (sizes[i] != parameter.size_bytes) {
      return "argument " + std::to_string(i) + " has " + std::to_string(sizes[i]) +
             " bytes on the host and " + std::to_string(parameter.size_bytes) + " on the device";
    }
    std::memcpy(block.data() + parameter.offset_bytes, arguments[i], sizes[i]);
  }
  return {};
}

void print(std::string_view text) {
  while (!text.empty()) {
    const auto wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

}  // namespace
}  // namespace assay::python

using assay::python::state;

// The number of a loaded program, or -1 with a failure.
ASSAY_EXPORTED int assay_emulator_open(const char* ptx, std::size_t bytes) {
  auto parsed = assay::emulator::Module::parse({ptx, bytes});
  if (const auto* error = std::get_if<assay::emulator::ParseError>(&parsed)) {
    return assay::python::fail("device_unsupported",
                               "The emulator cannot read the PTX: " + error->message);
  }
  auto module = std::get<std::shared_ptr<const assay::emulator::Module>>(std::move(parsed));
  auto device = std::make_unique<assay::emulator::Device>(module);
  state().programs.push_back({std::move(module), std::move(device)});
  return static_cast<int>(state().programs.size()) - 1;
}

ASSAY_EXPORTED int assay_emulator_launch(int program, const char* entry, const std::uint32_t* grid,
                                         const std::uint32_t* block, std::size_t shared_bytes,
                                         const void* const* arguments, const std::size_t* sizes,
                                         std::size_t count) {
  if (!state().failure.empty()) return -1;
  if (program < 0 || static_cast<std::size_t>(program) >= state().programs.size()) {
    return assay::python::fail("device_launch", "a launch before the kernels were there");
  }
  const auto& loaded = state().programs[static_cast<std::size_t>(program)];
  const auto* kernel = assay::python::find(loaded, entry);
  if (kernel == nullptr) {
    return assay::python::fail("device_launch", std::string("there is no kernel ") + entry);
  }
  assay::emulator::Launch launch{.kernel = kernel->name,
                                 .grid = {grid[0], grid[1], grid[2]},
                                 .block = {block[0], block[1], block[2]},
                                 .dynamic_shared_bytes = shared_bytes};
  const auto misfit = assay::python::pack(*kernel, arguments, sizes, count, launch.parameters);
  if (!misfit.empty()) return assay::python::fail("device_launch", misfit);
  ++state().launches;
  if (state().skips) return 0;
  // One thread: work beside the call would count as work that is hidden.
  const auto outcome =
      loaded.device->launch(launch, state().regions.buffers(),
                            {.wall = assay::python::kLaunchLimit, .threads = 1}, std::stop_token());
  assay::python::print(outcome.printf_output);
  return assay::python::tell(outcome, entry);
}

ASSAY_EXPORTED const char* assay_emulator_failure() { return state().failure.c_str(); }
ASSAY_EXPORTED const char* assay_emulator_failure_kind() { return state().kind.c_str(); }
ASSAY_EXPORTED std::uint64_t assay_emulator_launches() { return state().launches; }
ASSAY_EXPORTED void assay_emulator_skip() { state().skips = true; }

ASSAY_EXPORTED void assay_memory_add(const void* memory, std::size_t bytes) {
  state().regions.add(reinterpret_cast<std::uint64_t>(memory), bytes);
}
ASSAY_EXPORTED void assay_memory_add_named(const void* memory, std::size_t bytes,
                                           const char* name) {
  state().regions.add(reinterpret_cast<std::uint64_t>(memory), bytes, name);
}
ASSAY_EXPORTED void assay_memory_remove(const void* memory) {
  state().regions.remove(reinterpret_cast<std::uint64_t>(memory));
}
// All that was noted between these addresses.
ASSAY_EXPORTED void assay_memory_forget(const void* memory, std::size_t bytes) {
  state().regions.forget(reinterpret_cast<std::uint64_t>(memory), bytes);
}
