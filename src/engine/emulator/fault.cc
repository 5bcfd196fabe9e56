// Faults in words: what compute-sanitizer would say, plus where in the source and how far from
// which tensor.
#include <cstdio>
#include <string>

#include "engine/emulator/block.h"
#include "engine/emulator/unwrapped.h"
#include "engine/emulator/warp.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

std::string hex(std::uint64_t v) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(v));
  return text.data();
}

std::string triple(Dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

// The space an address belongs to, told apart even when the access was generic.
struct Place {
  Space space = Space::global;
  std::uint64_t offset = 0;
};

Place place_of(const BadAccess& bad) {
  if (bad.space != Space::generic) return {bad.space, bad.address};
  if (bad.address - kSharedWindow < kWindowBytes)
    return {Space::shared, bad.address - kSharedWindow};
  if (bad.address - kLocalWindow < kWindowBytes) return {Space::local, bad.address - kLocalWindow};
  if (bad.address - kParamWindow < kWindowBytes) return {Space::param, bad.address - kParamWindow};
  return {Space::global, bad.address};
}

std::string_view space_name(Space s) {
  switch (s) {
    case Space::shared:
      return "__shared__";
    case Space::local:
      return "__local__";
    case Space::constant:
      return "__constant__";
    case Space::param:
      return "__param__";
    default:
      return "__global__";
  }
}

// "4 bytes after the end of tensor 'out' (4000 bytes)"
std::string relation(const Object& o, std::uint64_t address, std::uint64_t bytes) {
  const std::string named =
      o.name.empty() ? "a tensor"
                     : (o.is_variable ? "variable '" : "tensor '") + plain_name(o.name) + "'";
  const std::string what = named + " (" + bytes_text(o.end - o.begin) + ")";
  if (address < o.begin) return bytes_text(o.begin - address) + " before the start of " + what;
  if (address >= o.end) return bytes_text(address - o.end) + " after the end of " + what;
  if (o.end - address < bytes) return "crosses the end of " + what;
  return "at byte " + std::to_string(address - o.begin) + " of " + what;
}

std::string shared_relation(Block& block, std::uint64_t offset, std::uint64_t size) {
  const LaunchState& launch = block.launch();
  const SharedVariable* nearest = nullptr;
  std::uint64_t begin = 0;
  for (const auto& [index, at] : launch.shared.offsets) {
    if (at <= offset && (nearest == nullptr || at >= begin)) {
      nearest = &launch.text.shared[index];
      begin = at;
    }
  }
  std::string text = "the block has " + bytes_text(size) + " of shared memory";
  if (nearest != nullptr) {
    text += ", the nearest variable is '" + plain_name(nearest->name) + "' at byte " +
            std::to_string(begin);
  }
  return text;
}

std::string where_it_is(Warp& w, const BadAccess& bad, const Place& place, Fault& fault) {
  switch (place.space) {
    case Space::shared:
      return shared_relation(*w.block, place.offset, w.shared_bytes);
    case Space::local:
      return "the thread has " + bytes_text(w.local_bytes) + " of local memory in use";
    case Space::param:
      return "the kernel has " + bytes_text(w.parameter_bytes) + " of parameters";
    default:
      break;
  }
  if (place.offset - kTextureHandles < kWindowBytes) return "a texture object, which is no address";
  const Object* o = w.table->nearest(place.offset);
  const bool null = place.offset < 4096;
  const Unwrapped index = null ? Unwrapped{} : unwrapped(*w.table, place.offset, bad.bytes);
  if (index.object != nullptr) o = index.object;
  if (o == nullptr) return null ? "a null pointer" : "there is no memory at all";
  fault.buffer = o->is_variable ? plain_name(o->name) : o->name;
  fault.buffer_offset_bytes = static_cast<std::int64_t>(place.offset - o->begin);
  if (null) return "a null pointer";
  std::string text = relation(*o, place.offset, bad.bytes);
  if (index.object != nullptr) {
    text += ", as index " + std::to_string(index.element);
    if (index.element_bytes != bad.bytes) {
      text += " of elements of " + bytes_text(index.element_bytes);
    }
    text += " once it has wrapped in 32 bits";
  }
  if (bad.is_write && !o->writable) text += ", which cannot be written";
  return text;
}

}  // namespace

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::out_of_bounds:
      return "out_of_bounds";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::barrier_divergence:
      return "barrier_divergence";
    case FaultKind::invalid_barrier:
      return "invalid_barrier";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::stack_overflow:
      return "stack_overflow";
    case FaultKind::invalid_call:
      return "invalid_call";
    case FaultKind::invalid_shuffle:
      return "invalid_shuffle";
    case FaultKind::invalid_texture:
      return "invalid_texture";
  }
  return "unknown";
}

std::string_view name(Ending ending) {
  switch (ending) {
    case Ending::completed:
      return "completed";
    case Ending::faulted:
      return "faulted";
    case Ending::budget_instructions:
      return "budget_instructions";
    case Ending::budget_wall:
      return "budget_wall";
    case Ending::out_of_memory:
      return "out_of_memory";
    case Ending::stopped:
      return "stopped";
    case Ending::unsupported:
      return "unsupported";
    case Ending::invalid_launch:
      return "invalid_launch";
  }
  return "unknown";
}

void fault_simple(Warp& w, const Op& op, FaultKind kind, unsigned lane, std::string message) {
  const std::uint32_t pc = op_pc(w, op);
  const Module::Text& text = w.block->launch().text;
  Fault fault{.kind = kind};
  fault.thread = w.block->thread(w, lane);
  fault.block = w.block->index();
  fault.instruction = text.instruction_at(pc);
  fault.where = text.where_pc(pc);
  fault.message = std::move(message) + " by thread " + triple(fault.thread) + " in block " +
                  triple(fault.block);
  w.block->fault(w, std::move(fault));
}

Fault fault_of(Warp& w, const Op& op, const BadAccess& bad) {
  const std::uint32_t pc = op_pc(w, op);
  const Module::Text& text = w.block->launch().text;
  const Place place = place_of(bad);
  Fault fault{.kind = bad.kind};
  fault.thread = w.block->thread(w, bad.lane);
  fault.block = w.block->index();
  fault.instruction = text.instruction_at(pc);
  fault.where = text.where_pc(pc);
  fault.address = bad.address;
  fault.access_bytes = bad.bytes;
  const std::string_view verb = bad.is_atomic ? "atomic" : bad.is_write ? "write" : "read";
  const bool misaligned = bad.kind == FaultKind::misaligned;
  fault.message = std::string(misaligned ? "Misaligned " : "Invalid ") +
                  std::string(space_name(place.space)) + " " + std::string(verb) + " of size " +
                  bytes_text(bad.bytes) + " at address " + hex(place.offset) + " by thread " +
                  triple(fault.thread) + " in block " + triple(fault.block) + ": " +
                  where_it_is(w, bad, place, fault);
  return fault;
}

void fault_access(Warp& w, const Op& op, const BadAccess& bad) {
  w.block->fault(w, fault_of(w, op, bad));
}

}  // namespace assay::emulator
