// Is an output right, and if not, how is it wrong? Runs in the process that holds the expected
// outputs.
//
// An element is right if both are NaN, or both the same infinity, or |got - want| <= atol + rtol *
// |want|. Integers and bool are compared exactly unless a tolerance is asked for. Complex: NaN and
// infinity by component, finite values by modulus.
//
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/contract/contract.h"
#include "engine/judge/mismatch_map.h"

namespace assay::judge {

// The tolerance in force, and the text that says where it comes from.
struct ToleranceInForce {
  contract::Tolerance value{};
  std::string source{};
};

[[nodiscard]] ToleranceInForce default_tolerance(contract::DType dtype);

// The output's own request, then the caller's, then the dtype's default; each half by itself.
[[nodiscard]] ToleranceInForce tolerance_in_force(
    contract::DType dtype, const std::optional<contract::ToleranceRequest>& output,
    const contract::ToleranceRequest& caller = {});

struct BadElement {
  std::vector<std::int64_t> index{};  // one per dimension
  std::uint64_t position = 0;         // C-order
  std::string got{};  // shortest text that reads back to the same value; "nan", "inf"
  std::string want{};
  double abs_error = 0;  // infinity where NaN or infinity is misplaced
  double rel_error = 0;  // abs_error / |want|; infinity where want is 0
  std::optional<std::uint64_t>
      ulp_error{};  // steps of the dtype between the two; real finite floats only
  bool operator==(const BadElement&) const = default;
};

struct Comparison {
  bool equal = false;  // every element is right
  std::uint64_t mismatches = 0;
  std::uint64_t elements = 0;
  // Of the mismatches: those where one side is NaN, and else one is infinite. They have no
  // distance.
  std::uint64_t nan_mismatches = 0;
  std::uint64_t infinity_mismatches = 0;
  std::optional<BadElement> worst{};  // the mismatch with the greatest excess over its tolerance
  std::vector<BadElement> first{};    // the first mismatches, at most 10
  // Over all elements, right ones too, where both are finite; relative errors where want is not 0.
  // A 0 beside mismatches: no mismatch has such an error.
  double max_abs_error = 0;
  double max_rel_error = 0;
  std::uint64_t max_ulp_error = 0;  // floats only
  // What the mismatches have in common, in words; empty if nothing explains them. A sentence that
  // does not hold for every mismatch states its share.
  std::string pattern{};
  // Where they lie; empty if all is right, or there are too many elements to look at again.
  MismatchMap map{};
};

// Both spans are contiguous, C order, elements(shape) × dtype bytes (else the comparison throws
// std::invalid_argument: a caller's bug). `poison` is the word the output held before the run, if
// any: an element that still holds it is wrong even where NaN is wanted.
[[nodiscard]] Comparison compare(std::span<const std::byte> expected,
                                 std::span<const std::byte> got, contract::DType dtype,
                                 std::span<const std::int64_t> shape,
                                 const contract::Tolerance& tolerance,
                                 std::optional<std::uint32_t> poison = std::nullopt);

struct Mutation {
  std::uint64_t count_bytes = 0;
  std::uint64_t first_byte = 0;
};

// Whether a buffer changed, bit for bit. Spans of different sizes throw std::invalid_argument.
[[nodiscard]] std::optional<Mutation> input_mutated(std::span<const std::byte> before,
                                                    std::span<const std::byte> after);

}  // namespace assay::judge
