#include <algorithm>
#include <cmath>

#include "plans/optest/builtin_operators.h"

namespace assay::optest {
namespace {

Numbers scalar(double value) {
  Numbers out = zeros({}, false);
  out.reals[0] = value;
  return out;
}

// rows × inner times inner × columns, each with the steps between its rows and columns.
struct Product {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  std::int64_t left_row = 0;
  std::int64_t left_column = 1;
  std::int64_t right_row = 0;
  std::int64_t right_column = 1;
};

template <typename T, typename Sum>
void multiply(const Product& p, const T* left, const T* right, T* out) {
  std::vector<Sum> line(static_cast<std::size_t>(p.columns));
  for (std::int64_t i = 0; i < p.rows; ++i) {
    std::fill(line.begin(), line.end(), Sum{});
    for (std::int64_t k = 0; k < p.inner; ++k) {
      const auto a = static_cast<Sum>(left[i * p.left_row + k * p.left_column]);
      const T* b = right + k * p.right_row;
      for (std::int64_t j = 0; j < p.columns; ++j) {
        line[static_cast<std::size_t>(j)] += a * static_cast<Sum>(b[j * p.right_column]);
      }
    }
    for (std::int64_t j = 0; j < p.columns; ++j) {
      out[i * p.columns + j] = static_cast<T>(line[static_cast<std::size_t>(j)]);
    }
  }
}

void want_same_inner(std::int64_t a, std::int64_t b) {
  if (a != b) {
    throw ReferenceFault("the inner extents differ: " + std::to_string(a) + " and " +
                         std::to_string(b));
  }
}

Product plain_product(const Shape& a, const Shape& b, bool trans_a, bool trans_b) {
  const auto rows_a = a.extents[0];
  const auto columns_a = a.extents[1];
  const auto columns_b = b.extents[1];
  Product p{.rows = trans_a ? columns_a : rows_a,
            .inner = trans_a ? rows_a : columns_a,
            .columns = trans_b ? b.extents[0] : columns_b,
            .left_row = trans_a ? 1 : columns_a,
            .left_column = trans_a ? columns_a : 1,
            .right_row = trans_b ? 1 : columns_b,
            .right_column = trans_b ? columns_b : 1};
  want_same_inner(p.inner, trans_b ? columns_b : b.extents[0]);
  return p;
}

// alpha · product + beta · addend, in reals unless both are 1.
Numbers with_addend(const Call& call, Numbers product) {
  const double alpha = call.number("alpha", 1);
  const double beta = call.number("beta", 1);
  if (call.inputs.size() == 2 && alpha == 1) return product;
  std::vector<std::uint64_t> sources;
  if (call.inputs.size() == 3) sources = broadcast_sources(call.input(2).shape, product.shape);
  const bool exact = product.is_integral && alpha == 1 && beta == 1;
  Numbers out = zeros(product.shape, exact);
  for (std::uint64_t i = 0; i < out.size(); ++i) {
    if (exact) {
      out.integers[i] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(product.integers[i]) +
                                    static_cast<std::uint64_t>(call.input(2).integers[sources[i]]));
    } else {
      out.reals[i] =
          alpha * product.real(i) + (sources.empty() ? 0 : beta * call.input(2).real(sources[i]));
    }
  }
  return out;
}

// NumPy's matmul: a vector is a row on the left and a column on the right, and the axis that was
// added goes again.
struct Stacked {
  Shape left{};
  Shape right{};
  bool drop_rows = false;
  bool drop_columns = false;
};

Stacked stacked(const Shape& a, const Shape& b) {
  if (a.extents.empty() || b.extents.empty()) throw ReferenceFault("matmul takes no scalars");
  Stacked result{.left = a,
                 .right = b,
                 .drop_rows = a.extents.size() == 1,
                 .drop_columns = b.extents.size() == 1};
  if (result.drop_rows) result.left.extents.insert(result.left.extents.begin(), 1);
  if (result.drop_columns) result.right.extents.push_back(1);
  return result;
}

Shape without_matrix(const Shape& shape) {
  return {.extents = {shape.extents.begin(), shape.extents.end() - 2}};
}

}  // namespace

Numbers vector_dot(const Call& call) {
  call.want_inputs(2, 2);
  if (call.input(0).size() != call.input(1).size()) {
    throw ReferenceFault("the vectors have " + std::to_string(call.input(0).size()) + " and " +
                         std::to_string(call.input(1).size()) + " elements");
  }
  return in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    const auto& a = elements<T>(call.input(0));
    const auto& b = elements<T>(call.input(1));
    using Sum = decltype(sum);
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += static_cast<Sum>(a[i]) * static_cast<Sum>(b[i]);
    Numbers out = zeros({}, call.is_integral());
    elements<T>(out)[0] = static_cast<T>(sum);
    return out;
  });
}

Numbers vector_sum(const Call& call) {
  call.want_inputs(1, 1);
  return in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    using Sum = decltype(sum);
    for (const T one : elements<T>(call.input(0))) sum += static_cast<Sum>(one);
    Numbers out = zeros({}, call.is_integral());
    elements<T>(out)[0] = static_cast<T>(sum);
    return out;
  });
}

Numbers vector_norm(const Call& call) {
  call.want_inputs(1, 1);
  long double sum = 0;
  for (std::uint64_t i = 0; i < call.input(0).size(); ++i) {
    const long double one = call.input(0).real(i);
    sum += one * one;
  }
  return scalar(static_cast<double>(std::sqrt(sum)));
}

Numbers gemm(const Call& call) {
  call.want_inputs(2, 3);
  call.want_dimensions(0, 2);
  call.want_dimensions(1, 2);
  const Product p = plain_product(call.input(0).shape, call.input(1).shape,
                                  call.flag("trans_a", false), call.flag("trans_b", false));
  Numbers product = in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    Numbers out = zeros({.extents = {p.rows, p.columns}}, call.is_integral());
    multiply<T, decltype(sum)>(p, elements<T>(call.input(0)).data(),
                               elements<T>(call.input(1)).data(), elements<T>(out).data());
    return out;
  });
  return with_addend(call, std::move(product));
}

Numbers matmul(const Call& call) {
  call.want_inputs(2, 2);
  const Stacked s = stacked(call.input(0).shape, call.input(1).shape);
  const Shape batch = broadcast(without_matrix(s.left), without_matrix(s.right));
  const auto left = broadcast_sources(without_matrix(s.left), batch);
  const auto right = broadcast_sources(without_matrix(s.right), batch);
  const std::size_t a = s.left.extents.size();
  const std::size_t b = s.right.extents.size();
  const Product p =
      plain_product({.extents = {s.left.extents[a - 2], s.left.extents[a - 1]}},
                    {.extents = {s.right.extents[b - 2], s.right.extents[b - 1]}}, false, false);
  Shape shape = batch;
  if (!s.drop_rows) shape.extents.push_back(p.rows);
  if (!s.drop_columns) shape.extents.push_back(p.columns);
  return in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    Numbers out = zeros(shape, call.is_integral());
    for (std::uint64_t i = 0; i < left.size(); ++i) {
      const auto size = [](std::int64_t x, std::int64_t y) {
        return static_cast<std::uint64_t>(x * y);
      };
      multiply<T, decltype(sum)>(
          p, elements<T>(call.input(0)).data() + left[i] * size(p.rows, p.inner),
          elements<T>(call.input(1)).data() + right[i] * size(p.inner, p.columns),
          elements<T>(out).data() + i * size(p.rows, p.columns));
    }
    return out;
  });
}

}  // namespace assay::optest
