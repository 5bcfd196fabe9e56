// What the words of CUDA C++ are where everything computes in double: types, functions and
// intrinsics of fewer bits beside their wider ones, and what is the same in any type. A word that
// is in neither list is nobody's to guess at. Private to this room. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace assay::source {

enum class Width : unsigned char { half, single };

struct WiderType {
  std::string_view wider{};
  Width width = Width::single;
};

// "float4" → double4; nothing for what is no floating type of fewer bits.
[[nodiscard]] std::optional<WiderType> wider_type(std::string_view word);

// int, uint32_t, uchar4: a number or several, none of them a floating-point one.
[[nodiscard]] bool is_integer_type(std::string_view word);

// "__expf" → "exp", "__half2float" → "double", which is a cast then; "" if there is none. What
// begins with "assay_in_double_" is to be defined, see definition_in_double().
[[nodiscard]] std::string wider_function(std::string_view word);

// Macros that are numbers of fewer bits: INFINITY, FLT_MAX, CUDART_PI_F, CUDART_INF_FP16.
[[nodiscard]] bool is_narrow_constant(std::string_view word);

// Functions that may be called as they are: they have a form for double by the same name, or know
// nothing of floating-point numbers.
[[nodiscard]] bool is_any_width(std::string_view word);
// Likewise members that an object of a library has.
[[nodiscard]] bool is_member_of_any_width(std::string_view word);

// Why a word has no meaning where floats are double: it speaks of bits. "" for all others.
[[nodiscard]] std::string why_not_in_double(std::string_view word);

// One line that defines a function which wider_function() or an overload in double needs.
[[nodiscard]] std::string_view definition_in_double(std::string_view word);

// Headers whose functions these lists know.
[[nodiscard]] bool is_known_header(std::string_view name);

}  // namespace assay::source
