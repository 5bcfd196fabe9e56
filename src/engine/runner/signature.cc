#include "engine/runner/signature.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "engine/runner/kernel_choice.h"

namespace assay::runner {
namespace {

struct Declared {
  std::string type{};
  std::string name{};
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

// Comments, strings and characters as blanks of the same length.
std::string code_only(std::string_view source) {
  std::string code(source);
  const auto blank = [&](std::size_t from, std::size_t to) {
    to = std::min(to, code.size());
    for (std::size_t i = from; i < to; ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    return to;
  };
  for (std::size_t i = 0; i < code.size();) {
    if (code.compare(i, 2, "//") == 0) {
      i = blank(i, source.find('\n', i));
    } else if (code.compare(i, 2, "/*") == 0) {
      const auto end = source.find("*/", i + 2);
      i = blank(i, end == std::string_view::npos ? end : end + 2);
    } else if (code[i] == '"' || (code[i] == '\'' && (i == 0 || !is_word(code[i - 1])))) {
      const char quote = code[i];  // after a word it separates digits
      std::size_t end = i + 1;
      while (end < code.size() && code[end] != quote && code[end] != '\n') {
        end += code[end] == '\\' ? 2 : 1;
      }
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

// One past the parenthesis that closes the one at `open`.
std::size_t after_parentheses(std::string_view code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    if (code[i] == '(') ++depth;
    if (code[i] == ')' && --depth == 0) return i + 1;
  }
  return code.size();
}

bool is_type_word(std::string_view word) {
  static constexpr std::string_view kWords[] = {"int",  "char",  "short",  "long",     "float",
                                                "bool", "const", "double", "unsigned", "signed"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

// "const float* __restrict__ x = nullptr" → {"const float*", "x"}.
Declared declared(std::string_view text) {
  std::string whole = trimmed(text.substr(0, text.find('=')));
  for (const std::string_view word :
       {"__restrict__", "__restrict", "restrict", "__grid_constant__"}) {
    for (auto at = whole.find(word); at != std::string::npos; at = whole.find(word)) {
      whole.replace(at, word.size(), " ");
    }
  }
  whole = trimmed(whole);
  std::string suffix;
  while (whole.ends_with(']')) {  // float x[] is a pointer
    whole = trimmed(std::string_view(whole).substr(0, whole.rfind('[')));
    suffix = "*";
  }
  std::size_t first = whole.size();
  while (first > 0 && is_word(whole[first - 1])) --first;
  std::string name = whole.substr(first);
  std::string type = trimmed(std::string_view(whole).substr(0, first));
  if (type.empty() || type == "const" || is_type_word(name))
    return {.type = whole + suffix};  // without a name
  while (true) {
    const auto doubled = type.find("  ");
    if (doubled == std::string::npos) break;
    type.erase(doubled, 1);
  }
  return {.type = type + suffix, .name = std::move(name)};
}

// The parameters of the `__global__` called `name` that has `count` of them, nothing if it is not
// to be seen. Of several (overloads, a declaration before the definition) the first that names
// most.
std::optional<std::vector<Declared>> find_parameters(const std::string& code,
                                                     const std::string& name, std::size_t count) {
  std::optional<std::vector<Declared>> best;
  std::ptrdiff_t most_named = -1;
  for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    const std::size_t after = at + name.size();
    const auto open = code.find_first_not_of(" \t\r\n", after);
    const bool is_call =
        (at > 0 && is_word(code[at - 1])) || open == std::string::npos || code[open] != '(';
    if (is_call) continue;
    // A kernel says so between the end of the last declaration and its name.
    const auto begin = code.find_last_of(";{}", at);
    const auto from = begin == std::string::npos ? 0 : begin;
    if (std::string_view(code).substr(from, at - from).find("__global__") == std::string::npos) {
      continue;
    }
    const std::size_t end = after_parentheses(code, open);
    const auto texts = split_list(std::string_view(code).substr(open + 1, end - open - 2));
    if (texts.size() != count) continue;
    std::vector<Declared> list;
    for (const auto& text : texts) list.push_back(declared(text));
    const auto named =
        std::count_if(list.begin(), list.end(), [](const auto& one) { return !one.name.empty(); });
    if (named <= most_named) continue;
    most_named = named;
    best = std::move(list);
  }
  return best;
}

// The C types in a demangled name: "add(float const*, int)", "void f<float>(float*, int)". Nothing
// for one that is not mangled.
std::optional<std::vector<std::string>> demangled_types(const std::string& entry) {
  const std::string whole = display_name(entry);
  if (whole == entry) return std::nullopt;
  const auto end = whole.rfind(')');
  if (end == std::string::npos) return std::nullopt;
  int depth = 0;
  for (std::size_t i = end + 1; i-- > 0;) {
    if (whole[i] == ')') ++depth;
    if (whole[i] == '(' && --depth == 0) {
      return split_list(std::string_view(whole).substr(i + 1, end - i - 1));
    }
  }
  return std::nullopt;
}

bool is_word_at(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t after = at + word.size();
    if ((at == 0 || !is_word(text[at - 1])) && (after == text.size() || !is_word(text[after]))) {
      return true;
    }
  }
  return false;
}

// "const float*", "float const*": what the last star points to is const.
bool points_to_const(std::string_view type) {
  const auto star = type.rfind('*');
  if (star == std::string_view::npos) return false;
  const auto inner = type.substr(0, star).rfind('*');
  const auto from = inner == std::string_view::npos ? 0 : inner;
  return is_word_at(type.substr(from, star - from), "const");
}

}  // namespace

std::vector<std::string> split_list(std::string_view list) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i < list.size() ? list[i] : ',';
    if (c == '(' || c == '<' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == '>' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && i < list.size())) continue;
    parts.push_back(trimmed(list.substr(start, i - start)));
    start = i + 1;
  }
  const bool none = parts.size() == 1 && (parts[0].empty() || parts[0] == "void");
  return none ? std::vector<std::string>{} : parts;
}

std::vector<DeclaredArgument> arguments(const emulator::KernelInfo& kernel,
                                        std::string_view source) {
  const std::size_t count = kernel.parameters.size();
  std::string name = base_name(kernel.name);
  name.resize(std::min(name.find('<'), name.size()));
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  const auto declared = find_parameters(code_only(source), name, count);
  const auto types = demangled_types(kernel.name);
  std::vector<DeclaredArgument> list;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& parameter = kernel.parameters[i];
    DeclaredArgument argument{.name = declared ? (*declared)[i].name : std::string(),
                              .ptx_type = parameter.type,
                              .size_bytes = parameter.size_bytes};
    if (argument.name.empty()) argument.name = "arg_" + std::to_string(i);
    if (types && types->size() == count) {
      argument.type = (*types)[i];
    } else if (declared) {
      argument.type = (*declared)[i].type;
    }
    argument.is_pointer = argument.type.ends_with('*') || argument.type.ends_with("*const");
    argument.is_read_only = argument.is_pointer && points_to_const(argument.type);
    list.push_back(std::move(argument));
  }
  return list;
}

}  // namespace assay::runner
