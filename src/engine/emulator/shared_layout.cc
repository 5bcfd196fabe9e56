// Where the variables of shared memory lie. A device has them side by side, so that who leaves one
// is in the next and nothing faults; under inspection there is room between them that is nobody's.
#include <algorithm>

#include "engine/emulator/module.h"

namespace assay::emulator {
namespace {

// Room comes in steps of this or of the strictest alignment, so that whatever alignment an address
// has by chance it keeps, and its bank.
constexpr std::size_t kLeastStep = 1024;
constexpr std::size_t kMostRoom = 16 * kLeastStep;

std::vector<std::uint32_t> variables_of(const Module::Text& text, std::uint32_t function) {
  std::vector<std::uint32_t> used;
  for (const std::uint32_t f : text.reachable(function)) {
    const auto& references = text.functions[f].shared_references;
    used.insert(used.end(), references.begin(), references.end());
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

std::size_t aligned(std::size_t at, std::size_t alignment) {
  return (at + alignment - 1) & ~(alignment - 1);
}

// Behind a variable: as much as it has itself, which a row or a column too many does not exceed.
std::size_t room_behind(std::size_t bytes, std::size_t step) {
  return aligned(std::clamp<std::size_t>(bytes, 1, kMostRoom), step);
}

}  // namespace

SharedLayout shared_layout(const Module::Text& text, std::uint32_t function, Between between) {
  SharedLayout layout;
  const std::vector<std::uint32_t> used = variables_of(text, function);
  std::size_t step = kLeastStep;
  for (const std::uint32_t v : used) step = std::max(step, text.shared[v].align_bytes);
  std::size_t at = 0;
  std::size_t dynamic_align = 1;
  bool has_dynamic = false;
  for (const std::uint32_t v : used) {
    const SharedVariable& s = text.shared[v];
    if (s.dynamic) {
      dynamic_align = std::max(dynamic_align, s.align_bytes);
      has_dynamic = true;
      continue;
    }
    at = aligned(at, s.align_bytes);
    layout.offsets[v] = static_cast<std::uint32_t>(at + layout.room_bytes);
    at += s.size_bytes;
    const bool is_last = !has_dynamic && v == used.back();
    if (between == Between::room && !is_last) {
      layout.room_bytes += room_behind(s.size_bytes, step);
    }
  }
  // All dynamic variables begin where the static ones end.
  at = aligned(at, dynamic_align);
  layout.static_bytes = at + layout.room_bytes;
  for (const std::uint32_t v : used) {
    if (!text.shared[v].dynamic) continue;
    layout.offsets[v] = static_cast<std::uint32_t>(layout.static_bytes);
  }
  return layout;
}

}  // namespace assay::emulator
