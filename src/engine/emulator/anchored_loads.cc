#include "engine/emulator/anchored_loads.h"

#include <algorithm>

namespace assay::emulator {
namespace {

constexpr std::size_t kMaxSeen = 64;

bool is_alike(const AnchoredLoads::Access& a, const AnchoredLoads::Access& b) {
  return a.base == b.base && a.form.address == b.form.address && a.form.elements == b.form.elements;
}

}  // namespace

// The one unused for longest, if no access used it after `since`; whoever had it leads no more.
std::int32_t AnchoredLoads::take_anchor(std::size_t since) {
  const auto it = std::min_element(free_from_.begin(), free_from_.end());
  if (*it > since) return -1;
  const auto anchor = static_cast<std::int32_t>(it - free_from_.begin());
  std::erase_if(seen_, [&](const Access& a) { return a.anchor == anchor; });
  return anchor;
}

std::optional<AnchoredLoads::Access> AnchoredLoads::leader_of(const Access& load,
                                                              bool always_runs) {
  const auto alike = [&](const Access& a) { return is_alike(a, load); };
  auto found = std::find_if(seen_.begin(), seen_.end(), alike);
  if (found == seen_.end()) {
    if (always_runs && seen_.size() < kMaxSeen) seen_.push_back(load);
    return std::nullopt;
  }
  // What is misaligned is so in a manner of its own.
  if ((load.imm - found->imm) % (std::int64_t{4} * load.form.elements) != 0) return std::nullopt;
  if (found->anchor < 0) {
    const std::int32_t anchor = take_anchor(found->pc);
    found = std::find_if(seen_.begin(), seen_.end(), alike);
    found->anchor = anchor;
  }
  if (found->anchor < 0) {
    if (always_runs) *found = load;
    return std::nullopt;
  }
  free_from_[static_cast<std::size_t>(found->anchor)] = load.pc + 1;
  return *found;
}

void AnchoredLoads::forget(std::string_view base) {
  std::erase_if(seen_, [&](const Access& a) { return a.base == base; });
}

}  // namespace assay::emulator
