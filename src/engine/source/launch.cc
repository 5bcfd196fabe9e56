#include "engine/source/launch.h"

#include <algorithm>

namespace assay::source {
namespace {

using Values = std::map<std::string, std::string, std::less<>>;

constexpr std::size_t kMaxLaunches = 256;
constexpr std::size_t kMaxStatementTokens = 256;
constexpr std::size_t kMaxValues = 512;
constexpr std::size_t kMaxConfigurationTokens = 1024;

}  // namespace

std::size_t end_of_configuration(const Tokens& tokens, std::size_t open) {
  std::size_t depth = 0;
  const std::size_t limit = std::min(tokens.size(), open + kMaxConfigurationTokens);
  for (std::size_t i = open + 3; i < limit; ++i) {
    const Token& token = tokens[i];
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}")) {
      if (depth == 0) return tokens.size();
      --depth;
    }
    if (depth == 0 && token.is(";")) return tokens.size();
    if (depth == 0 && token.is(">") && is_triple(tokens, i, ">")) return i;
  }
  return tokens.size();
}

namespace {

// The '<' of template arguments whose '>' is at `close`; `close` if there is none. In parentheses
// they compare.
std::size_t opening_angle(const Tokens& tokens, std::size_t close) {
  std::size_t depth = 0;
  std::size_t parentheses = 0;
  const std::size_t limit = close > kMaxStatementTokens ? close - kMaxStatementTokens : 0;
  for (std::size_t at = close;; --at) {
    const Token& token = tokens[at];
    if (token.is(")")) ++parentheses;
    if (token.is("(") && parentheses-- == 0) return close;
    const bool is_angle = parentheses == 0;
    if (is_angle && token.is(">")) ++depth;
    if (is_angle && token.is("<") && --depth == 0) return at;
    if (at == limit || token.is(";") || token.is("{")) return close;
  }
}

}  // namespace

Callee callee_before(const Tokens& tokens, std::size_t end) {
  Callee callee{.begin = end, .angle = end};
  if (end == 0) return callee;
  std::size_t at = end - 1;
  if (tokens[at].is(">")) {
    const std::size_t open = opening_angle(tokens, at);
    if (open == at) return callee;
    callee.angle = open;
    if (open == 0) return callee;
    at = open - 1;
  }
  if (tokens[at].kind != TokenKind::identifier) return callee;
  while (at >= 2 && tokens[at - 1].is("::") && tokens[at - 2].kind == TokenKind::identifier)
    at -= 2;
  callee.begin = at;
  callee.found = true;
  return callee;
}

namespace {

bool is_value_type(const Token& token) {
  static constexpr std::string_view kTypes[] = {"int",      "unsigned", "long",     "size_t",
                                                "auto",     "int64_t",  "uint32_t", "int32_t",
                                                "uint64_t", "short",    "double",   "float"};
  return std::find(std::begin(kTypes), std::end(kTypes), token.text) != std::end(kTypes);
}

std::size_t end_of_statement(const Tokens& tokens, std::size_t at) {
  std::size_t depth = 0;
  const std::size_t limit = std::min(tokens.size(), at + kMaxStatementTokens);
  for (; at < limit; ++at) {
    const Token& token = tokens[at];
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}")) {
      if (depth == 0) return at;
      --depth;
    }
    if (depth == 0 && (token.is(";") || token.is(","))) return at;
  }
  return tokens.size();
}

// "int n = 4;" "dim3 grid(a, b);" "n = 5;": notes what index `at` (a name) is given.
void note_value(const Tokens& tokens, std::size_t at, Values& values) {
  if (at == 0 || at + 1 >= tokens.size() || values.size() >= kMaxValues) return;
  const Token& before = tokens[at - 1];
  const Token& after = tokens[at + 1];
  const std::string name(tokens[at].text);
  if (before.is("dim3") && (after.is("(") || after.is("{"))) {
    const std::size_t close =
        closing(tokens, at + 1, std::min(tokens.size(), at + kMaxStatementTokens));
    if (close < tokens.size() && (tokens[close].is(")") || tokens[close].is("}"))) {
      values[name] = "dim3(" + spelled(tokens, at + 2, close) + ")";
    }
    return;
  }
  if (!after.is("=")) return;
  const bool is_constant = at > 1 && before.kind == TokenKind::identifier &&
                           (tokens[at - 2].is("constexpr") || tokens[at - 2].is("const"));
  const bool declares = before.is("dim3") || is_value_type(before) || before.is(",") || is_constant;
  const bool assigns = before.is(";") || before.is("{") || before.is("}");
  if (!declares && !assigns) return;
  const std::size_t end = end_of_statement(tokens, at + 2);
  if (end < tokens.size()) values[name] = spelled(tokens, at + 2, end);
}

std::vector<std::string> texts(const Tokens& tokens, std::size_t begin, std::size_t end) {
  std::vector<std::string> list;
  for (const Range part : split_at_commas(tokens, begin, end)) {
    list.push_back(spelled(tokens, part.begin, part.end));
  }
  return list;
}

std::string take(std::vector<std::string>& list, std::size_t index) {
  return index < list.size() ? std::move(list[index]) : std::string();
}

// The launch whose "<<<" is at `open`; `end` becomes the index behind it.
bool read_launch(const Tokens& tokens, std::size_t open, const Values& values, Launch& launch) {
  const Callee callee = callee_before(tokens, open);
  const std::size_t close = end_of_configuration(tokens, open);
  if (!callee.found || close == tokens.size()) return false;
  launch.kernel = spelled(tokens, callee.begin, callee.angle);
  launch.line = tokens[callee.begin].line;
  launch.at = callee.begin;
  if (callee.angle < open) {
    launch.template_arguments = texts(tokens, callee.angle + 1, open - 1);
  }
  auto configuration = texts(tokens, open + 3, close);
  launch.grid = take(configuration, 0);
  launch.block = take(configuration, 1);
  launch.shared_bytes = take(configuration, 2);
  launch.stream = take(configuration, 3);
  const std::size_t paren = close + 3;
  if (paren < tokens.size() && tokens[paren].is("(")) {
    const std::size_t limit = std::min(tokens.size(), paren + kMaxConfigurationTokens);
    const std::size_t end = closing(tokens, paren, limit);
    if (end < limit) launch.arguments = texts(tokens, paren + 1, end);
  }
  launch.values = values;
  return true;
}

// "kernel<float>" of (void*)kernel<float>, &kernel<float>, reinterpret_cast<void*>(kernel<float>).
Callee callee_in(const Tokens& tokens, Range range) {
  Callee callee{.begin = range.begin, .angle = range.end};
  while (callee.begin < range.end && tokens[callee.begin].kind != TokenKind::identifier) {
    const std::size_t at = callee.begin;
    if (tokens[at].is("(")) callee.begin = closing(tokens, at, range.end);
    // A cast ends before its value; parentheses around it are the value.
    if (callee.begin + 1 >= range.end) callee.begin = at;
    ++callee.begin;
  }
  if (callee.begin >= range.end) return callee;
  if (tokens[callee.begin].text.ends_with("_cast")) {
    const std::size_t close = closing_angle(tokens, callee.begin + 1, range.end);
    return close + 1 < range.end ? callee_in(tokens, {close + 2, range.end - 1}) : callee;
  }
  for (std::size_t i = callee.begin; i < range.end; ++i) {
    if (tokens[i].is("<")) {
      callee.angle = i;
      callee.found = closing_angle(tokens, i, range.end) < range.end;
      return callee;
    }
    if (tokens[i].kind != TokenKind::identifier && !tokens[i].is("::")) {
      callee.angle = i;
      break;
    }
  }
  callee.found = true;
  return callee;
}

// {"x", "n"} of `void* args[] = {&x, &n}`, the last of that name before `at`.
std::vector<std::string> arguments_named(const Tokens& tokens, std::string_view name,
                                         std::size_t at) {
  std::vector<std::string> list;
  for (std::size_t i = at; i-- > 0;) {
    if (!tokens[i].is(name) || i + 3 >= at || !tokens[i + 1].is("[")) continue;
    const std::size_t open = closing(tokens, i + 1, at) + 2;
    if (open >= at || !tokens[open - 1].is("=") || !tokens[open].is("{")) continue;
    const std::size_t close = closing(tokens, open, at);
    if (close >= at) return list;
    for (const Range part : split_at_commas(tokens, open + 1, close)) {
      std::size_t begin = part.begin;
      while (begin + 1 < part.end && !tokens[begin].is("&")) ++begin;
      if (tokens[begin].is("&")) ++begin;
      list.push_back(spelled(tokens, begin, part.end));
    }
    return list;
  }
  return list;
}

// cudaLaunchKernel(kernel, grid, block, arguments, shared, stream), whose name is at `at`; with
// …Ex(&configuration, kernel, argument…) grid and block are left unknown.
bool read_call(const Tokens& tokens, std::size_t at, const Values& values, Launch& launch) {
  const bool is_extended = tokens[at].is("cudaLaunchKernelEx");
  const bool is_launch = is_extended || tokens[at].is("cudaLaunchKernel") ||
                         tokens[at].is("cudaLaunchCooperativeKernel");
  if (!is_launch || at + 1 >= tokens.size() || !tokens[at + 1].is("(")) return false;
  const std::size_t limit = std::min(tokens.size(), at + kMaxConfigurationTokens);
  const std::size_t close = closing(tokens, at + 1, limit);
  if (close >= limit) return false;
  const auto parts = split_at_commas(tokens, at + 2, close);
  if (parts.size() < 2) return false;
  const Callee callee = callee_in(tokens, parts[is_extended ? 1 : 0]);
  if (!callee.found) return false;
  launch.kernel = spelled(tokens, callee.begin, callee.angle);
  launch.line = tokens[callee.begin].line;
  launch.at = callee.begin;
  if (callee.angle < close && tokens[callee.angle].is("<")) {
    launch.template_arguments =
        texts(tokens, callee.angle + 1, closing_angle(tokens, callee.angle, close));
  }
  auto given = texts(tokens, at + 2, close);
  if (is_extended) {
    launch.arguments.assign(given.begin() + 2, given.end());
  } else {
    launch.grid = take(given, 1);
    launch.block = take(given, 2);
    if (parts.size() > 3)
      launch.arguments = arguments_named(tokens, tokens[parts[3].end - 1].text, at);
    launch.shared_bytes = take(given, 4);
    launch.stream = take(given, 5);
  }
  launch.values = values;
  return true;
}

}  // namespace

std::string Launch::instance() const {
  if (template_arguments.empty()) return kernel;
  std::string text = kernel;
  const char* separator = "<";
  for (const auto& argument : template_arguments) {
    text += separator + argument;
    separator = ", ";
  }
  return text + ">";
}

std::vector<Launch> find_launches(const Unit& unit) {
  const Tokens& tokens = unit.tokens;
  std::vector<Launch> list;
  Values values;
  for (std::size_t i = 0; i < tokens.size() && list.size() < kMaxLaunches; ++i) {
    Launch launch;
    if (tokens[i].kind == TokenKind::identifier) {
      note_value(tokens, i, values);
      if (read_call(tokens, i, values, launch)) list.push_back(std::move(launch));
      continue;
    }
    if (!tokens[i].is("<") || !is_triple(tokens, i, "<")) continue;
    if (read_launch(tokens, i, values, launch)) list.push_back(std::move(launch));
    i += 2;
  }
  return list;
}

std::vector<Launch> launches(std::string_view source) { return find_launches(preprocess(source)); }

}  // namespace assay::source
