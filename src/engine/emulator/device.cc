// Device: checks a launch and lays out memory for its blocks (block_schedule.h).
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "engine/emulator/block_schedule.h"
#include "engine/emulator/heap.h"
#include "engine/emulator/launch_state.h"
#include "engine/emulator/local_reads.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

constexpr std::uint64_t kMostClusterBlocks = 16;
constexpr std::uint64_t kMostTexels = 1ULL << 31;

struct FreeMemory {
  void operator()(std::byte* p) const { std::free(p); }
};

struct Globals {
  std::array<std::byte, kGridWorkspaceBytes> workspace{};
  std::unique_ptr<Heap> heap{};
  std::unique_ptr<std::byte[], FreeMemory> bytes{};
  std::size_t size = 0;
};

Outcome refuse(Ending ending, std::string message) {
  Outcome o;
  o.ending = ending;
  o.message = std::move(message);
  return o;
}

std::string check_shape(const Launch& launch, const KernelInfo& kernel) {
  const Limits max = limits();
  const Dim3& g = launch.grid;
  const Dim3& b = launch.block;
  if (g.x == 0 || g.y == 0 || g.z == 0) return "The grid has a dimension of zero";
  if (b.x == 0 || b.y == 0 || b.z == 0) return "The block has a dimension of zero";
  if (g.x > max.max_grid[0] || g.y > max.max_grid[1] || g.z > max.max_grid[2]) {
    return "The grid exceeds 2147483647 x 65535 x 65535 blocks";
  }
  if (b.x > max.max_block[0] || b.y > max.max_block[1] || b.z > max.max_block[2] ||
      std::uint64_t{b.x} * b.y * b.z > max.max_threads_per_block) {
    return "The block exceeds 1024 x 1024 x 64 or 1024 threads";
  }
  const unsigned threads = b.x * b.y * b.z;
  if (kernel.max_threads != 0 && threads > kernel.max_threads) {
    return "The block has " + std::to_string(threads) + " threads, the kernel was compiled for " +
           std::to_string(kernel.max_threads);
  }
  const auto& [x, y, z] = kernel.cluster;
  // Eight run everywhere, sixteen where a device has room for them, more nowhere.
  if (std::uint64_t{x} * y * z > kMostClusterBlocks) {
    return "The kernel asks for clusters of " + text_of({x, y, z}) +
           " blocks; no device runs more than " + std::to_string(kMostClusterBlocks) + " together";
  }
  if (g.x % x != 0 || g.y % y != 0 || g.z % z != 0) {
    return "The grid " + text_of(g) + " is no multiple of the clusters of " + text_of({x, y, z}) +
           " blocks that the kernel asks for";
  }
  if (launch.parameters.size() != kernel.parameter_bytes) {
    return "The kernel takes " + std::to_string(kernel.parameter_bytes) +
           " bytes of parameters, the launch gives " + std::to_string(launch.parameters.size());
  }
  if (launch.dynamic_shared_bytes > max.max_shared_bytes ||
      kernel.static_shared_bytes + launch.dynamic_shared_bytes > max.max_shared_bytes) {
    return "Shared memory exceeds " + std::to_string(max.max_shared_bytes) + " bytes";
  }
  return {};
}

}  // namespace

struct Device::State {
  std::shared_ptr<const Module> module{};
  Globals globals{};
  std::uint64_t launches = 0;
};

Device::Device(std::shared_ptr<const Module> module) : state_(std::make_unique<State>()) {
  state_->module = std::move(module);
}
Device::~Device() = default;

namespace {

std::uint64_t symbol_address(const Module::Text& text, const std::string& symbol) {
  if (const auto v = text.program.variable_index.find(symbol);
      v != text.program.variable_index.end()) {
    return text.program.variables[v->second].address;
  }
  if (const auto f = text.program.function_index.find(symbol);
      f != text.program.function_index.end()) {
    return kFunctionBase + 16 * f->second;
  }
  return 0;
}

// Fresh pages from the system are zero, so only initialisers are written.
Globals make_globals(const Module::Text& text) {
  Globals g;
  g.size = text.program.global_bytes;
  const auto& functions = text.program.function_index;
  if (functions.contains("malloc") || functions.contains("free")) {
    g.heap = std::make_unique<Heap>();
  }
  g.bytes.reset(static_cast<std::byte*>(std::calloc(g.size + 1, 1)));
  if (!g.bytes) return g;
  for (const Variable& v : text.program.variables) {
    if (v.space == Space::shared) continue;
    std::byte* const at = g.bytes.get() + (v.address - kGlobalsBase);
    std::copy(v.initial.begin(), v.initial.end(), at);
    for (const AddressInitialiser& a : v.addresses) {
      const std::uint64_t value =
          symbol_address(text, a.symbol) + static_cast<std::uint64_t>(a.addend);
      std::memcpy(at + a.offset_bytes, &value, std::min(a.width_bytes, 8U));
    }
  }
  return g;
}

bool map_memory(AddressTable& table, const Module::Text& text, Globals& globals,
                std::span<const Buffer> buffers) {
  for (const Variable& v : text.program.variables) {
    if (v.space == Space::shared || v.size_bytes == 0) continue;
    table.add({.begin = v.address,
               .end = v.address + v.size_bytes,
               .host = globals.bytes.get() + (v.address - kGlobalsBase),
               .writable = v.space != Space::constant,
               .is_variable = true,
               .name = v.name});
  }
  table.add({.begin = kGridWorkspace,
             .end = kGridWorkspace + kGridWorkspaceBytes,
             .host = globals.workspace.data(),
             .is_variable = true,
             .name = "grid workspace"});
  if (globals.heap) {
    table.add({.begin = kHeapBase,
               .end = kHeapBase + kHeapBytes,
               .host = globals.heap->bytes(),
               .is_variable = true,
               .name = "device heap"});
  }
  for (const Buffer& b : buffers) {
    if (b.bytes.empty()) continue;
    if (b.address + b.bytes.size() > kGlobalsBase || b.address + b.bytes.size() < b.address) {
      return false;
    }
    if (!table.add({.begin = b.address,
                    .end = b.address + b.bytes.size(),
                    .host = b.bytes.data(),
                    .writable = true,
                    .is_variable = false,
                    .name = b.name})) {
      return false;
    }
  }
  return true;
}

// Puts handles where addresses stand in the launch's parameters; or why it cannot.
std::string bind_textures(Launch& launch, LaunchState& state) {
  for (const Texture& t : launch.textures) {
    std::uint64_t address = 0;
    if (t.parameter_offset > launch.parameters.size() ||
        launch.parameters.size() - t.parameter_offset < sizeof address) {
      return "Texture '" + t.name + "' has no parameter of 8 bytes";
    }
    std::byte* const parameter = launch.parameters.data() + t.parameter_offset;
    std::memcpy(&address, parameter, sizeof address);
    const bool has_size = t.width > 0 && t.width <= kMostTexels && t.height <= kMostTexels &&
                          t.pitch_bytes <= kMostTexels && t.channels >= 1 && t.channels <= 4;
    const std::int32_t found = has_size ? state.memory.find(address, texture_bytes(t)) : -1;
    if (found < 0) return "Texture '" + t.name + "' does not lie in any buffer";
    const Object& object = state.memory.objects()[static_cast<std::size_t>(found)];
    const std::uint64_t handle = kTextureHandles + kTextureHandleStep * state.textures.size();
    state.textures.push_back({.format = t, .bytes = object.host + (address - object.begin)});
    std::memcpy(parameter, &handle, sizeof handle);
  }
  return {};
}

Outcome unsupported(const KernelInfo& kernel) {
  Outcome o =
      refuse(Ending::unsupported, "Unsupported instruction: " + kernel.unsupported_instruction);
  o.fault.instruction = kernel.unsupported_instruction;
  o.fault.where = kernel.unsupported_where;
  return o;
}

}  // namespace

void Device::reload() { state_->globals = {}; }

struct Device::Run {
  const Launch& launch;
  std::span<const Buffer> buffers{};
  const Budget& budget;
  const std::stop_token& stop;
  LocalTrial* trial = nullptr;
};

Outcome Device::launch(const Launch& launch, std::span<const Buffer> buffers, const Budget& budget,
                       const std::stop_token& stop) {
  return run({launch, buffers, budget, stop});
}

// Every run of the search is the device's first one: what nobody wrote depends on its number.
Outcome Device::look_at_locals(const Run& wanted, std::uint32_t entry) {
  Launch launch = wanted.launch;
  launch.inspection = {};
  const auto one = [&](LocalTrial& trial, std::chrono::nanoseconds wall) {
    reload();
    state_->launches = 0;
    Budget budget = wanted.budget;
    budget.wall = wall;
    return run({launch, wanted.buffers, budget, wanted.stop, &trial});
  };
  return find_local_reads({.text = state_->module->text(),
                           .entry = entry,
                           .launch = wanted.launch,
                           .buffers = wanted.buffers,
                           .wall = wanted.budget.wall,
                           .run = one});
}

Outcome Device::run(const Run& wanted) {
  const auto& [given, buffers, budget, stop, trial] = wanted;
  Launch launch = given;
  const Module::Text& text = state_->module->text();
  const auto found = text.kernel_functions.find(launch.kernel);
  if (found == text.kernel_functions.end()) {
    return refuse(Ending::invalid_launch, "The module has no kernel '" + launch.kernel + "'");
  }
  const auto info = std::find_if(text.kernels.begin(), text.kernels.end(),
                                 [&](const KernelInfo& k) { return k.name == launch.kernel; });
  if (std::string error = check_shape(launch, *info); !error.empty()) {
    return refuse(Ending::invalid_launch, std::move(error));
  }
  if (!info->unsupported_instruction.empty()) return unsupported(*info);
  if (launch.inspection.locals) return look_at_locals(wanted, found->second);
  LaunchState state(text, launch, budget, stop);
  state.trial = trial;
  state.entry = &text.functions[found->second];
  state.number = state_->launches++;
  state.shared = shared_layout(text, found->second,
                               launch.inspection.memory() ? Between::room : Between::nothing);
  state.user_shared_bytes = state.shared.static_bytes + launch.dynamic_shared_bytes;
  state.shared_bytes = text.program.asks_for_reserved
                           ? state.reserved_offset() + LaunchState::kReservedBytes
                           : state.user_shared_bytes;
  if (std::string error = refuse_cooperative(state); !error.empty()) {
    return refuse(Ending::invalid_launch, std::move(error));
  }
  if (!state.reserve_memory(text.program.global_bytes)) {
    return refuse(Ending::out_of_memory, "The module's variables exceed the memory budget");
  }
  if (!state_->globals.bytes) state_->globals = make_globals(text);
  if (!state_->globals.bytes) {
    return refuse(Ending::out_of_memory, "No memory for the module's variables");
  }
  if (!map_memory(state.memory, text, state_->globals, buffers)) {
    return refuse(Ending::invalid_launch, "Buffers overlap or lie outside the address space");
  }
  if (std::string error = bind_textures(launch, state); !error.empty()) {
    return refuse(Ending::invalid_launch, std::move(error));
  }
  state.variables = {state_->globals.bytes.get(), state_->globals.size};
  state.heap = state_->globals.heap.get();
  state_->globals.workspace = {};
  std::unique_ptr<Watch> watch;
  if (launch.inspection.any()) {
    watch = std::make_unique<Watch>(state, buffers);
    state.watch = watch.get();
  }
  run_threads(state, launch.grid, watch || trial != nullptr ? 1 : budget.threads);
  Outcome outcome = state.outcome();
  if (watch) watch->finish(outcome);
  return outcome;
}

}  // namespace assay::emulator
