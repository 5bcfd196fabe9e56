#include "engine/contract/compact_words.h"

#include "engine/contract/expression.h"

namespace assay::contract::compact {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t end_of_string(std::string_view text, std::size_t quote) {
  for (std::size_t i = quote + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return text.size();
}

std::vector<std::string_view> comma_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  if (trim(text).empty()) return parts;
  split(
      text,
      [](std::string_view all, std::size_t i, std::size_t depth) {
        return depth == 0 && all[i] == ',';
      },
      [&](std::size_t begin, std::size_t end) {
        parts.push_back(trim(text.substr(begin, end - begin)));
      });
  return parts;
}

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> list;
  split(
      text,
      [](std::string_view all, std::size_t i, std::size_t depth) {
        return depth == 0 && is_blank(all[i]);
      },
      [&](std::size_t begin, std::size_t end) {
        if (end > begin) list.push_back(text.substr(begin, end - begin));
      });
  return list;
}

std::optional<std::size_t> assignment(std::string_view text) {
  const auto at = text.find('=');
  if (at == std::string_view::npos || !is_name(trim(text.substr(0, at)))) return std::nullopt;
  return at;
}

std::optional<Call> read_call(std::string_view text) {
  Call call;
  const auto open = text.find('(');
  call.name = trim(text.substr(0, open));
  if (!is_name(call.name)) return std::nullopt;
  if (open == std::string_view::npos) return call;
  if (text.back() != ')') return std::nullopt;
  for (const auto part : comma_parts(text.substr(open + 1, text.size() - open - 2))) {
    if (const auto at = assignment(part)) {
      call.named.emplace_back(trim(part.substr(0, *at)), trim(part.substr(*at + 1)));
    } else {
      call.positional.push_back(part);
    }
  }
  return call;
}

}  // namespace assay::contract::compact
