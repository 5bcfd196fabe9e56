#include "engine/judge/weak_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/judge/comparison.h"
#include "engine/judge/elements.h"
#include "engine/judge/scalar_conversion.h"

namespace assay::judge {
namespace {

using contract::DType;
using contract::Tolerance;

bool passes(const TensorView& expected, std::span<const std::byte> answer,
            const Tolerance& tolerance) {
  return compare(expected.bytes, answer, expected.dtype, expected.shape, tolerance).equal;
}

// The bytes of one real element; integers by rounding.
std::uint64_t nearest_bits(double value, DType dtype) {
  if (contract::is_floating(dtype)) return to_bits(value, dtype);
  const double rounded = std::nearbyint(value);
  if (rounded < 0)
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::max(rounded, -0x1p63)));
  return rounded >= 0x1p64 ? ~0ULL : static_cast<std::uint64_t>(rounded);
}

std::vector<std::byte> repeated(double value, const TensorView& like) {
  const DType part = contract::component(like.dtype);
  const std::size_t size = contract::size_bytes(part);
  const std::size_t step = contract::size_bytes(like.dtype);
  const std::uint64_t bits = nearest_bits(value, part);
  std::vector<std::byte> answer(like.bytes.size(), std::byte{0});
  for (std::size_t at = 0; at < answer.size(); at += step)
    std::memcpy(answer.data() + at, &bits, size);
  return answer;
}

struct Summary {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();
  double mean = 0;
  std::uint64_t finite = 0;  // elements that are; the rest are of the finite ones
};

Summary summarise(const TensorView& tensor, std::uint64_t elements) {
  Summary summary;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const double value = element_value(tensor.bytes, i, tensor.dtype).real();
    if (!std::isfinite(value)) continue;
    ++summary.finite;
    summary.lowest = std::min(summary.lowest, value);
    summary.highest = std::max(summary.highest, value);
    // A running mean, which cannot overflow where a sum would.
    summary.mean += (value - summary.mean) / static_cast<double>(summary.finite);
  }
  return summary;
}

std::string quoted_name(const std::string& name) { return "'" + name + "'"; }

}  // namespace

std::string_view name(WeakAnswer answer) {
  switch (answer) {
    case WeakAnswer::zeros:
      return "zeros";
    case WeakAnswer::constant:
      return "constant";
    case WeakAnswer::mean:
      return "mean";
    case WeakAnswer::input_copy:
      return "input_copy";
    case WeakAnswer::not_numbers:
      return "not_numbers";
  }
  return "?";
}

std::vector<WeakOracle> weak_oracle(const TensorView& expected, std::span<const TensorView> inputs,
                                    const Tolerance& tolerance) {
  std::vector<WeakOracle> found;
  const std::uint64_t elements = expected.bytes.size() / contract::size_bytes(expected.dtype);
  if (elements == 0) return found;
  auto note = [&](WeakAnswer answer, const std::string& what, const std::string& input = "") {
    found.push_back({.answer = answer,
                     .output = expected.name,
                     .input = input,
                     .message = what + " would pass for output " + quoted_name(expected.name) +
                                ": its tolerance or inputs tell a kernel that does no work from a "
                                "right one too little"});
  };
  const bool zeros = passes(expected, std::vector<std::byte>(expected.bytes.size()), tolerance);
  if (zeros) note(WeakAnswer::zeros, "all zeros");
  if (elements >= 2 && !zeros) {
    const Summary summary = summarise(expected, elements);
    if (4 * summary.finite < elements) {
      found.push_back(
          {.answer = WeakAnswer::not_numbers,
           .output = expected.name,
           .message = std::to_string(elements - summary.finite) + " of " +
                      std::to_string(elements) + " elements expected of " +
                      quoted_name(expected.name) +
                      " are NaN or infinite: there a kernel is right if it fails alike. "
                      "Choose inputs that the function is defined for"});
    } else if (summary.finite == elements) {
      // The middle of the range is the constant that is nearest to all elements; with a relative
      // tolerance the largest or the smallest may pass where it does not.
      const double middle = summary.lowest + (summary.highest - summary.lowest) / 2;
      for (const double constant : {middle, summary.lowest, summary.highest}) {
        if (!passes(expected, repeated(constant, expected), tolerance)) continue;
        note(WeakAnswer::constant, "the constant " + number_text(constant));
        break;
      }
      if (passes(expected, repeated(summary.mean, expected), tolerance)) {
        note(WeakAnswer::mean, "the mean " + number_text(summary.mean));
      }
    }
  }
  for (const TensorView& input : inputs) {
    if (input.dtype != expected.dtype || input.bytes.size() != expected.bytes.size()) continue;
    if (passes(expected, input.bytes, tolerance)) {
      note(WeakAnswer::input_copy, "a copy of input " + quoted_name(input.name), input.name);
    }
  }
  return found;
}

}  // namespace assay::judge
