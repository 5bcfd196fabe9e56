#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "plans/optest/builtin_operators.h"

namespace assay::optest {
namespace {

std::size_t axis_of(const nlohmann::json& value, std::size_t rank) {
  if (!value.is_number_integer()) throw ReferenceFault("axis must be an integer");
  const auto axis = value.get<std::int64_t>();
  const auto count = static_cast<std::int64_t>(rank);
  if (axis < -count || axis >= count) {
    throw ReferenceFault("axis " + std::to_string(axis) + " of a tensor with " +
                         std::to_string(rank) + " dimensions");
  }
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

// `axis`: absent or null for all, one, or several.
std::set<std::size_t> axes_of(const Call& call) {
  const std::size_t rank = call.input(0).shape.extents.size();
  std::set<std::size_t> axes;
  const auto given = call.params.find("axis");
  if (given == call.params.end() || given->is_null()) {
    for (std::size_t i = 0; i < rank; ++i) axes.insert(i);
  } else if (given->is_array()) {
    for (const auto& one : *given) axes.insert(axis_of(one, rank));
  } else {
    axes.insert(axis_of(*given, rank));
  }
  return axes;
}

// Where each element of the input goes, with reduced axes kept as 1.
struct Reduction {
  Shape kept{};
  Shape shape{};  // of the result
  std::vector<std::uint64_t> targets{};
  std::uint64_t count = 1;  // elements behind each result
};

Reduction reduction_of(const Call& call) {
  call.want_inputs(1, 1);
  const auto& extents = call.input(0).shape.extents;
  const auto axes = axes_of(call);
  const bool keep = call.flag("keepdims", false);
  Reduction result;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const bool reduced = axes.contains(i);
    if (reduced) result.count *= static_cast<std::uint64_t>(extents[i]);
    result.kept.extents.push_back(reduced ? 1 : extents[i]);
    if (!reduced || keep) result.shape.extents.push_back(reduced ? 1 : extents[i]);
  }
  result.targets = broadcast_sources(result.kept, call.input(0).shape);
  return result;
}

// Calls `row(first, step, count)` for each line along the axis.
template <typename Row>
void along(const Shape& shape, std::size_t axis, Row row) {
  std::uint64_t inner = 1;
  std::uint64_t outer = 1;
  for (std::size_t i = 0; i < shape.extents.size(); ++i) {
    const auto extent = static_cast<std::uint64_t>(shape.extents[i]);
    if (i < axis) outer *= extent;
    if (i > axis) inner *= extent;
  }
  const auto count = static_cast<std::uint64_t>(shape.extents[axis]);
  for (std::uint64_t o = 0; o < outer; ++o) {
    for (std::uint64_t i = 0; i < inner; ++i) row(o * count * inner + i, inner, count);
  }
}

}  // namespace

Numbers softmax(const Call& call) {
  call.want_inputs(1, 1);
  const Numbers& in = call.input(0);
  if (in.shape.extents.empty()) throw ReferenceFault("softmax takes no scalar");
  const std::size_t axis =
      axis_of(call.params.value("axis", nlohmann::json(-1)), in.shape.extents.size());
  Numbers out = zeros(in.shape, false);
  along(in.shape, axis, [&](std::uint64_t first, std::uint64_t step, std::uint64_t count) {
    double most = -std::numeric_limits<double>::infinity();
    for (std::uint64_t i = 0; i < count; ++i) most = std::max(most, in.real(first + i * step));
    long double sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const double power = std::exp(in.real(first + i * step) - most);
      out.reals[first + i * step] = power;
      sum += power;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      double& one = out.reals[first + i * step];
      one = static_cast<double>(one / sum);
    }
  });
  return out;
}

Numbers reduce_sum(const Call& call) {
  const Reduction reduction = reduction_of(call);
  return in_arithmetic(call, [&](auto element, auto sum) {
    using T = decltype(element);
    using Sum = decltype(sum);
    const auto& in = elements<T>(call.input(0));
    std::vector<Sum> sums(reduction.kept.elements(), Sum{});
    for (std::uint64_t i = 0; i < in.size(); ++i)
      sums[reduction.targets[i]] += static_cast<Sum>(in[i]);
    Numbers out = zeros(reduction.shape, call.is_integral());
    out.is_unsigned = call.input(0).is_unsigned;
    for (std::uint64_t i = 0; i < sums.size(); ++i) elements<T>(out)[i] = static_cast<T>(sums[i]);
    return out;
  });
}

Numbers reduce_mean(const Call& call) {
  const Reduction reduction = reduction_of(call);
  if (reduction.count == 0) throw ReferenceFault("the mean of no elements");
  std::vector<long double> sums(reduction.kept.elements(), 0);
  for (std::uint64_t i = 0; i < call.input(0).size(); ++i) {
    sums[reduction.targets[i]] += call.input(0).real(i);
  }
  Numbers out = zeros(reduction.shape, false);
  for (std::uint64_t i = 0; i < sums.size(); ++i) {
    out.reals[i] = static_cast<double>(sums[i] / static_cast<long double>(reduction.count));
  }
  return out;
}

Numbers broadcast_to(const Call& call) {
  call.want_inputs(1, 1);
  const auto wanted = call.params.find("shape");
  if (wanted == call.params.end() || !wanted->is_array())
    throw ReferenceFault("needs params.shape");
  Shape shape;
  constexpr std::uint64_t kMostElements = kMaxTensorBytes / sizeof(double);
  for (const auto& extent : *wanted) {
    if (!extent.is_number_integer() || extent.get<std::int64_t>() < 0) {
      throw ReferenceFault("params.shape is a list of extents");
    }
    const auto factor = extent.get<std::uint64_t>();
    if (factor > kMostElements || shape.elements() * factor > kMostElements) {
      throw ReferenceFault("params.shape is too large");
    }
    shape.extents.push_back(extent.get<std::int64_t>());
  }
  const Numbers& in = call.input(0);
  const auto sources = broadcast_sources(in.shape, shape);
  Numbers out = zeros(shape, in.is_integral);
  out.is_unsigned = in.is_unsigned;
  for (std::uint64_t i = 0; i < sources.size(); ++i) {
    if (in.is_integral)
      out.integers[i] = in.integers[sources[i]];
    else
      out.reals[i] = in.reals[sources[i]];
  }
  return out;
}

}  // namespace assay::optest
