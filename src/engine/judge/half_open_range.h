// The values v of a floating type with low <= v < high: what rounding has pushed out of the range
// comes back to its edge. If the type has no value in there, low rounded.
//
// Pure; any thread. Private to the generator, on the CPU and on a device.
#pragma once

#include "engine/judge/scalar_conversion.h"

namespace assay::judge {

class HalfOpenRange {
 public:
  HalfOpenRange(double low, double high, contract::DType dtype)
      : low_(low),
        high_(high),
        dtype_(dtype),
        first_(to_bits(low, dtype)),
        last_(to_bits(high, dtype)) {
    if (from_bits(first_, dtype) < low) first_ = next_up(first_, dtype);
    while (from_bits(last_, dtype) >= high) last_ = next_down(last_, dtype);
    if (!(from_bits(first_, dtype) < high)) first_ = last_ = to_bits(low, dtype);
  }

  [[nodiscard]] std::uint64_t first_bits() const { return first_; }
  [[nodiscard]] std::uint64_t last_bits() const { return last_; }

  [[nodiscard]] double clamp(double value) const {
    const double rounded = dtype_ == contract::DType::float32
                               ? static_cast<double>(static_cast<float>(value))
                               : from_bits(to_bits(value, dtype_), dtype_);
    if (rounded >= high_) return from_bits(last_, dtype_);
    if (rounded < low_) return from_bits(first_, dtype_);
    return rounded;
  }

 private:
  double low_;
  double high_;
  contract::DType dtype_;
  std::uint64_t first_;
  std::uint64_t last_;
};

}  // namespace assay::judge
