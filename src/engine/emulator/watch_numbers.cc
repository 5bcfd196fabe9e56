// What a watch makes of numbers: divisions by zero, the first NaN and the first infinity.
#include <array>
#include <cmath>
#include <cstring>

#include "engine/emulator/block.h"
#include "engine/emulator/watch.h"

namespace assay::emulator {

void Watch::check_division(Warp& w, const Op& op, const WatchedSite& site) {
  const unsigned bytes = bytes_of(site.type);
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    std::uint64_t divisor = 0;
    std::memcpy(&divisor, w.rows + op.b + k * bytes, bytes);
    if (divisor != 0) continue;
    bool fresh = false;
    Finding& f = add({FindingKind::division_by_zero, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = "Integer division by zero by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

namespace {

double float_at(Warp& w, std::uint32_t row, unsigned lane, Type type) {
  if (type == Type::f32) {
    float v = 0;
    std::memcpy(&v, w.rows + row + lane * 4, 4);
    return static_cast<double>(v);
  }
  double v = 0;
  std::memcpy(&v, w.rows + row + lane * 8, 8);
  return v;
}

}  // namespace

void Watch::note_sources(Warp& w, const Op& op, const WatchedSite& site) {
  finite_sources_ = 0;
  const std::array<std::uint32_t, 3> rows{op.a, op.b, op.c};
  for (std::uint32_t m = w.active; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    bool finite = true;
    for (unsigned i = 0; i < site.elements; ++i) {
      finite = finite && std::isfinite(float_at(w, rows[i], k, site.type));
    }
    finite_sources_ |= static_cast<std::uint32_t>(finite) << k;
  }
}

void Watch::check_result(Warp& w, const Op& op, const WatchedSite& site) {
  for (std::uint32_t m = w.active & finite_sources_; m != 0; m &= m - 1) {
    const auto k = static_cast<unsigned>(__builtin_ctz(m));
    const double v = float_at(w, op.d, k, site.type);
    if (std::isfinite(v)) continue;
    const bool nan = std::isnan(v);
    // Only the first of each kind: the rest follows from it.
    bool& seen = nan ? seen_nan_ : seen_infinity_;
    const FindingKind kind = nan ? FindingKind::not_a_number : FindingKind::infinity;
    if (seen && (findings_.empty() || !is_known({kind, current_pc_, k, current_pc_}))) continue;
    seen = true;
    bool fresh = false;
    Finding& f = add({kind, current_pc_, k, current_pc_}, w, fresh);
    if (fresh) {
      f.message = std::string(nan ? "First NaN" : "First infinity") +
                  " made of finite numbers by thread " + text_of(f.thread) + " in block " +
                  text_of(f.block);
    }
  }
}

}  // namespace assay::emulator
