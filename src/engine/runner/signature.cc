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

// "float const *" and "const float*" alike: the words in order of the alphabet, then the stars.
std::string plain_type(std::string_view type) {
  std::vector<std::string> words;
  std::string marks;
  for (std::size_t i = 0; i < type.size();) {
    std::size_t end = i;
    while (end < type.size() && is_word(type[end])) ++end;
    if (end > i) {
      words.emplace_back(type.substr(i, end - i));
      if (words.back() == "half") words.back() = "__half";
      i = end;
    } else {
      if (type[i] != ' ') marks += type[i];
      ++i;
    }
  }
  const auto says = [&](std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  if (says("unsigned") && !says("int") && !says("char") && !says("short") && !says("long")) {
    words.emplace_back("int");
  }
  std::sort(words.begin(), words.end());
  std::string text;
  for (const auto& word : words) text += word + " ";
  return text + marks;
}

// "float* out, A... rest" of a kernel that was given three values more: rest_0, rest_1, rest_2.
std::vector<Declared> expanded(const std::vector<std::string>& texts, std::size_t count) {
  std::vector<Declared> list;
  for (const auto& text : texts) {
    const auto dots = text.find("...");
    if (dots == std::string::npos || list.size() + 1 != texts.size()) {
      list.push_back(declared(text));
      continue;
    }
    const std::string name = trimmed(std::string_view(text).substr(dots + 3));
    for (std::size_t k = 0; list.size() < count; ++k) {
      list.push_back({.name = name.empty() ? name : name + "_" + std::to_string(k)});
    }
  }
  return list;
}

// Where the parameter list opens behind a kernel's name at `after`: at once, or behind the
// arguments of a specialisation, which must be `instance`'s. npos if this is no declaration of it.
std::size_t parameter_list(const std::string& code, std::size_t after, std::string_view instance) {
  auto open = code.find_first_not_of(" \t\r\n", after);
  if (open != std::string::npos && code[open] == '<') {
    const auto paren = code.find('(', open);
    if (paren == std::string::npos) return paren;
    const auto close = code.rfind('>', paren);
    const auto angle = instance.find('<');
    if (close == std::string::npos || close < open || angle == std::string_view::npos) {
      return std::string::npos;
    }
    const std::string_view given = std::string_view(code).substr(open, close - open + 1);
    if (plain_type(given) != plain_type(instance.substr(angle))) return std::string::npos;
    open = code.find_first_not_of(" \t\r\n", close + 1);
  }
  return open != std::string::npos && code[open] == '(' ? open : std::string::npos;
}

// The parameters of the `__global__` that `instance` ("scale<float>") was made from and that has
// these many, nothing if it is not to be seen. Of several (overloads, specialisations, a
// declaration before the definition) the first whose types agree most, then that names most.
std::optional<std::vector<Declared>> find_parameters(const std::string& code,
                                                     const std::string& instance, std::size_t count,
                                                     const std::vector<std::string>& types) {
  std::string name = instance.substr(0, instance.find('<'));
  if (const auto scope = name.rfind("::"); scope != std::string::npos) name.erase(0, scope + 2);
  std::optional<std::vector<Declared>> best;
  std::pair<std::ptrdiff_t, std::ptrdiff_t> most{-1, -1};
  for (auto at = code.find(name); at != std::string::npos; at = code.find(name, at + 1)) {
    if (at > 0 && is_word(code[at - 1])) continue;
    const std::size_t open = parameter_list(code, at + name.size(), instance);
    if (open == std::string::npos) continue;
    // A kernel says so between the end of the last declaration and its name.
    const auto begin = code.find_last_of(";{}", at);
    const auto from = begin == std::string::npos ? 0 : begin;
    if (std::string_view(code).substr(from, at - from).find("__global__") == std::string::npos) {
      continue;
    }
    const std::size_t end = after_parentheses(code, open);
    auto list =
        expanded(split_list(std::string_view(code).substr(open + 1, end - open - 2)), count);
    if (list.size() != count) continue;
    std::pair<std::ptrdiff_t, std::ptrdiff_t> score{0, 0};
    for (std::size_t i = 0; i < count; ++i) {
      if (types.size() == count && plain_type(list[i].type) == plain_type(types[i])) ++score.first;
      if (!list[i].name.empty()) ++score.second;
    }
    if (score <= most) continue;
    most = score;
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
  const auto types = demangled_types(kernel.name);
  const auto declared = find_parameters(code_only(source), base_name(kernel.name), count,
                                        types ? *types : std::vector<std::string>{});
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
