#include "engine/source/interval.h"

#include <algorithm>

namespace assay::source {
namespace {

bool is_product(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth == 0 && (c == '+' || c == '-')) return false;
  }
  return true;
}

std::string in_parentheses(const std::string& text) {
  return is_product(text) ? text : "(" + text + ")";
}

// Behind a '*': b / 3 is not divided after the product.
std::string as_factor(const std::string& text) {
  return text.find_first_of("/%") == std::string::npos ? in_parentheses(text) : "(" + text + ")";
}

}  // namespace

Interval exactly(std::int64_t value) { return {value, value, std::to_string(value)}; }

Interval below(const Interval& extent) {
  const auto number = extent.upper == std::to_string(extent.high);
  return {0, extent.high - 1, number ? std::to_string(extent.high - 1) : extent.upper + "-1"};
}

Interval join(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), a.high >= b.high ? a.upper : b.upper};
}

std::optional<Interval> sum_of(const Interval& a, const Interval& b) {
  Interval out;
  if (__builtin_add_overflow(a.low, b.low, &out.low) ||
      __builtin_add_overflow(a.high, b.high, &out.high)) {
    return std::nullopt;
  }
  out.upper = a.upper + "+" + b.upper;
  if (b.upper == "0") out.upper = a.upper;
  if (a.upper == "0") out.upper = b.upper;
  return out;
}

namespace {

// The least of b, as it is written behind a '-': by name where that is the only value there is.
std::string least_of(const Interval& b) {
  return b.low == b.high ? in_parentheses(b.upper) : std::to_string(b.low);
}

// The same behind a '/', where a product stands in parentheses, too.
std::string divisor_of(const Interval& b) {
  const bool is_word = b.upper.find_first_of("+-*/%") == std::string::npos;
  return b.low != b.high || is_word ? least_of(b) : "(" + b.upper + ")";
}

}  // namespace

std::optional<Interval> difference_of(const Interval& a, const Interval& b) {
  Interval out;
  if (b.low < 0 || __builtin_sub_overflow(a.low, b.high, &out.low) ||
      __builtin_sub_overflow(a.high, b.low, &out.high)) {
    return std::nullopt;
  }
  out.upper = a.upper + (b.low == 0 ? "" : "-" + least_of(b));
  return out;
}

std::optional<Interval> applied(char kind, const Interval& a, const Interval& b) {
  Interval out;
  switch (kind) {
    case '*':
      if (__builtin_mul_overflow(a.high, b.high, &out.high)) return std::nullopt;
      out.low = a.low * b.low;
      out.upper = in_parentheses(a.upper) + "*" + as_factor(b.upper);
      if (a.upper == "1") out.upper = b.upper;
      if (b.upper == "1") out.upper = a.upper;
      if (a.upper == "0" || b.upper == "0") out.upper = "0";
      return out;
    case '/':
      if (b.low <= 0) return std::nullopt;
      return Interval{a.low / b.high, a.high / b.low,
                      in_parentheses(a.upper) + "/" + divisor_of(b)};
    case '%': {
      if (b.low <= 0) return std::nullopt;
      const bool wraps = a.high >= b.high;
      return Interval{0, wraps ? b.high - 1 : a.high, wraps ? below(b).upper : a.upper};
    }
    case '&':
      return a.high < b.high ? Interval{0, a.high, a.upper} : Interval{0, b.high, b.upper};
    case '>':
      if (b.high > 62) return std::nullopt;
      return Interval{0, a.high >> b.low,
                      in_parentheses(a.upper) + "/" + std::to_string(std::int64_t{1} << b.low)};
    default:
      if (b.low != b.high || b.high > 30 || a.high > (std::int64_t{1} << 31)) return std::nullopt;
      return Interval{a.low << b.low, a.high << b.low,
                      in_parentheses(a.upper) + "*" + std::to_string(std::int64_t{1} << b.low)};
  }
}

}  // namespace assay::source
