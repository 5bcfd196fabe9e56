#include "engine/runner/ptx_places.h"

#include <algorithm>
#include <charconv>

namespace assay::runner {
namespace {

std::string_view word(std::string_view& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  const auto end = std::min(text.find_first_of(" \t,(", begin), text.size());
  const auto found = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return found;
}

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "_Z1kPfi" of ".visible .entry _Z1kPfi(" and of ".func (.param .b32 out) _Z1fi("; "" of other
// lines.
std::string_view function_name(std::string_view line) {
  for (const std::string_view keyword : {".entry", ".func"}) {
    const auto at = line.find(keyword);
    if (at == std::string_view::npos || line.find("//") < at) continue;
    std::string_view rest = line.substr(at + keyword.size());
    const auto first = rest.find_first_not_of(" \t");
    if (first != std::string_view::npos && rest[first] == '(') {
      rest.remove_prefix(std::min(rest.find(')'), rest.size() - 1) + 1);
    }
    return word(rest);
  }
  return {};
}

// Whether the compiler, which puts its folder before it, means the file of that name.
bool is_named(std::string_view path, std::string_view name) {
  return path == name || path.ends_with("/" + std::string(name));
}

// "kernel.py" of `12 "kernel.py"`; "" of a directive that goes on in the same file.
std::string_view named_by(std::string_view directive) {
  const auto open = directive.find('"');
  if (open == std::string_view::npos) return {};
  const std::string_view name = directive.substr(open + 1);
  return name.substr(0, name.find('"'));
}

struct SourceLine {
  std::string_view file{};  // "": there is no such line
  std::string_view text{};
};

// As the compiler counts, #line directives heeded: several lines may have one number.
SourceLine line_of(std::string_view source, const SourcePlace& place, std::string_view file) {
  constexpr std::string_view kDirective = "#line ";
  for (int counted = 1; !source.empty(); ++counted) {
    const auto end = std::min(source.find('\n'), source.size());
    std::string_view text = source.substr(0, end);
    source.remove_prefix(std::min(end + 1, source.size()));
    if (text.starts_with(kDirective)) {
      counted = number(text.substr(kDirective.size())) - 1;
      if (const auto name = named_by(text); !name.empty()) file = name;
    } else if (counted == place.line && is_named(place.file, file)) {
      return {.file = file, .text = text.substr(0, text.find('\r'))};
    }
  }
  return {};
}

bool is_word_byte(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

void set_place(Diagnostic& found, const SourcePlace& place, std::string_view source,
               std::string_view file_name) {
  const auto [file, line] = line_of(source, place, file_name);
  const bool is_users = !file.empty() || is_named(place.file, file_name);
  found.file = !is_users ? place.file : std::string(file.empty() ? file_name : file);
  found.line = found.end_line = place.line;
  if (file.empty()) return;
  found.excerpt = std::string(line.substr(0, kMaxExcerptBytes));
  if (place.column < 1 || static_cast<std::size_t>(place.column) > line.size()) return;
  auto end = static_cast<std::size_t>(place.column) - 1;
  while (end < line.size() && is_word_byte(line[end])) ++end;
  found.column = place.column;
  found.end_column = std::max(static_cast<int>(end) + 1, place.column + 1);
}

}  // namespace

PtxPlaces::PtxPlaces(std::string_view ptx) {
  for (int number_of_line = 1; !ptx.empty(); ++number_of_line) {
    const auto end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
    if (const auto name = function_name(line); !name.empty()) {
      functions_.insert_or_assign(std::string(name), number_of_line);
      function_lines_.push_back(number_of_line);
      continue;
    }
    const auto directive = word(line);
    if (directive == ".file") take_file(line);
    if (directive != ".loc") continue;
    const int file = number(word(line));
    const int source_line = number(word(line));
    const int column = number(word(line));
    if (source_line > 0) locations_.push_back({number_of_line, file, source_line, column});
  }
}

void PtxPlaces::take_file(std::string_view words) {
  const int index = number(word(words));
  const auto open = words.find('"');
  const auto close = words.rfind('"');
  if (open == std::string_view::npos || close <= open) return;
  files_.insert_or_assign(index, std::string(words.substr(open + 1, close - open - 1)));
}

std::optional<SourcePlace> PtxPlaces::place(const Location& location) const {
  const auto file = files_.find(location.file);
  if (file == files_.end()) return std::nullopt;
  return SourcePlace{.file = file->second, .line = location.line, .column = location.column};
}

std::optional<SourcePlace> PtxPlaces::at(int ptx_line) const {
  const auto after =
      std::upper_bound(locations_.begin(), locations_.end(), ptx_line,
                       [](int line, const Location& location) { return line < location.ptx_line; });
  if (after == locations_.begin()) return std::nullopt;
  const Location& location = *std::prev(after);
  // What stands between a function's head and its first .loc belongs to no line of the one before.
  const auto function = std::upper_bound(function_lines_.begin(), function_lines_.end(), ptx_line);
  const bool is_before =
      function != function_lines_.begin() && *std::prev(function) > location.ptx_line;
  return is_before ? std::nullopt : place(location);
}

std::optional<SourcePlace> PtxPlaces::of_function(std::string_view symbol) const {
  const auto function = functions_.find(symbol);
  if (function == functions_.end()) return std::nullopt;
  const auto first =
      std::upper_bound(locations_.begin(), locations_.end(), function->second,
                       [](int line, const Location& location) { return line < location.ptx_line; });
  return first == locations_.end() ? std::nullopt : place(*first);
}

bool needs_places(const Diagnostics& found) {
  return std::any_of(found.list.begin(), found.list.end(), [](const Diagnostic& one) {
    return one.line == 0 && (one.ptx_line > 0 || !one.symbol.empty());
  });
}

void place_findings(Diagnostics& found, std::string_view ptx, std::string_view source,
                    std::string_view file_name) {
  const PtxPlaces places(ptx);
  for (Diagnostic& one : found.list) {
    if (one.line > 0) continue;
    std::optional<SourcePlace> place;
    if (one.ptx_line > 0) place = places.at(one.ptx_line);
    if (!place && !one.symbol.empty()) place = places.of_function(one.symbol);
    if (place) set_place(one, *place, source, file_name);
  }
}

}  // namespace assay::runner
