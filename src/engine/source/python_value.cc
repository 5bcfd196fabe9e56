#include "engine/source/python_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

namespace assay::source {
namespace {

using Kind = PythonValue::Kind;

constexpr std::size_t kMaxText = 2U << 20;
constexpr std::string_view kSpace = " \t\n\r\v\f";

PythonValue text_value(LinedText text) { return {.kind = Kind::text, .text = std::move(text)}; }

bool ends_in_ascii(const std::string& bytes) {
  const auto plain = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  return bytes.empty() || (plain(bytes.front()) && plain(bytes.back()));
}

std::optional<std::size_t> count_in(std::string_view digits) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The value that a replacement field of format() names, if it is given.
const PythonValue* field_value(std::string_view name, const PythonArguments& arguments,
                               std::size_t& next) {
  const auto index = name.empty() ? std::optional(next++) : count_in(name);
  if (index) return *index < arguments.positional.size() ? &arguments.positional[*index] : nullptr;
  const auto found = arguments.named.find(name);
  return found == arguments.named.end() ? nullptr : &found->second;
}

PythonValue replaced(const PythonValue& text, const PythonArguments& arguments, std::size_t line) {
  PythonValue out = text;
  const auto& given = arguments.positional;
  const bool is_plain = given.size() >= 2 && given.size() <= 3 && !arguments.is_unpacked &&
                        arguments.named.empty() && given[0].is_text() && given[0].is_exact() &&
                        given[1].is_text() && !given[0].text.bytes.empty() &&
                        (given.size() == 2 || given[2].kind == Kind::integer);
  if (!is_plain) {
    out.doubt_that("replace() has arguments that are not known here", line);
    return out;
  }
  const std::int64_t most = given.size() == 3 ? given[2].integer : -1;
  const auto count =
      most < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(most);
  const std::size_t growth = given[1].text.bytes.size() / given[0].text.bytes.size() + 1;
  if (text.text.bytes.size() > kMaxText / growth) {
    out.doubt_that("replace() makes too long a text", line);
    return out;
  }
  out.text = text.text.replaced(given[0].text.bytes, given[1].text, count);
  out.take_from(given[1]);
  return out;
}

PythonValue joined(const PythonValue& separator, const PythonArguments& arguments,
                   std::size_t line) {
  PythonValue out = text_value({});
  out.take_from(separator);
  const bool is_list = arguments.positional.size() == 1 && arguments.named.empty() &&
                       arguments.positional[0].kind == Kind::list;
  if (!is_list) {
    out.doubt_that("join() is given what is not known here", line);
    return out;
  }
  const PythonValue& list = arguments.positional[0];
  out.take_from(list);
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) {
      // The separator ends the line before.
      const auto& lines = out.text.lines;
      out.text.append(separator.text.bytes, lines.empty() ? line : lines.back());
    }
    out = sum(std::move(out), list.items[i], line);
  }
  return out;
}

PythonValue stripped(const PythonValue& text, std::string_view method,
                     const PythonArguments& arguments, std::size_t line) {
  PythonValue out = text;
  std::string set(kSpace);
  set += "\x1c\x1d\x1e\x1f";
  if (!arguments.positional.empty()) set = arguments.positional[0].text.bytes;
  out.text = text.text.stripped(set, method != "rstrip", method != "lstrip");
  const bool is_plain = arguments.positional.empty() ||
                        (arguments.positional[0].is_text() && arguments.positional[0].is_exact());
  const bool is_ascii = std::all_of(set.begin(), set.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!is_plain || !is_ascii || !ends_in_ascii(out.text.bytes)) {
    out.doubt_that(std::string(method) + "() is not followed here", line);
  }
  return out;
}

}  // namespace

void PythonValue::doubt_that(std::string why, std::size_t line) {
  if (doubt.why.empty()) doubt = {.why = std::move(why), .line = line};
}

void PythonValue::take_from(const PythonValue& other) {
  made_of.insert(other.made_of.begin(), other.made_of.end());
  if (!other.doubt.why.empty()) doubt_that(other.doubt.why, other.doubt.line);
}

PythonValue as_text(const PythonValue& value, std::string_view spelled, std::size_t line) {
  PythonValue out = value;
  if (value.is_text()) return out;
  out.kind = Kind::text;
  out.items.clear();
  if (value.kind == Kind::integer) {
    out.text.append(std::to_string(value.integer), line);
    return out;
  }
  out.text.append(spelled, line);
  out.doubt_that("the value of " + std::string(spelled.substr(0, 60)) + " is not known here", line);
  return out;
}

PythonValue sum(PythonValue left, const PythonValue& right, std::size_t line) {
  left.take_from(right);
  if (left.kind == Kind::integer && right.kind == Kind::integer) {
    if (__builtin_add_overflow(left.integer, right.integer, &left.integer))
      left.kind = Kind::nothing;
    return left;
  }
  if (left.kind == Kind::list && right.kind == Kind::list) {
    left.items.insert(left.items.end(), right.items.begin(), right.items.end());
    return left;
  }
  if (left.is_text() && right.is_text() &&
      left.text.bytes.size() + right.text.bytes.size() <= kMaxText) {
    left.text.append(right.text);
    return left;
  }
  if (right.is_text() && !left.is_text()) {
    left.kind = Kind::text;
    left.text = right.text;
  }
  left.doubt_that("a part of a sum is not known here", line);
  return left;
}

PythonValue formatted(const PythonValue& text, const PythonArguments& arguments, std::size_t line) {
  PythonValue out = text_value({});
  out.take_from(text);
  const LinedText& given = text.text;
  const std::string_view bytes = given.bytes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    const char c = bytes[i];
    if (c != '{' && c != '}') {
      const auto end = std::min(bytes.find_first_of("{}", i), bytes.size());
      out.text.append(given.part(i, end));
      i = end;
    } else if (i + 1 < bytes.size() && bytes[i + 1] == c) {
      out.text.append(given.part(i, i + 1));
      i += 2;
    } else {
      const auto close = c == '{' ? bytes.find('}', i) : i;
      if (close == std::string_view::npos || close == i) {
        out.text.append(given.part(i, i + 1));
        out.doubt_that("format() meets a brace without a partner", line);
        ++i;
        continue;
      }
      const PythonValue* value = field_value(bytes.substr(i + 1, close - i - 1), arguments, next);
      const auto spelled = bytes.substr(i, close + 1 - i);
      const PythonValue field =
          as_text(value != nullptr ? *value : PythonValue{}, spelled, given.lines[i]);
      out = sum(std::move(out), field, line);
      if (value == nullptr && arguments.is_unpacked) out.doubt_that("format() is given **", line);
      i = close + 1;
    }
    if (out.text.bytes.size() > kMaxText) break;
  }
  return out;
}

PythonValue interpolated(const PythonValue& text, const PythonValue& value, std::size_t line) {
  PythonValue out = text_value({});
  out.take_from(text);
  const std::vector<PythonValue> single{value};
  const auto& values = value.kind == Kind::list ? value.items : single;
  const LinedText& given = text.text;
  const std::string_view bytes = given.bytes;
  std::size_t next = 0;
  for (std::size_t i = 0; i < bytes.size();) {
    if (bytes[i] != '%') {
      const auto end = std::min(bytes.find('%', i), bytes.size());
      out.text.append(given.part(i, end));
      i = end;
      continue;
    }
    const char kind = i + 1 < bytes.size() ? bytes[i + 1] : '\0';
    if (kind == '%') {
      out.text.append(given.part(i, i + 1));
    } else {
      const bool is_known =
          next < values.size() &&
          (kind == 's' || ((kind == 'd' || kind == 'i') && values[next].kind == Kind::integer));
      const PythonValue field = is_known ? values[next] : PythonValue{};
      out = sum(std::move(out), as_text(field, bytes.substr(i, 2), given.lines[i]), line);
      ++next;
    }
    i = std::min(i + 2, bytes.size());
  }
  if (next != values.size()) out.doubt_that("% is given another number of values", line);
  return out;
}

PythonValue called(const PythonValue& text, std::string_view method,
                   const PythonArguments& arguments, std::size_t line) {
  static constexpr std::array<std::string_view, 9> kChanging{
      "upper",      "lower",     "swapcase",   "title",     "capitalize",
      "expandtabs", "translate", "format_map", "substitute"};
  if (method == "replace") return replaced(text, arguments, line);
  if (method == "format") return formatted(text, arguments, line);
  if (method == "join") return joined(text, arguments, line);
  if (method == "strip" || method == "lstrip" || method == "rstrip") {
    return stripped(text, method, arguments, line);
  }
  if (method == "encode" || method == "decode") return text;
  PythonValue out;
  if (std::find(kChanging.begin(), kChanging.end(), method) == kChanging.end()) return out;
  out = text;
  out.doubt_that(std::string(method) + "() is not followed here", line);
  return out;
}

}  // namespace assay::source
