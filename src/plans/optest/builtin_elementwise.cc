#include <cmath>
#include <utility>

#include "plans/optest/builtin_operators.h"

namespace assay::optest {
namespace {

// `body(out, i, a, b)` for every element of the broadcast result.
template <typename Body>
Numbers over_pairs(const Call& call, bool is_integral, Body body) {
  call.want_inputs(2, 2);
  const Shape shape = broadcast(call.input(0).shape, call.input(1).shape);
  const auto left = broadcast_sources(call.input(0).shape, shape);
  const auto right = broadcast_sources(call.input(1).shape, shape);
  Numbers out = zeros(shape, is_integral);
  out.is_unsigned = is_integral && (call.input(0).is_unsigned || call.input(1).is_unsigned);
  for (std::uint64_t i = 0; i < left.size(); ++i) body(out, i, left[i], right[i]);
  return out;
}

// Integers wrap, as the machine's do.
template <typename RealOp, typename IntegerOp>
Numbers arithmetic(const Call& call, RealOp real, IntegerOp integer) {
  call.want_inputs(2, 2);
  if (call.is_integral()) {
    const auto& a = call.input(0).integers;
    const auto& b = call.input(1).integers;
    return over_pairs(call, true, [&](Numbers& out, auto i, auto x, auto y) {
      out.integers[i] = static_cast<std::int64_t>(
          integer(static_cast<std::uint64_t>(a[x]), static_cast<std::uint64_t>(b[y])));
    });
  }
  const auto& a = call.input(0).reals;
  const auto& b = call.input(1).reals;
  return over_pairs(call, false,
                    [&](Numbers& out, auto i, auto x, auto y) { out.reals[i] = real(a[x], b[y]); });
}

// Exact for integers, whatever their signs and widths.
bool is_less(const Numbers& a, std::uint64_t i, const Numbers& b, std::uint64_t j) {
  if (!a.is_integral) return a.reals[i] < b.reals[j];
  const auto left = a.integers[i];
  const auto right = b.integers[j];
  const auto unsigned_left = static_cast<std::uint64_t>(left);
  const auto unsigned_right = static_cast<std::uint64_t>(right);
  if (a.is_unsigned && b.is_unsigned) return unsigned_left < unsigned_right;
  if (a.is_unsigned) return std::cmp_less(unsigned_left, right);
  if (b.is_unsigned) return std::cmp_less(left, unsigned_right);
  return left < right;
}

bool is_equal(const Numbers& a, std::uint64_t i, const Numbers& b, std::uint64_t j) {
  if (!a.is_integral) return a.reals[i] == b.reals[j];
  return !is_less(a, i, b, j) && !is_less(b, j, a, i);
}

template <typename Test>
Numbers comparison(const Call& call, Test test) {
  return over_pairs(call, true, [&](Numbers& out, auto i, auto x, auto y) {
    out.integers[i] = test(call.input(0), x, call.input(1), y) ? 1 : 0;
  });
}

template <typename Function>
Numbers of_reals(const Call& call, Function function) {
  call.want_inputs(1, 1);
  const Numbers& in = call.input(0);
  Numbers out = zeros(in.shape, false);
  for (std::uint64_t i = 0; i < in.size(); ++i) out.reals[i] = function(in.real(i));
  return out;
}

// Neither branch overflows.
double logistic(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double power = std::exp(x);
  return power / (1 + power);
}

}  // namespace

Numbers elementwise_add(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a + b; },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

Numbers elementwise_sub(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a - b; },
      [](std::uint64_t a, std::uint64_t b) { return a - b; });
}

Numbers elementwise_mul(const Call& call) {
  return arithmetic(
      call, [](double a, double b) { return a * b; },
      [](std::uint64_t a, std::uint64_t b) { return a * b; });
}

// True division, as NumPy's: a quotient of integers is a real, cut where the output is an integer.
Numbers elementwise_div(const Call& call) {
  return over_pairs(call, false, [&](Numbers& out, auto i, auto x, auto y) {
    const double divisor = call.input(1).real(y);
    if (call.is_integral() && divisor == 0) {
      throw ReferenceFault("integer division by zero at element " + std::to_string(i));
    }
    out.reals[i] = call.input(0).real(x) / divisor;
  });
}

Numbers compare_equal(const Call& call) { return comparison(call, is_equal); }

Numbers compare_less(const Call& call) { return comparison(call, is_less); }

Numbers compare_greater(const Call& call) {
  return comparison(
      call, [](const Numbers& a, auto i, const Numbers& b, auto j) { return is_less(b, j, a, i); });
}

// Not "not greater": with a NaN none of them holds.
Numbers compare_less_equal(const Call& call) {
  return comparison(call, [](const Numbers& a, auto i, const Numbers& b, auto j) {
    return is_less(a, i, b, j) || is_equal(a, i, b, j);
  });
}

Numbers compare_greater_equal(const Call& call) {
  return comparison(call, [](const Numbers& a, auto i, const Numbers& b, auto j) {
    return is_less(b, j, a, i) || is_equal(a, i, b, j);
  });
}

Numbers relu(const Call& call) {
  if (!call.is_integral()) {
    return of_reals(call, [](double x) { return x > 0 || std::isnan(x) ? x : 0.0; });
  }
  call.want_inputs(1, 1);
  Numbers out = call.input(0);
  for (auto& one : out.integers) {
    if (one < 0 && !out.is_unsigned) one = 0;
  }
  return out;
}

Numbers sigmoid(const Call& call) { return of_reals(call, logistic); }

Numbers hyperbolic_tangent(const Call& call) {
  return of_reals(call, [](double x) { return std::tanh(x); });
}

Numbers hyperbolic_sine(const Call& call) {
  return of_reals(call, [](double x) { return std::sinh(x); });
}

Numbers leaky_relu(const Call& call) {
  const double alpha = call.number("alpha", 0.01);
  return of_reals(call, [alpha](double x) { return x > 0 ? x : alpha * x; });
}

}  // namespace assay::optest
