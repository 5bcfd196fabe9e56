// The products of a warp that are not of two whole matrices, each in a file of its own.
#pragma once

#include <cfenv>

#include "engine/emulator/matrix.h"

namespace assay::emulator {

struct Warp;

void multiply_quads(Warp& w, const MatrixProduct& p);
void multiply_sparse(Warp& w, const MatrixProduct& p);

// Sums are rounded as asked for while this lives.
class RoundedSums {
 public:
  explicit RoundedSums(MatrixProduct::Rounding r) : is_set_(r != MatrixProduct::Rounding::nearest) {
    if (!is_set_) return;
    std::fesetround(r == MatrixProduct::Rounding::zero    ? FE_TOWARDZERO
                    : r == MatrixProduct::Rounding::minus ? FE_DOWNWARD
                                                          : FE_UPWARD);
  }
  ~RoundedSums() {
    if (is_set_) std::fesetround(FE_TONEAREST);
  }
  RoundedSums(const RoundedSums&) = delete;
  RoundedSums& operator=(const RoundedSums&) = delete;

 private:
  bool is_set_;
};

}  // namespace assay::emulator
