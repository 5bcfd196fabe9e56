// The expressions that indexes are made of, over intervals: the other half of Reach.
#include <algorithm>
#include <charconv>

#include "engine/source/parameter.h"
#include "engine/source/reach.h"

namespace assay::source {
namespace {

constexpr std::size_t kMaxUpper = 400;

std::optional<std::size_t> axis_of(std::string_view word) {
  if (word == "x") return 0;
  if (word == "y") return 1;
  if (word == "z") return 2;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> integer_literal(const Token& token) {
  if (token.kind != TokenKind::number) return std::nullopt;
  std::int64_t value = 0;
  const bool is_hex = token.text.starts_with("0x") || token.text.starts_with("0X");
  const std::string_view digits = is_hex ? token.text.substr(2) : token.text;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, is_hex ? 16 : 10);
  const std::string_view rest(end, digits.data() + digits.size());
  const bool is_whole = rest.find_first_not_of("uUlL") == std::string_view::npos;
  return error == std::errc{} && is_whole ? std::optional(value) : std::nullopt;
}

// Sums, products and what else indexes are made of, over intervals of non-negative numbers.
class Reach::Expression {
 public:
  Expression(const Reach& reach, Range range, int depth)
      : reach_(reach), tokens_(reach.tokens_), at_(range.begin), end_(range.end), depth_(depth) {}

  std::optional<Interval> run() {
    auto value = choice();
    return at_ == end_ ? value : std::nullopt;
  }

 private:
  using Value = std::optional<Interval>;

  [[nodiscard]] bool is(std::string_view text) const { return at_ < end_ && tokens_[at_].is(text); }
  bool take(std::string_view text) {
    if (!is(text)) return false;
    ++at_;
    return true;
  }

  static Value bounded(Value value) {
    if (!value || value->upper.size() > kMaxUpper) return std::nullopt;
    return value;
  }

  // A comparison, or what begins with one: 0 or 1. `at_` is left behind it.
  bool take_comparison() {
    bool compares = false;
    while (at_ < end_ && !is("?") && !is(":") && !is(",") && !is(")")) {
      const Token& token = tokens_[at_];
      compares |= token.is("<") || token.is(">") || token.is("<=") || token.is(">=") ||
                  token.is("==") || token.is("!=") || token.is("&&") || token.is("||") ||
                  token.is("!");
      const bool opens = token.is("(") || token.is("[");
      if (opens) at_ = closing(tokens_, at_, end_);
      if (at_ == end_) return false;
      ++at_;
    }
    return compares;
  }

  // condition ? a : b
  Value choice() {
    Value value = sum();
    const bool is_whole = at_ >= end_ || is("?") || is(":") || is(",") || is(")");
    if (!is_whole) {
      if (!take_comparison()) return std::nullopt;
      value = Interval{0, 1, "1"};
    }
    if (!take("?")) return value;
    const Value yes = choice();
    if (!take(":")) return std::nullopt;
    const Value no = choice();
    if (!yes || !no) return std::nullopt;
    return join(*yes, *no);
  }

  // A sum that a guard bounds as a whole: row + j, where row + j < rows.
  Value guarded_sum() {
    for (const Guard& guard : reach_.guards_) {
      const std::size_t size = guard.sum.end - guard.sum.begin;
      if (at_ + size > end_ || depth_ > kMaxDepth) continue;
      const bool is_last = at_ + size == end_ || tokens_[at_ + size].is("+");
      const bool is_same =
          is_last && std::equal(tokens_.begin() + static_cast<std::ptrdiff_t>(guard.sum.begin),
                                tokens_.begin() + static_cast<std::ptrdiff_t>(guard.sum.end),
                                tokens_.begin() + static_cast<std::ptrdiff_t>(at_),
                                [](const Token& a, const Token& b) { return a.text == b.text; });
      if (!is_same) continue;
      const auto bound = reach_.value_of(guard.bound, depth_ + 1);
      if (!bound || bound->high <= 0) continue;
      at_ += size;
      return guard.is_included ? *bound : below(*bound);
    }
    return std::nullopt;
  }

  Value term() {
    if (const auto guarded = guarded_sum()) return guarded;
    return product();
  }

  Value sum() {
    Value left = term();
    while (left && (is("+") || is("-"))) {
      const bool adds = is("+");
      ++at_;
      const Value right = adds ? term() : product();
      if (!right) return std::nullopt;
      left = bounded(adds ? sum_of(*left, *right) : difference_of(*left, *right));
    }
    return left;
  }

  Value product() {
    Value left = factor();
    while (left && (is("*") || is("/") || is("%") || is("&") || is_shift())) {
      const char kind = tokens_[at_].text.front();
      at_ += kind == '<' || kind == '>' ? 2 : 1;
      const Value right = factor();
      if (!right || left->low < 0 || right->low < 0) return std::nullopt;
      left = bounded(applied(kind, *left, *right));
    }
    return left;
  }

  [[nodiscard]] bool is_shift() const {
    return at_ + 1 < end_ && (is("<") || is(">")) && tokens_[at_ + 1].text == tokens_[at_].text;
  }

  // ( … ) that holds a type is a cast.
  bool take_cast() {
    std::size_t i = at_ + 1;
    while (i < end_ && tokens_[i].kind == TokenKind::identifier &&
           (is_type_word(tokens_[i].text) || tokens_[i].text.ends_with("_t") ||
            tokens_[i].is("const")))
      ++i;
    if (i == at_ + 1 || i >= end_ || !tokens_[i].is(")")) return false;
    at_ = i + 1;
    return true;
  }

  Value factor() {
    if (at_ >= end_ || depth_ > kMaxDepth) return std::nullopt;
    const Token& token = tokens_[at_];
    if (token.is("(")) {
      if (take_cast()) return factor();
      const std::size_t close = closing(tokens_, at_, end_);
      if (close == end_) return std::nullopt;
      const Value inside = reach_.value_of({at_ + 1, close}, depth_ + 1);
      at_ = close + 1;
      return inside;
    }
    if (const auto number = integer_literal(token)) {
      ++at_;
      return exactly(*number);
    }
    return token.kind == TokenKind::identifier ? named() : std::nullopt;
  }

  Value named() {
    const Token& token = tokens_[at_];
    const auto axis =
        at_ + 2 < end_ && tokens_[at_ + 1].is(".") ? axis_of(tokens_[at_ + 2].text) : std::nullopt;
    if (axis) {
      at_ += 3;
      if (token.is("blockIdx")) return below(reach_.launch_.grid[*axis]);
      if (token.is("threadIdx")) return below(reach_.launch_.block[*axis]);
      if (token.is("gridDim")) return reach_.launch_.grid[*axis];
      if (token.is("blockDim")) return reach_.launch_.block[*axis];
      return std::nullopt;
    }
    ++at_;
    if (is("(")) return called(token.text);
    if (is("[") || is(".") || is("->") || is("::")) return std::nullopt;
    return reach_.variable(token.text, depth_ + 1);
  }

  // min and max of two, and int(…).
  Value called(std::string_view function) {
    const std::size_t close = closing(tokens_, at_, end_);
    if (close == end_) return std::nullopt;
    const auto parts = split_at_commas(tokens_, at_ + 1, close);
    at_ = close + 1;
    if (parts.size() == 1 && is_type_word(function)) return reach_.value_of(parts[0], depth_ + 1);
    if (parts.size() != 2 || (function != "min" && function != "max")) return std::nullopt;
    const Value a = reach_.value_of(parts[0], depth_ + 1);
    const Value b = reach_.value_of(parts[1], depth_ + 1);
    if (function == "max") return a && b ? Value(join(*a, *b)) : std::nullopt;
    // One of them bounds it, whatever the other is.
    if (!a || !b) return a ? a : b;
    return a->high <= b->high ? Interval{std::min(a->low, b->low), a->high, a->upper}
                              : Interval{std::min(a->low, b->low), b->high, b->upper};
  }

  const Reach& reach_;
  const Tokens& tokens_;
  std::size_t at_;
  std::size_t end_;
  int depth_;
};

std::optional<Interval> Reach::value_of(Range range, int depth) const {
  if (depth > kMaxDepth || range.begin >= range.end) return std::nullopt;
  return Expression(*this, range, depth).run();
}

}  // namespace assay::source
