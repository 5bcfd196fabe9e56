#include "engine/contract/expression.h"

#include <charconv>
#include <optional>

namespace assay::contract {
namespace {

constexpr std::string_view kTritonsOwn = ".cdiv";  // as a grid is written in Python

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

// Recursive descent over sum → product → factor. The first error ends it: every step returns
// nullopt then.
class Evaluation {
 public:
  Evaluation(std::string_view text, const NameLookup& lookup) : text_(text), lookup_(lookup) {}

  ExpressionResult run() {
    const auto value = sum();
    skip_space();
    if (value && at_ != text_.size()) fail("unexpected " + in_quotes(text_.substr(at_, 1)));
    if (!error_.empty()) return ExpressionError{error_};
    return *value;
  }

 private:
  using Value = std::optional<std::int64_t>;

  Value fail(std::string message) {
    if (error_.empty()) error_ = std::move(message) + " in expression " + in_quotes(text_);
    return std::nullopt;
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Value sum() {
    Value left = product();
    while (left) {
      if (take('+')) {
        left = apply('+', left, product());
      } else if (take('-')) {
        left = apply('-', left, product());
      } else {
        break;
      }
    }
    return left;
  }

  Value product() {
    Value left = factor();
    while (left) {
      if (take('*')) {
        left = apply('*', left, factor());
      } else if (take('/')) {
        take('/');
        left = apply('/', left, factor());
      } else if (take('%')) {
        left = apply('%', left, factor());
      } else {
        break;
      }
    }
    return left;
  }

  Value factor() {
    if (++depth_ > kMaxDepth) return fail("too deeply nested");
    Value value = primary();
    --depth_;
    return value;
  }

  Value primary() {
    if (take('-')) return apply('-', 0, factor());
    if (take('(')) {
      const Value inside = sum();
      if (inside && !take(')')) return fail("missing ')'");
      return inside;
    }
    skip_space();
    if (at_ >= text_.size()) return fail("a number or name is missing at the end");
    if (is_digit(text_[at_])) return number();
    if (is_letter(text_[at_])) return named();
    return fail("unexpected " + in_quotes(text_.substr(at_, 1)));
  }

  Value number() {
    std::int64_t value = 0;
    const auto [end, code] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (code != std::errc{}) return fail("number too large");
    at_ = static_cast<std::size_t>(end - text_.data());
    if (at_ < text_.size() && (is_letter(text_[at_]) || text_[at_] == '.')) {
      return fail("unexpected " + in_quotes(text_.substr(at_, 1)));
    }
    return value;
  }

  Value named() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "triton" && text_.substr(at_).starts_with(kTritonsOwn)) {
      name = "cdiv";
      at_ += kTritonsOwn.size();
    }
    if ((name == "ceildiv" || name == "cdiv") && take('(')) return ceildiv();
    const ExpressionResult result = lookup_(name);
    if (const auto* error = std::get_if<ExpressionError>(&result)) return fail(error->message);
    return std::get<std::int64_t>(result);
  }

  Value ceildiv() {
    const Value left = sum();
    if (left && !take(',')) return fail("ceildiv takes two arguments");
    const Value right = left ? sum() : std::nullopt;
    if (right && !take(')')) return fail("missing ')'");
    if (!right) return std::nullopt;
    // ceil(a / b) = -floor(-a / b)
    return apply('-', 0, apply('/', apply('-', 0, left), right));
  }

  Value apply(char op, Value left, Value right) {
    if (!left || !right) return std::nullopt;
    std::int64_t result = 0;
    bool overflow = false;
    switch (op) {
      case '+':
        overflow = __builtin_add_overflow(*left, *right, &result);
        break;
      case '-':
        overflow = __builtin_sub_overflow(*left, *right, &result);
        break;
      case '*':
        overflow = __builtin_mul_overflow(*left, *right, &result);
        break;
      default:
        if (*right == 0) return fail("division by zero");
        if (*right == -1) {  // the one quotient that can overflow
          if (op == '%') return 0;
          return apply('-', 0, left);
        }
        std::int64_t quotient = *left / *right;
        std::int64_t remainder = *left % *right;
        if (remainder != 0 && (remainder < 0) != (*right < 0)) {
          --quotient;
          remainder += *right;
        }
        result = op == '/' ? quotient : remainder;
    }
    if (overflow) return fail("result does not fit in 64 bits");
    return result;
  }

  static constexpr int kMaxDepth = 64;
  std::string_view text_;
  const NameLookup& lookup_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_{};
};

}  // namespace

ExpressionResult evaluate(std::string_view text, const NameLookup& lookup) {
  if (text.size() > kMaxExpressionLength) {
    return ExpressionError{"expression longer than " + std::to_string(kMaxExpressionLength) +
                           " characters"};
  }
  return Evaluation(text, lookup).run();
}

bool is_name(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return false;
  for (const char c : text) {
    if (!is_letter(c) && !is_digit(c)) return false;
  }
  return true;
}

}  // namespace assay::contract
