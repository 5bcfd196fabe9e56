// Python's expressions, as far as they make texts: the other half of PythonReader.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "engine/source/python_reader.h"

namespace assay::source {
namespace {

using Kind = PythonValue::Kind;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxItems = 10'000;

// Functions that are known to take a source as it is: loaders, compilers, printers.
bool takes_source_as_it_is(const std::string& function) {
  std::string lower = function;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  static constexpr std::array<std::string_view, 12> kParts{"load",   "compil",  "raw",   "module",
                                                           "kernel", "program", "build", "print",
                                                           "write",  "nvrtc",   "cuda",  "len"};
  return std::any_of(kParts.begin(), kParts.end(),
                     [&](std::string_view part) { return lower.find(part) != std::string::npos; });
}

// One of two texts, which of them is not known.
PythonValue either(PythonValue one, PythonValue other, std::size_t line) {
  if (one.is_text() && other.is_text() && one.text.bytes == other.text.bytes) return one;
  if (!one.is_text()) std::swap(one, other);
  one.take_from(other);
  one.doubt_that("which text it is depends on a condition", line);
  return one;
}

}  // namespace

bool is_python_keyword(std::string_view word) {
  static constexpr std::array<std::string_view, 22> kWords{
      "and",     "as",  "assert", "await", "del",   "elif",   "else", "except",
      "finally", "for", "if",     "in",    "is",    "lambda", "not",  "or",
      "raise",   "try", "while",  "with",  "yield", "return"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// a if condition else b
PythonValue PythonReader::expression() {
  if (depth_ >= kMaxDepth) return {};
  ++depth_;
  PythonValue value = disjunction();
  if (const std::size_t line = token().line; take("if")) {
    disjunction();
    if (take("else")) value = either(std::move(value), expression(), line);
  }
  --depth_;
  return value;
}

PythonValue PythonReader::disjunction() {
  PythonValue value = comparison();
  while (is("or") || is("and") || is("|")) {
    const std::size_t line = token().line;
    ++at_;
    value = either(std::move(value), comparison(), line);
  }
  return value;
}

// What a comparison comes to is not known.
PythonValue PythonReader::comparison() {
  static constexpr std::array<std::string_view, 9> kSigns{"=", "<",  ">",  "!",  "&",
                                                          "^", "in", "is", "not"};
  const auto is_sign = [&] {
    return std::any_of(kSigns.begin(), kSigns.end(),
                       [&](std::string_view sign) { return is(sign); });
  };
  PythonValue value = additive();
  while (is_sign() && !is_assignment(0)) {
    while (is_sign()) ++at_;
    additive();
    value = {};
  }
  return value;
}

PythonValue PythonReader::additive() {
  PythonValue left = term();
  while (is("+") || is("-")) {
    const bool adds = is("+");
    const std::size_t line = token().line;
    ++at_;
    PythonValue right = term();
    if (!adds && right.kind == Kind::integer && left.kind == Kind::integer) {
      right.integer = -right.integer;
    } else if (!adds) {
      right = {};
    }
    left = counted(sum(std::move(left), right, line));
  }
  return left;
}

PythonValue PythonReader::term() {
  PythonValue left = factor();
  while (is("*") || is("/") || is("%") || is("@")) {
    const char kind = token().text.front();
    const std::size_t line = token().line;
    ++at_;
    const bool is_whole = kind == '/' && take("/");
    const bool is_power = kind == '*' && take("*");
    const PythonValue right = factor();
    if (left.is_text() && kind == '%') {
      left = counted(interpolated(left, right, line));
      continue;
    }
    const bool are_numbers = left.kind == Kind::integer && right.kind == Kind::integer;
    left.take_from(right);
    if (are_numbers && kind == '*' && !is_power) {
      if (__builtin_mul_overflow(left.integer, right.integer, &left.integer)) left = {};
    } else if (are_numbers && right.integer > 0 && left.integer >= 0 && (is_whole || kind == '%')) {
      left.integer = is_whole ? left.integer / right.integer : left.integer % right.integer;
    } else if (left.is_text()) {
      left.doubt_that("a text is repeated", line);
    } else {
      left = {};
    }
  }
  return left;
}

PythonValue PythonReader::factor() {
  if (depth_ >= kMaxDepth) return {};
  if (!is("-") && !is("+") && !is("~") && !is("not") && !is("await")) return postfix();
  const bool is_plain = is("+") || is("await");
  const bool is_minus = is("-");
  ++at_;
  ++depth_;
  PythonValue value = factor();
  --depth_;
  if (is_minus && value.kind == Kind::integer) {
    value.integer = -value.integer;
    return value;
  }
  return is_plain ? value : PythonValue{};
}

PythonValue PythonReader::postfix() {
  PythonValue value = atom();
  for (;;) {
    if (is(".") && token(1).kind == PythonTokenKind::name) {
      value = method(value);
    } else if (is("[")) {
      ++at_;
      sequence("]");
      value = {};
    } else if (is("(")) {
      ++at_;
      arguments(true);
      value = {};
    } else {
      return value;
    }
  }
}

PythonValue PythonReader::method(const PythonValue& value) {
  const std::string name(token(1).text);
  const std::size_t line = token(1).line;
  at_ += 2;
  if (!take("(")) return {};
  const bool is_text = value.is_text();
  const PythonArguments given = arguments(!is_text);
  return is_text ? counted(called(value, name, given, line)) : PythonValue{};
}

PythonValue PythonReader::atom() {
  const PythonToken& first = token();
  if (first.kind == PythonTokenKind::text) return literals();
  if (first.kind == PythonTokenKind::number) {
    ++at_;
    PythonValue value;
    const auto digits = first.text;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value.integer);
    const bool is_octal = digits.size() > 1 && digits.front() == '0';
    if (error == std::errc{} && end == digits.data() + digits.size() && !is_octal)
      value.kind = Kind::integer;
    return value;
  }
  if (first.kind == PythonTokenKind::name) {
    if (is_python_keyword(first.text)) return {};
    return name();
  }
  if (take("(")) {
    PythonValue inside = sequence(")");
    return inside;
  }
  if (take("[")) return sequence("]");
  if (take("{")) {
    // Of a dictionary each text stands for itself.
    const PythonValue inside = sequence("}");
    for (const PythonValue& item : inside.items) note(item, {}, {}, 0);
  }
  return {};
}

// Adjacent literals are one.
PythonValue PythonReader::literals() {
  PythonValue value{.kind = Kind::text};
  while (token().kind == PythonTokenKind::text) {
    const Literal literal = read_literal(token());
    if (!literal.doubt.empty()) value.doubt_that(literal.doubt, token().line);
    for (const LiteralPart& part : literal.parts) {
      if (part.is_field) {
        value = sum(std::move(value), field(part), part.line);
      } else {
        value.text.append(part.text);
      }
    }
    ++at_;
  }
  return counted(std::move(value));
}

PythonValue PythonReader::field(const LiteralPart& part) {
  PythonValue value;
  const bool is_plain = part.format.empty() || part.format == "!s";
  if (is_plain && depth_ < kMaxDepth) {
    std::vector<PythonToken> inside = python_tokens(part.expression);
    for (PythonToken& one : inside) one.line += part.line - 1;
    std::swap(tokens_, inside);
    const std::size_t resume = std::exchange(at_, 0);
    value = expression();
    if (!at_end()) value = {};
    tokens_ = std::move(inside);
    at_ = resume;
  }
  return as_text(value, part.text.bytes, part.line);
}

PythonValue PythonReader::name() {
  const std::size_t line = token().line;
  std::size_t ahead = 0;
  std::string whole = *target(ahead);
  // "text.format(" calls a method of a known text.
  const auto dot = whole.rfind('.');
  if (is("(", ahead) && dot != std::string::npos && variables_.contains(whole.substr(0, dot))) {
    whole.resize(dot);
    ahead -= 2;
  }
  at_ += ahead;
  if (take("(")) return call(whole, line);
  return look_up(whole, line);
}

PythonValue PythonReader::call(const std::string& function, std::size_t line) {
  const std::string last = function.substr(function.rfind('.') + 1);
  if (last == "dedent" || last == "str") {
    PythonArguments given = arguments(false);
    PythonValue value = given.positional.empty() ? PythonValue{} : given.positional[0];
    if (last == "str" && value.kind == Kind::integer) return as_text(value, {}, line);
    if (last == "dedent" && value.is_text()) value.text = value.text.dedented();
    return value;
  }
  const std::size_t before = found_.size();
  arguments(true);
  const bool goes_on = is(".") || is("%");
  for (std::size_t i = before; i < found_.size(); ++i) {
    if (!takes_source_as_it_is(function) || (goes_on && last == "Template")) {
      found_[i].value.doubt_that(function + "() is not followed here", line);
    }
  }
  return {};
}

// Behind the opening bracket, to behind the closing one. One value in parentheses is itself.
PythonValue PythonReader::sequence(std::string_view close) {
  PythonValue list{.kind = Kind::list};
  bool has_comma = false;
  while (!at_end() && !is(close)) {
    const std::size_t before = at_;
    if (take(",")) {
      has_comma = true;
      continue;
    }
    if (take(":") || take("*")) continue;
    PythonValue item = expression();
    if (is("for") || is("async")) {
      item.doubt_that("it is made in a loop", token().line);
      list.doubt_that("it is made in a loop", token().line);
      skip_to(close);
    }
    if (at_ == before) ++at_;
    if (list.items.size() < kMaxItems) list.items.push_back(std::move(item));
  }
  take(close);
  if (close == ")" && !has_comma && list.items.size() == 1) return std::move(list.items[0]);
  return list;
}

// A comprehension's rest: its names are its own.
void PythonReader::skip_to(std::string_view close) {
  std::size_t depth = 0;
  for (; !at_end(); ++at_) {
    if (depth == 0 && is(close)) return;
    if (is("(") || is("[") || is("{")) ++depth;
    if (is(")") || is("]") || is("}")) {
      if (depth == 0) return;
      --depth;
    }
  }
}

PythonArguments PythonReader::arguments(bool are_noted) {
  PythonArguments given;
  while (!at_end() && !is(")")) {
    const std::size_t before = at_;
    if (take(",")) continue;
    if (take("*")) {
      take("*");
      given.is_unpacked = true;
    }
    std::string keyword;
    if (token().kind == PythonTokenKind::name && is_assignment(1)) {
      keyword = std::string(token().text);
      at_ += 2;
    }
    PythonValue value = expression();
    if (is("for") || is("async")) {
      value.doubt_that("it is made in a loop", token().line);
      skip_to(")");
    }
    if (at_ == before) ++at_;
    if (are_noted) note(value, {}, keyword, 0);
    if (given.positional.size() + given.named.size() >= kMaxItems) continue;
    if (keyword.empty()) {
      given.positional.push_back(std::move(value));
    } else {
      given.named.insert_or_assign(std::move(keyword), std::move(value));
    }
  }
  take(")");
  return given;
}

}  // namespace assay::source
