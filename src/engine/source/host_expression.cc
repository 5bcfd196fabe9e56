// The type of an expression that host code hands to a kernel: the other half of HostScope.
#include <algorithm>
#include <array>
#include <utility>

#include "engine/source/host_scope.h"
#include "engine/source/parameter.h"
#include "engine/source/word_list.h"

namespace assay::source {
namespace {

constexpr int kMaxDepth = 8;

std::optional<HostType> literal(const Token& token) {
  std::string_view text = token.text;
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  const bool is_real = text.find('.') != std::string_view::npos ||
                       (!is_hex && text.find_first_of("eE") != std::string_view::npos);
  const char last = text.back();
  if (is_real) return HostType{.name = last == 'f' || last == 'F' ? "float" : "double"};
  std::string name;
  std::size_t longs = 0;
  for (; !text.empty() && std::string_view("uUlL").find(text.back()) != std::string_view::npos;
       text.remove_suffix(1)) {
    if (text.back() == 'u' || text.back() == 'U') name = "unsigned ";
    if (text.back() == 'l' || text.back() == 'L') ++longs;
  }
  return HostType{.name = name + (longs == 0 ? "int" : longs == 1 ? "long" : "long long")};
}

// "double" of std::vector<double>.
std::optional<HostType> element_of(const HostType& container) {
  const Tokens tokens = lex(container.name);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is("<")) continue;
    const std::size_t close = closing_angle(tokens, i, tokens.size());
    const auto parts = split_at_commas(tokens, i + 1, close);
    if (parts.empty()) return std::nullopt;
    HostType type;
    std::size_t end = parts[0].end;
    for (; end > parts[0].begin && tokens[end - 1].is("*"); --end) ++type.pointers;
    type.name = spelled(tokens, parts[0].begin, end);
    return type;
  }
  return std::nullopt;
}

std::optional<HostType> pointer_to(std::optional<HostType> type) {
  if (type) ++type->pointers;
  return type;
}

// What an index or a star gives.
std::optional<HostType> pointee(std::optional<HostType> type) {
  if (!type) return std::nullopt;
  if (type->pointers == 0) return element_of(*type);
  --type->pointers;
  return type;
}

bool defines_type(const Tokens& tokens, std::string_view name) {
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const Token& before = tokens[i - 1];
    if (tokens[i].is(name) && (before.is("struct") || before.is("class"))) return true;
  }
  return false;
}

}  // namespace

HostScope::Type HostScope::value_in(const Tokens& tokens, Range range, int depth) const {
  if (range.begin >= range.end || depth > kMaxDepth) return std::nullopt;
  const Token& first = tokens[range.begin];
  const Range rest{range.begin + 1, range.end};
  if (first.kind == TokenKind::number) {
    return rest.begin == rest.end ? literal(first) : std::nullopt;
  }
  if (first.is("true") || first.is("false")) return HostType{.name = "bool"};
  if (first.is("-") || first.is("+")) return value_in(tokens, rest, depth + 1);
  if (first.is("&")) return pointer_to(value_in(tokens, rest, depth + 1));
  if (first.is("*")) return pointee(value_in(tokens, rest, depth + 1));
  if (first.is("(")) return in_parentheses(tokens, range, depth);
  return first.kind == TokenKind::identifier ? named(tokens, range, depth) : std::nullopt;
}

// (double*)x, or x in parentheses.
HostScope::Type HostScope::in_parentheses(const Tokens& tokens, Range range, int depth) const {
  const std::size_t close = closing(tokens, range.begin, range.end);
  if (close >= range.end) return std::nullopt;
  const Range inside{range.begin + 1, close};
  if (close + 1 == range.end) return value_in(tokens, inside, depth + 1);
  const Token& next = tokens[close + 1];
  const bool names_type = inside.begin < inside.end &&
                          (tokens[close - 1].is("*") || is_type_word(tokens[close - 1].text));
  const bool begins_value = is_plain(next) || next.kind == TokenKind::number || next.is("(");
  if (names_type || begins_value) return type_in(tokens, inside);
  return behind(tokens, close + 1, range, value_in(tokens, inside, depth + 1));
}

HostScope::Type HostScope::named(const Tokens& tokens, Range range, int depth) const {
  Range name{range.begin, range.begin + 1};
  while (name.end + 1 < range.end && tokens[name.end].is("::")) name.end += 2;
  std::size_t at = std::min(name.end, range.end);
  std::size_t angle = at;
  if (at < range.end && tokens[at].is("<")) {
    const std::size_t close = closing_angle(tokens, at, range.end);
    if (close < range.end) at = close + 1;
  }
  const bool is_called = at < range.end && (tokens[at].is("(") || tokens[at].is("{"));
  if (is_called) return called(tokens, name, at, angle, range, depth);
  if (at != angle) return std::nullopt;
  const Token& word = tokens[name.end - 1];
  return behind(tokens, at, range, declared(word.text, depth + 1));
}

// A cast, or a value that is made: Square{}, float(x). Of other functions nothing is known.
HostScope::Type HostScope::called(const Tokens& tokens, Range name, std::size_t open,
                                  std::size_t angle, Range range, int depth) const {
  static constexpr std::array<std::string_view, 3> kCasts{"static_cast", "reinterpret_cast",
                                                          "const_cast"};
  const Token& word = tokens[name.end - 1];
  const std::size_t close = closing(tokens, open, range.end);
  if (close >= range.end) return std::nullopt;
  Type type;
  if (is_one_of(word.text, kCasts)) {
    type = type_in(tokens, {angle + 1, open - 1});
  } else if (word.is("raw_pointer_cast")) {
    type = value_in(tokens, {open + 1, close}, depth + 1);
  } else if (is_type_word(word.text) || defines_type(tokens_, word.text)) {
    type = type_in(tokens, {name.begin, open});
  }
  return behind(tokens, close + 1, range, std::move(type));
}

// What `.data_ptr<float>()` and its like make of a value; the index behind it, or the range's end
// with no type.
std::size_t HostScope::member(const Tokens& tokens, std::size_t at, Range range, Type& type) {
  static constexpr std::array<std::string_view, 5> kData{"data_ptr", "data", "mutable_data_ptr",
                                                         "const_data_ptr", "get"};
  static constexpr std::array<std::string_view, 3> kSame{"contiguous", "to", "cuda"};
  const Type before = std::exchange(type, std::nullopt);
  if (at + 1 >= range.end) return range.end;
  const Token& word = tokens[at + 1];
  at += 2;
  Type written;
  if (at < range.end && tokens[at].is("<")) {
    const std::size_t close = closing_angle(tokens, at, range.end);
    if (close >= range.end) return range.end;
    written = type_in(tokens, {at + 1, close});
    at = close + 1;
  }
  if (at < range.end && tokens[at].is("(")) at = closing(tokens, at, range.end) + 1;
  if (is_one_of(word.text, kData)) {
    type = pointer_to(written || !before ? written : element_of(*before));
  } else if (word.is("item")) {
    type = written;
  } else if (is_one_of(word.text, kSame)) {
    type = before;
  } else {
    return range.end;
  }
  return at;
}

// What stands behind a value: [i], .data_ptr<float>(), + offset.
HostScope::Type HostScope::behind(const Tokens& tokens, std::size_t at, Range range, Type type) {
  while (at < range.end) {
    const Token& token = tokens[at];
    if (token.is("[")) {
      at = closing(tokens, at, range.end) + 1;
      type = pointee(std::move(type));
    } else if (token.is(".") || token.is("->")) {
      at = member(tokens, at, range, type);
    } else {
      break;
    }
  }
  if (at >= range.end) return type;
  const bool is_moved = tokens[at].is("+") || tokens[at].is("-");
  return is_moved && type && type->pointers > 0 ? type : std::nullopt;
}

}  // namespace assay::source
