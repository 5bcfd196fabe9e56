#include "engine/source/reach.h"

#include <algorithm>
#include <charconv>

#include "engine/source/parameter.h"

namespace assay::source {
namespace {

constexpr int kMaxDepth = 12;
constexpr std::size_t kMaxVariables = 512;
constexpr std::size_t kMaxGuards = 64;
constexpr std::size_t kMaxUpper = 400;

std::optional<std::int64_t> literal(const Token& token) {
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

Interval exactly(std::int64_t value) { return {value, value, std::to_string(value)}; }

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

// extent - 1, and for a plain number that number.
Interval below(const Interval& extent) {
  const auto number = extent.upper == std::to_string(extent.high);
  return {0, extent.high - 1, number ? std::to_string(extent.high - 1) : extent.upper + "-1"};
}

std::optional<std::size_t> axis_of(std::string_view word) {
  if (word == "x") return 0;
  if (word == "y") return 1;
  if (word == "z") return 2;
  return std::nullopt;
}

bool is_assigning(const Token& token) {
  return token.text.size() == 2 && token.text[1] == '=' &&
         std::string_view("+-*/%&|^").find(token.text[0]) != std::string_view::npos;
}

}  // namespace

std::optional<DynamicShared> dynamic_shared(const Tokens& tokens, Range body) {
  for (std::size_t i = 0; i + 4 < tokens.size(); ++i) {
    if (!tokens[i].is("extern") || !tokens[i + 1].is("__shared__")) continue;
    std::size_t open = i + 2;
    while (open < tokens.size() && !tokens[open].is("[") && !tokens[open].is(";")) ++open;
    if (open >= tokens.size() || !tokens[open].is("[")) continue;
    const std::string_view name = tokens[open - 1].text;
    for (std::size_t k = std::max(body.begin, open + 1); k < body.end; ++k) {
      if (!tokens[k].is(name)) continue;
      // __align__(16) and its like stand before the type.
      return DynamicShared{.name = std::string(name), .type = std::string(tokens[open - 2].text)};
    }
  }
  return std::nullopt;
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

  static Interval join(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high), a.high >= b.high ? a.upper : b.upper};
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
      if (opens && (at_ = closing(tokens_, at_, end_)) == end_) return false;
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
      Interval out;
      if (adds) {
        const bool is_nothing = right->upper == "0";
        out.upper = is_nothing           ? left->upper
                    : left->upper == "0" ? right->upper
                                         : left->upper + "+" + right->upper;
        if (__builtin_add_overflow(left->low, right->low, &out.low) ||
            __builtin_add_overflow(left->high, right->high, &out.high))
          return std::nullopt;
      } else {
        out.upper = left->upper + (right->low == 0 ? "" : "-" + std::to_string(right->low));
        if (__builtin_sub_overflow(left->low, right->high, &out.low) ||
            __builtin_sub_overflow(left->high, right->low, &out.high))
          return std::nullopt;
        if (right->low < 0) return std::nullopt;
      }
      left = bounded(out);
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

  static Value applied(char kind, const Interval& a, const Interval& b) {
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
                        in_parentheses(a.upper) + "/" + std::to_string(b.low)};
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
    if (const auto number = literal(token)) {
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

Reach::Reach(const Unit& unit, const Kernel& kernel, LaunchExtents launch, Lookup value)
    : tokens_(unit.tokens), kernel_(kernel), launch_(std::move(launch)), value_(std::move(value)) {
  if (kernel.body.begin == 0 || kernel.body.begin >= kernel.body.end) return;
  for (const Parameter& parameter : kernel.signature.parameters) {
    if (parameter.is_pointer()) aliases_[parameter.name] = {.array = parameter.name};
  }
  if (const auto shared = dynamic_shared(tokens_, kernel.body))
    aliases_[shared->name] = {.array = shared->name};
  read_body();
}

std::size_t Reach::end_of_value(std::size_t begin) const {
  std::size_t depth = 0;
  std::size_t end = begin;
  for (; end < kernel_.body.end; ++end) {
    const Token& token = tokens_[end];
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if ((token.is(")") || token.is("]") || token.is("}")) && depth-- == 0) break;
    if (depth == 0 && (token.is(";") || token.is(","))) break;
  }
  return end;
}

void Reach::read_body() {
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    const auto number = literal(tokens_[i + 2]);
    const bool defines = tokens_[i].kind == TokenKind::identifier && tokens_[i + 1].is("=") &&
                         number && (tokens_[i + 3].is(";") || tokens_[i + 3].is(","));
    const bool is_outside = i < kernel_.body.begin || i >= kernel_.body.end;
    if (defines && is_outside) constants_.emplace(tokens_[i].text, *number);
  }
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    note_guard(i);
    if (tokens_[i].kind != TokenKind::identifier || variables_.size() > kMaxVariables) continue;
    const Token& before = tokens_[i - 1];
    if (before.is(".") || before.is("->") || before.is("::")) continue;
    note_alias(i);
    note_assignment(i);
  }
}

void Reach::note_assignment(std::size_t at) {
  const Token& next = tokens_[at + 1];
  const Token& before = tokens_[at - 1];
  const std::string name(tokens_[at].text);
  if (aliases_.contains(name)) return;
  if (next.is("=")) {
    variables_[name].definitions.push_back({at + 2, end_of_value(at + 2)});
  } else if (next.is("++") || before.is("++") || next.is("+=") || next.is("*=") || next.is("<<=")) {
    variables_[name].grows = true;
  } else if (is_assigning(next) || next.is("--") || before.is("--") || next.is(">>=")) {
    variables_[name].changes = true;
  }
}

// v < E, v <= E, E > v, and v >= E of an early return; v may be a sum.
void Reach::note_guard(std::size_t at) {
  const Token& sign = tokens_[at];
  const bool is_shift = tokens_[at + 1].is(sign.text) || tokens_[at - 1].is(sign.text);
  const bool is_less = sign.is("<") || sign.is("<=") || sign.is(">=");
  if ((!is_less && !sign.is(">")) || is_shift) return;
  const auto ends = [&](const Token& token) {
    return token.is(";") || token.is("&&") || token.is("||") || token.is("?") || token.is(":") ||
           token.is(",") || token.is("{") || token.is("}") || token.is("=") || token.is("return");
  };
  std::size_t begin = at;
  for (std::size_t depth = 0; begin > kernel_.body.begin; --begin) {
    const Token& token = tokens_[begin - 1];
    if (token.is(")") || token.is("]")) ++depth;
    if ((token.is("(") || token.is("[")) && depth-- == 0) break;
    if (depth == 0 && ends(token)) break;
  }
  std::size_t end = at + 1;
  for (std::size_t depth = 0; end < kernel_.body.end; ++end) {
    const Token& token = tokens_[end];
    if (token.is("(") || token.is("[")) ++depth;
    if ((token.is(")") || token.is("]")) && depth-- == 0) break;
    if (depth == 0 && ends(token)) break;
  }
  Range sum{begin, at};
  Range bound{at + 1, end};
  if (sign.is(">")) std::swap(sum, bound);
  const bool is_included = sign.is("<=");
  if (sum.end == sum.begin + 1 && tokens_[sum.begin].kind == TokenKind::identifier) {
    variables_[std::string(tokens_[sum.begin].text)].bounds.emplace_back(bound, is_included);
  } else if (sum.end > sum.begin + 1 && guards_.size() < kMaxGuards) {
    guards_.push_back({sum, bound, is_included});
  }
}

// float* row = x + offset; x += offset; auto* p = &x[offset];
void Reach::note_alias(std::size_t at) {
  const Token& next = tokens_[at + 1];
  const auto known = aliases_.find(tokens_[at].text);
  if (next.is("+=") && known != aliases_.end()) {
    // Twice is more than one offset can say.
    const bool is_first = !known->second.offset;
    known->second.offset = is_first ? Range{at + 2, end_of_value(at + 2)} : Range{at, at};
    return;
  }
  const bool declares = next.is("=") && (tokens_[at - 1].is("*") || tokens_[at - 1].is("auto") ||
                                         tokens_[at - 1].is("__restrict__"));
  if (!declares || known != aliases_.end()) return;
  const Range value{at + 2, end_of_value(at + 2)};
  const bool is_address = tokens_[value.begin].is("&");
  const std::size_t first = value.begin + (is_address ? 1 : 0);
  const auto base = aliases_.find(tokens_[first].text);
  if (base == aliases_.end()) return;
  Alias alias{.array = base->first};
  if (is_address && tokens_[first + 1].is("[")) {
    alias.offset = Range{first + 2, closing(tokens_, first + 1, value.end)};
  } else if (tokens_[first + 1].is("+")) {
    alias.offset = Range{first + 2, value.end};
  } else if (first + 1 != value.end) {
    return;
  }
  aliases_[std::string(tokens_[at].text)] = alias;
}

// From the array's own beginning, through all names between.
std::optional<Interval> Reach::offset_of(std::string_view name, int depth) const {
  const auto alias = aliases_.find(name);
  if (alias == aliases_.end() || depth > kMaxDepth) return std::nullopt;
  Interval own = exactly(0);
  if (alias->second.offset) {
    const auto offset = value_of(*alias->second.offset, depth + 1);
    if (!offset) return std::nullopt;
    own = *offset;
  }
  if (alias->second.array == name) return own;
  const auto base = offset_of(alias->second.array, depth + 1);
  if (!base) return std::nullopt;
  const std::string upper = base->upper == "0" ? own.upper
                            : own.upper == "0" ? base->upper
                                               : base->upper + "+" + own.upper;
  return Interval{base->low + own.low, base->high + own.high, upper};
}

// Of the name at `at`: x[i] or *(x + i), __ldg(x + i); nothing if it is used otherwise.
std::optional<Interval> Reach::access(std::size_t at) const {
  const auto base = offset_of(tokens_[at].text, 0);
  if (!base) return std::nullopt;
  std::optional<Interval> index;
  if (tokens_[at + 1].is("[")) {
    index = value_of({at + 2, closing(tokens_, at + 1, kernel_.body.end)}, 0);
  } else if (tokens_[at + 1].is("+") && tokens_[at - 1].is("(")) {
    index = value_of({at + 2, closing(tokens_, at - 1, kernel_.body.end)}, 0);
  } else if (tokens_[at - 1].is("*") && !tokens_[at + 1].is("=")) {
    index = exactly(0);
  }
  if (!index) return std::nullopt;
  const std::string upper = base->upper == "0"    ? index->upper
                            : index->upper == "0" ? base->upper
                                                  : base->upper + "+" + index->upper;
  return Interval{base->low + index->low, base->high + index->high, upper};
}

// Where a name is given to an array it is not accessed: float* row = x + 4; auto* p = &x[4];
bool Reach::is_naming(std::size_t at) const {
  if (tokens_[at + 1].is("=") && aliases_.contains(tokens_[at].text)) {
    return !tokens_[at - 1].is("*") || tokens_[at - 2].kind == TokenKind::identifier;
  }
  const bool is_address = tokens_[at - 1].is("&");
  const std::size_t equals = is_address ? at - 2 : at - 1;
  if (!tokens_[equals].is("=") || (!is_address && tokens_[at + 1].is("["))) return false;
  return aliases_.contains(tokens_[equals - 1].text);
}

std::optional<Interval> Reach::of(std::string_view array) const {
  std::optional<Interval> greatest;
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    if (tokens_[i].kind != TokenKind::identifier) continue;
    std::string_view root = tokens_[i].text;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      const auto alias = aliases_.find(root);
      if (alias == aliases_.end() || alias->second.array == root) break;
      root = alias->second.array;
    }
    if (root != array || tokens_[i + 1].is("+=")) continue;
    if (tokens_[i + 1].is("[") && tokens_[i + 2].is("]")) continue;  // its declaration
    if (tokens_[i - 1].is(".") || tokens_[i - 1].is("->")) continue;
    // Where a name is given to the array it is not used.
    if (is_naming(i)) continue;
    const auto reached = access(i);
    if (!reached) return std::nullopt;
    if (!greatest || reached->high > greatest->high) greatest = reached;
  }
  return greatest;
}

bool Reach::has_offset(std::string_view array) const {
  return std::any_of(aliases_.begin(), aliases_.end(), [&](const auto& entry) {
    const Alias& alias = entry.second;
    return alias.offset && (alias.array == array || entry.first == array);
  });
}

std::optional<Interval> Reach::value_of(Range range, int depth) const {
  if (depth > kMaxDepth || range.begin >= range.end) return std::nullopt;
  return Expression(*this, range, depth).run();
}

std::optional<Interval> Reach::constant(std::string_view name) const {
  if (const auto value = value_(name)) return Interval{*value, *value, std::string(name)};
  const auto found = constants_.find(name);
  return found == constants_.end() ? std::nullopt : std::optional(exactly(found->second));
}

std::optional<Interval> Reach::variable(std::string_view name, int depth) const {
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const auto found = variables_.find(name);
  const bool is_local = found != variables_.end() && !found->second.definitions.empty();
  if (!is_local) return constant(name);
  if (depth > kMaxDepth) return std::nullopt;
  const Variable& variable = found->second;
  known_[std::string(name)] = std::nullopt;  // what is made of itself has no bound of its own
  std::optional<Interval> defined;
  bool is_followed = true;
  for (const Range definition : variable.definitions) {
    const auto value = value_of(definition, depth + 1);
    if (!value) is_followed = false;
    if (value && (!defined || value->high > defined->high)) {
      const std::int64_t low = defined ? std::min(defined->low, value->low) : value->low;
      defined = value;
      defined->low = low;
    }
  }
  std::optional<Interval> guarded;
  for (const auto& [range, is_included] : variable.bounds) {
    const auto bound = value_of(range, depth + 1);
    if (!bound || bound->high <= 0) continue;
    const Interval most = is_included ? *bound : below(*bound);
    if (!guarded || most.high > guarded->high) guarded = most;
  }
  std::optional<Interval> out;
  if (is_followed && !variable.grows) out = defined;
  if (guarded && (!out || guarded->high <= out->high)) out = guarded;
  // Guards speak of the greatest; indexes below zero are guarded as well.
  if (out) out->low = std::max<std::int64_t>(0, defined ? std::min(defined->low, out->high) : 0);
  if (out && variable.changes) out->low = 0;
  known_[std::string(name)] = out;
  return out;
}

}  // namespace assay::source
