// Would a kernel that does no work pass? A warning about the task, never evidence against a kernel.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/contract/contract.h"

namespace assay::judge {

// A tensor the referee holds: contiguous, C order.
struct TensorView {
  std::string name{};
  contract::DType dtype = contract::DType::float32;
  std::vector<std::int64_t> shape{};
  std::span<const std::byte> bytes{};
};

// not_numbers: three quarters of what is expected, or more, are NaN or infinite.
enum class WeakAnswer { zeros, constant, mean, input_copy, not_numbers };
[[nodiscard]] std::string_view name(WeakAnswer answer);

struct WeakOracle {
  WeakAnswer answer = WeakAnswer::zeros;
  std::string output{};
  std::string input{};    // for input_copy
  std::string message{};  // one sentence for people
};

// Which trivial answers would pass for this expected output. Outputs of fewer than two elements are
// not asked for constant and mean: any value is one.
[[nodiscard]] std::vector<WeakOracle> weak_oracle(const TensorView& expected,
                                                  std::span<const TensorView> inputs,
                                                  const contract::Tolerance& tolerance);

}  // namespace assay::judge
