// What a torch_cuda wrapper's launches on CPU tensors become: the emulator, in the process whose
// tensors they work on, so that a kernel's address is the host's and nothing is copied. C functions
// for wrapper/on_cpu.h and assay_runner/extension.py.
//
// The process runs the user's host code anyway: what it says here is a claim, and only the outputs
// count. One state per process, as the functions have no object to hang it on; launches come one at
// a time, memory is noted by any thread.
#include <cxxabi.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <set>

#include "engine/emulator/emulator.h"
#include "engine/inspection/inspection.h"
#include "engine/inspection/launch_findings.h"
#include "engine/python/memory_regions.h"

#define ASSAY_EXPORTED extern "C" __attribute__((visibility("default")))

namespace assay::python {
namespace {

// A launch of honest size takes seconds here; the engine's own deadline is the net below this one.
constexpr std::chrono::seconds kLaunchLimit{60};

struct Program {
  std::shared_ptr<const emulator::Module> module{};
  std::unique_ptr<emulator::Device> device{};
};

// One call whose launches are looked at; what it makes of them is told and nobody judges.
struct InspectedCall {
  emulator::Inspection wanted{};
  std::chrono::steady_clock::time_point until{};  // of all its launches together
  std::set<std::string> searched{};               // for locals: the entries
  inspection::LaunchFindings findings{};
};

struct State {
  std::vector<Program> programs{};
  MemoryRegions regions{};
  std::string failure{};  // of the first launch that failed: later ones fail likewise
  std::string kind{};
  std::uint64_t launches = 0;
  bool skips = false;  // launches succeed and do nothing
  std::optional<InspectedCall> inspected{};
  std::string told{};  // of the last one that was
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

// As the source has it, without its parameters and what a template returns.
std::string plain_name(const std::string& entry) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(entry.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !name) return entry;
  std::string whole(name.get());
  for (auto at = whole.find(kUnnamed); at != std::string::npos; at = whole.find(kUnnamed, at)) {
    whole.erase(at, kUnnamed.size());
  }
  if (whole.starts_with("void ")) whole.erase(0, 5);
  return whole.substr(0, whole.find('('));
}

std::string seconds_text(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count());
}

int tell(const emulator::Outcome& outcome, const std::string& mangled,
         std::chrono::nanoseconds limit) {
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
      return fail("device_hang", "A launch of " + entry + " did not end in " + seconds_text(limit) +
                                     " s" + at_line(fault.where));
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

// The arguments that point somewhere, by their number: others are 0.
std::vector<std::uint64_t> pointers_in(const emulator::KernelInfo& kernel,
                                       const std::vector<std::byte>& block) {
  std::vector<std::uint64_t> pointers(kernel.parameters.size());
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const auto& parameter = kernel.parameters[i];
    if (parameter.size_bytes != sizeof(std::uint64_t)) continue;
    std::memcpy(&pointers[i], block.data() + parameter.offset_bytes, sizeof(std::uint64_t));
  }
  return pointers;
}

// What copies to variables of the device is the engine's own (wrapper_build.cc).
bool is_added(std::string_view entry) {
  return entry == "assay_copy" || entry.starts_with("assay_address_");
}

// A word for memory that nobody has written: as a number it is 1 and something, twice.
std::uint64_t random_pattern() {
  constexpr std::uint64_t kDrawn = 0x000F'FFFF'000F'FFFF;
  constexpr std::uint64_t kOnes = 0x3F80'0000'3F80'0000;
  std::uint64_t drawn = 0x9E3779B97F4A7C15;
  if (::getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) < 0)
    drawn ^= static_cast<std::uint64_t>(::getpid());
  return kOnes | (drawn & kDrawn);
}

void print(std::string_view text) {
  while (!text.empty()) {
    const auto wrote = ::write(STDOUT_FILENO, text.data(), text.size());
    if (wrote <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

// Runs of its own on a device of its own, whose variables are as loaded; the buffers are in the end
// what they were. Of a kernel the first launch: each takes several runs.
void search_locals(const Program& program, emulator::Launch launch, std::chrono::nanoseconds limit,
                   const std::vector<emulator::Buffer>& buffers) {
  auto& inspected = *state().inspected;
  if (!inspected.searched.insert(launch.kernel).second) {
    inspected.findings.note("Locals were looked at in the first launch of each kernel.");
    return;
  }
  launch.inspection = inspected.wanted;
  emulator::Device device(program.module);
  inspected.findings.add(
      plain_name(launch.kernel),
      device.launch(launch, buffers, {.wall = limit, .threads = 1}, std::stop_token()));
}

int execute(const Program& program, emulator::Launch& launch, const emulator::KernelInfo& kernel) {
  auto& inspected = state().inspected;
  const bool is_looked_at = inspected && !is_added(kernel.name);
  std::chrono::nanoseconds limit = kLaunchLimit;
  if (is_looked_at) {
    limit = std::min(limit, inspected->until - std::chrono::steady_clock::now());
    if (limit <= std::chrono::nanoseconds(0)) {
      inspected->findings.note("The inspection's time was over before a launch of " +
                               plain_name(kernel.name) +
                               ": that one and what came after it was not looked at.");
      return fail("device_hang", "The time for the inspection was over");
    }
    if (!inspected->wanted.locals) launch.inspection = inspected->wanted;
  }
  const auto buffers = state().regions.buffers(pointers_in(kernel, launch.parameters));
  if (is_looked_at && inspected->wanted.locals) {
    search_locals(program, launch, limit / 2, buffers);
    limit = std::max<std::chrono::nanoseconds>(inspected->until - std::chrono::steady_clock::now(),
                                               std::chrono::milliseconds(1));
  }
  // One thread: work beside the call would count as work that is hidden.
  const auto outcome =
      program.device->launch(launch, buffers, {.wall = limit, .threads = 1}, std::stop_token());
  if (!is_looked_at) {
    print(outcome.printf_output);
  } else if (launch.inspection.any()) {
    inspected->findings.add(plain_name(kernel.name), outcome);
  }
  return tell(outcome, kernel.name, limit);
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
                                         int cooperative, const void* const* arguments,
                                         const std::size_t* sizes, std::size_t count) {
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
                                 .dynamic_shared_bytes = shared_bytes,
                                 .cooperative = cooperative != 0};
  const auto misfit = assay::python::pack(*kernel, arguments, sizes, count, launch.parameters);
  if (!misfit.empty()) return assay::python::fail("device_launch", misfit);
  ++state().launches;
  if (state().skips) return 0;
  return assay::python::execute(loaded, launch, *kernel);
}

// Every launch is looked at from here on, for so many seconds; `order`: {inspect: [what],
// checked_blocks} (engine/inspection/inspection.h). 0, or -1: it orders nothing.
ASSAY_EXPORTED int assay_emulator_inspect(const char* order, double seconds) {
  try {
    const auto limit = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(std::clamp(seconds, 0.0, 600.0)));
    state().inspected.emplace(assay::python::InspectedCall{
        .wanted = assay::inspection::decode_inspection(nlohmann::json::parse(order)),
        .until = std::chrono::steady_clock::now() + limit});
  } catch (const std::exception&) {
    return -1;
  }
  state().regions.watch_contents(assay::python::random_pattern());
  return 0;
}
// What was found, and no launch is looked at any more. A launch that failed has failed for good.
ASSAY_EXPORTED const char* assay_emulator_findings() {
  auto& one = state();
  one.regions.watch_contents(0);
  one.told = "null";
  if (one.inspected) {
    one.told = one.inspected->findings.told().dump(-1, ' ', true,
                                                   nlohmann::json::error_handler_t::replace);
  }
  one.inspected.reset();
  return one.told.c_str();
}

ASSAY_EXPORTED const char* assay_emulator_failure() { return state().failure.c_str(); }
ASSAY_EXPORTED const char* assay_emulator_failure_kind() { return state().kind.c_str(); }
ASSAY_EXPORTED std::uint64_t assay_emulator_launches() { return state().launches; }
ASSAY_EXPORTED void assay_emulator_skip() { state().skips = true; }

ASSAY_EXPORTED void assay_memory_add(const void* memory, std::size_t bytes) {
  state().regions.add(reinterpret_cast<std::uint64_t>(memory), bytes);
}
// What has just been allocated.
ASSAY_EXPORTED void assay_memory_add_allocated(const void* memory, std::size_t bytes) {
  state().regions.add_allocated(reinterpret_cast<std::uint64_t>(memory), bytes);
}
// What begins here is a call's to write before anybody reads it.
ASSAY_EXPORTED void assay_memory_forget_contents(const void* memory) {
  state().regions.forget_contents(reinterpret_cast<std::uint64_t>(memory));
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
