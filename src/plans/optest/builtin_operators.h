// The operators behind builtins.h, and what they share. Private to this room.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "plans/optest/numbers.h"

namespace assay::optest {

// One call of an operator.
struct Call {
  std::span<const Numbers> inputs;
  const nlohmann::json& params;

  [[nodiscard]] const Numbers& input(std::size_t i) const { return inputs[i]; }
  // REQUIRES all of one kind after promote().
  [[nodiscard]] bool is_integral() const;
  [[nodiscard]] bool is_double() const;
  void want_inputs(std::size_t least, std::size_t most) const;
  void want_dimensions(std::size_t input, std::size_t dimensions) const;

  [[nodiscard]] std::int64_t integer(const char* key, std::int64_t otherwise) const;
  [[nodiscard]] double number(const char* key, double otherwise) const;
  [[nodiscard]] bool flag(const char* key, bool otherwise) const;
  // An integer for both directions, or two of them: rows, columns.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> pair(const char* key,
                                                           std::int64_t otherwise) const;
};

// Chooses the arithmetic: `body` is called with (element, accumulator) values of the types to use.
template <typename Body>
Numbers in_arithmetic(const Call& call, Body body) {
  if (call.is_integral()) return body(std::int64_t{}, std::uint64_t{});
  if (call.is_double()) return body(double{}, static_cast<long double>(0));
  return body(double{}, double{});
}

template <typename T>
const std::vector<T>& elements(const Numbers& numbers) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return numbers.integers;
  else
    return numbers.reals;
}
template <typename T>
std::vector<T>& elements(Numbers& numbers) {
  if constexpr (std::is_same_v<T, std::int64_t>)
    return numbers.integers;
  else
    return numbers.reals;
}

// NumPy's rule. Throws ReferenceFault.
[[nodiscard]] Shape broadcast(const Shape& a, const Shape& b);
// Which element of a tensor of `from` each element of `to` is, in C order.
[[nodiscard]] std::vector<std::uint64_t> broadcast_sources(const Shape& from, const Shape& to);

Numbers elementwise_add(const Call& call);
Numbers elementwise_sub(const Call& call);
Numbers elementwise_mul(const Call& call);
Numbers elementwise_div(const Call& call);
Numbers compare_equal(const Call& call);
Numbers compare_greater(const Call& call);
Numbers compare_less(const Call& call);
Numbers compare_less_equal(const Call& call);
Numbers compare_greater_equal(const Call& call);
Numbers relu(const Call& call);
Numbers sigmoid(const Call& call);
Numbers hyperbolic_tangent(const Call& call);
Numbers hyperbolic_sine(const Call& call);
Numbers leaky_relu(const Call& call);
Numbers vector_dot(const Call& call);
Numbers vector_norm(const Call& call);
Numbers vector_sum(const Call& call);
Numbers gemm(const Call& call);
Numbers matmul(const Call& call);
Numbers conv2d(const Call& call);
Numbers maxpool2d(const Call& call);
Numbers avgpool2d(const Call& call);
Numbers softmax(const Call& call);
Numbers reduce_sum(const Call& call);
Numbers reduce_mean(const Call& call);
Numbers broadcast_to(const Call& call);

// Rows or columns of a window that slides over padded input.
struct Sliding {
  std::int64_t input = 1;
  std::int64_t window = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;  // padding
  std::int64_t after = 0;

  [[nodiscard]] std::int64_t span() const { return dilation * (window - 1) + 1; }
  // Throws ReferenceFault if the window does not fit once.
  [[nodiscard]] std::int64_t outputs() const;
};
// `padding`: an integer, [rows, columns], [top, bottom, left, right], "same" or "valid".
void read_padding(const Call& call, Sliding& rows, Sliding& columns);

}  // namespace assay::optest
