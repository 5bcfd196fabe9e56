// Sizes written as text: "n", "2*n + 1", "ceildiv(n, 256)". Integers of 64 bits, + - * / % and
// parentheses, ceildiv(a, b); / and % round toward minus infinity, as Python's // and % do, and //
// is the same as /.
//
// Pure; any thread. Bounded: texts over kMaxExpressionLength characters are refused, nesting too.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

namespace assay::contract {

inline constexpr std::size_t kMaxExpressionLength = 256;

struct ExpressionError {
  std::string message{};
};
using ExpressionResult = std::variant<std::int64_t, ExpressionError>;

// Gives the value of a name, or says why it has none.
using NameLookup = std::function<ExpressionResult(std::string_view name)>;

[[nodiscard]] ExpressionResult evaluate(std::string_view text, const NameLookup& lookup);

// A name as it may stand in an expression: a letter or _, then letters, digits, _.
[[nodiscard]] bool is_name(std::string_view text);

}  // namespace assay::contract
