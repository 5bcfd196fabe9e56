// Accesses to shared memory that leave their variable and stay in the block's: a device has another
// variable there, an inspected launch has room that is nobody's (shared_layout.cc).
#include <algorithm>

#include "engine/emulator/block.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

void Watch::find_shared_variables() {
  if (launch_.shared.room_bytes == 0) return;
  for (const auto& [variable, begin] : launch_.shared.offsets) {
    const SharedVariable& s = launch_.text.shared[variable];
    const std::uint64_t end = s.dynamic ? launch_.user_shared_bytes : begin + s.size_bytes;
    shared_variables_.push_back({.begin = begin, .end = end, .variable = variable});
  }
}

bool Watch::is_in_variable(const MemoryPlace& at, std::uint64_t bytes) const {
  if (at.space != Space::shared || shared_variables_.empty()) return true;
  return std::any_of(shared_variables_.begin(), shared_variables_.end(), [&](const SharedRange& v) {
    return at.offset >= v.begin && at.offset + bytes <= v.end;
  });
}

// It is the variable's whose edge is nearest: how the address was made is not known.
void Watch::tell_outside(Warp& w, const MemoryTouch& t, const MemoryPlace& at) {
  bool fresh = false;
  Finding& f = add({FindingKind::out_of_bounds, current_pc_, t.lane, current_pc_}, w, fresh);
  if (!fresh) return;
  const std::uint64_t end = at.offset + t.bytes;
  const auto distance = [&](const SharedRange& v) {
    return at.offset >= v.end ? at.offset - v.end : v.begin >= end ? v.begin - end : 0;
  };
  const SharedRange& nearest = *std::min_element(
      shared_variables_.begin(), shared_variables_.end(),
      [&](const SharedRange& a, const SharedRange& b) { return distance(a) < distance(b); });
  name_memory(f, t, at);
  f.buffer = plain_name(launch_.text.shared[nearest.variable].name);
  f.buffer_offset_bytes =
      static_cast<std::int64_t>(at.offset) - static_cast<std::int64_t>(nearest.begin);
  const char* const verb = t.atomic ? "atomic" : t.write ? "write" : "read";
  const char* const side = at.offset >= nearest.end ? " bytes after the end of "
                           : end <= nearest.begin   ? " bytes before the start of "
                                                    : " bytes across an edge of ";
  f.message = std::string("Invalid __shared__ ") + verb + " of size " + std::to_string(t.bytes) +
              " of " + element_text(f) + " by thread " + text_of(f.thread) + " in block " +
              text_of(f.block) + ": " + std::to_string(distance(nearest)) + side +
              "the variable (" + std::to_string(nearest.end - nearest.begin) +
              " bytes), where a device has another one";
}

}  // namespace assay::emulator
