// The element types of tensors and scalars: their names, the other spellings people use, their
// sizes.
//
// Pure values and tables; every function may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay::contract {

enum class DType : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  float8_e4m3fn,
  float8_e5m2,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean,  // spelled "bool"
  complex64,
  complex128,
};

// Every dtype, in the order in which they are listed to people.
[[nodiscard]] std::span<const DType> all_dtypes();

// The canonical name, as torch spells it: "float32", "bool".
[[nodiscard]] std::string_view name(DType dtype);

// Accepts the canonical names, torch's and C's usual other names ("half", "long", "fp16", "bf16"),
// and any of them after "torch.". Nothing else: an unknown text gives nullopt.
[[nodiscard]] std::optional<DType> parse_dtype(std::string_view text);

// A scalar's type as C and CUDA spell it ("unsigned int", "size_t", "__half", "int32_t"), or any
// dtype.
[[nodiscard]] std::optional<DType> parse_c_type(std::string_view text);

[[nodiscard]] std::size_t size_bytes(DType dtype);
[[nodiscard]] bool is_floating(DType dtype);  // real floating point; complex is not
[[nodiscard]] bool is_complex(DType dtype);
[[nodiscard]] bool is_integer(DType dtype);  // bool is not
[[nodiscard]] bool is_signed_integer(DType dtype);

// float32 for complex64, float64 for complex128, else the dtype itself.
[[nodiscard]] DType component(DType dtype);

// Bounds of the integer types; REQUIRES is_integer(dtype).
[[nodiscard]] std::int64_t lowest_integer(DType dtype);
[[nodiscard]] std::uint64_t highest_integer(DType dtype);

// The largest finite value of a real floating type; REQUIRES is_floating(dtype).
[[nodiscard]] double highest_finite(DType dtype);

}  // namespace assay::contract
