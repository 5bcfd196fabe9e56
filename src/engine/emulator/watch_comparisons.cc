// What a comparison says of a NaN that was made of ordinary numbers: false, whatever was meant. It
// is followed to where it decides something, as the value of an absent lane is; what is thrown
// away, or decided by a guard beside it, is nobody's business.
#include <utility>

#include "engine/emulator/block.h"
#include "engine/emulator/number_natures.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {
namespace {

// Of a loop that compares such values and uses no answer.
constexpr unsigned kMostDoubted = 4096;

}  // namespace

// Lanes that hold one.
std::uint32_t Watch::nans_made(Warp& w, std::uint32_t row, unsigned bytes) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  std::uint32_t found = 0;
  for (std::uint32_t m = origins.empty() ? 0 : w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const NumberOrigin o = origins.find(w.rows + row, k, bits_held(w, row, k, bytes));
    if (o.is_known() && o.is_nan) found |= 1U << k;
  }
  return found;
}

void Watch::check_comparison(Warp& w, const Op& op, const WatchedSite& site) {
  const NumberOrigins& origins = w.block->watch_state()->numbers;
  if (origins.empty() || seen_nan_ || op.a == op.b || comparisons_doubted_ > kMostDoubted) return;
  const unsigned bytes = bytes_of(site.type);
  std::uint32_t lanes = 0;
  NumberOrigin origin;
  for (const auto& [row, other] : {std::pair{op.a, op.b}, std::pair{op.b, op.a}}) {
    for (std::uint32_t m = nans_made(w, row, bytes); m != 0; m &= m - 1) {
      const auto k = static_cast<unsigned>(__builtin_ctz(m));
      const NumberOrigin o = origins.find(w.rows + row, k, bits_held(w, row, k, bytes));
      // Beside an infinity it is isfinite() or isinf(); an escape out of the range may be meant.
      const Nature beside = nature_of(bits_held(w, other, k, bytes), site.type);
      if (o.of_infinities || beside == Nature::infinite) continue;
      if (!origin.is_known()) origin = o;
      lanes |= 1U << k;
    }
  }
  if (lanes == 0) return;
  ++comparisons_doubted_;
  const auto first = static_cast<unsigned>(__builtin_ctz(lanes));
  compared_nans_ = lanes;
  compared_origin_ = {.pc = current_pc_, .lane = first, .number = origin};
  doubt_result(w, op, lanes, compared_origin_);
}

// Lanes of a choice between a NaN and something else: whether it is taken is seen by what becomes
// of it, and one that is not taken is thrown away.
std::uint32_t Watch::nans_chosen_from(Warp& w, const Op& op) const {
  const std::int32_t at = site_of_[op_pc(w, op)];
  if (at < 0) return 0;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(at)];
  if (site.kind != SiteKind::number || site.elements != 2) return 0;
  return nans_made(w, op.a, site.row_bytes) | nans_made(w, op.b, site.row_bytes);
}

// Lanes whose result is a NaN anyway, and is followed as one.
std::uint32_t Watch::nans_resulting(Warp& w, const Op& op, std::uint32_t pc) const {
  const std::int32_t at = wanted_.numbers ? site_of_[pc] : -1;
  if (at < 0) return 0;
  const WatchedSite& site = launch_.text.watched[static_cast<std::size_t>(at)];
  if (site.kind != SiteKind::number) return 0;
  const bool is_copy = site.step == IndexStep::copy;
  return nans_made(w, op.d, is_copy ? site.row_bytes : bytes_of(site.type));
}

}  // namespace assay::emulator
