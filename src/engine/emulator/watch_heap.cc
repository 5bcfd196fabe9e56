// What a watch makes of the device's heap, of which every access is in bounds for a device: each
// has to lie in one block that malloc() returned and nobody has freed.
#include "engine/emulator/block.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

void Watch::allocated(std::uint64_t address, std::uint64_t bytes) {
  global_.forget(address, bytes);
  const auto heap = static_cast<std::size_t>(heap_object_);
  if (heap_object_ >= 0 && is_tracked_[heap] != 0) {
    written_[heap].remove(address - kHeapBase, bytes);
  }
}

void Watch::check_heap(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  const auto block = launch_.heap->block_below(at.offset);
  if (block && !block->is_freed && at.offset + t.bytes <= block->begin + block->bytes) return;
  bool fresh = false;
  Finding& f = add({FindingKind::heap_misuse, current_pc_, t.lane, current_pc_}, w, fresh);
  if (!fresh) return;
  name_memory(f, t, at);
  std::string where = "where malloc() has returned nothing";
  if (block) {
    const std::uint64_t into = at.offset - block->begin;
    const std::string size = std::to_string(block->bytes) + " bytes";
    where = block->is_freed && into < block->bytes
                ? "at byte " + std::to_string(into) + " of a block of " + size + " that was freed"
                : "at byte " + std::to_string(into) + " of a block of " + size +
                      " that malloc() returned";
  }
  f.message = std::string("Invalid __global__ ") + (t.write ? "write" : "read") + " of size " +
              std::to_string(t.bytes) + " in the device's heap, " + where + ", by thread " +
              text_of(f.thread) + " in block " + text_of(f.block);
}

}  // namespace assay::emulator
