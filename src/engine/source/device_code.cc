#include "engine/source/device_code.h"

#include <algorithm>
#include <array>
#include <set>

#include "engine/source/host_words.h"
#include "engine/source/parameter.h"
#include "engine/source/python_text.h"
#include "engine/source/signature.h"
#include "engine/source/substitutes.h"

namespace assay::source {
namespace {

// A stretch of tokens that stays or goes as a whole.
struct Item {
  Range range{};
  std::size_t head_end = 0;  // where its body begins, if it has one
  std::string what{};        // "function", "type", "declaration"
  std::string name{};
  bool is_dropped = false;
  bool is_fixed = false;  // device code whatever it says
};

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end && i < text.size(); ++i) {
    if (text[i] != '\n' && text[i] != '\r') text[i] = ' ';
  }
}

class Separation {
 public:
  explicit Separation(std::string_view source)
      : source_(source),
        tokens_(lex(source)),
        partners_(pair_brackets(tokens_)),
        unit_(preprocess(source)) {}

  DeviceCode run() {
    out_.text = std::string(source_);
    for (std::size_t at = 0; at < tokens_.size();) at = take(at);
    spread();
    for (const Item& item : items_) {
      if (item.is_dropped) drop(item.range, item.what + (item.name.empty() ? "" : " " + item.name));
    }
    std::sort(out_.dropped.begin(), out_.dropped.end(),
              [](const Dropped& a, const Dropped& b) { return a.line < b.line; });
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  void drop(Range range, std::string what) {
    const Token& last = tokens_[range.end - 1];
    blank(out_.text, tokens_[range.begin].offset, last.offset + last.text.size());
    out_.dropped.push_back({std::move(what), tokens_[range.begin].line});
  }

  // One item, directive, or the opening of a scope; returns the index behind it.
  std::size_t take(std::size_t at) {
    const Token& token = tokens_[at];
    if (token.kind == TokenKind::directive) {
      directive(at);
      return at + 1;
    }
    if (token.is("}") || token.is(";")) return at + 1;
    if (token.is("extern") && is(at + 1, "\"C\"") && is(at + 2, "{")) return at + 3;
    if (token.is("namespace") || (token.is("inline") && is(at + 1, "namespace"))) {
      std::size_t brace = at;
      while (brace < tokens_.size() && !is(brace, "{") && !is(brace, ";") && !is(brace, "="))
        ++brace;
      if (is(brace, "{")) return brace + 1;
    }
    Item item = read_item(at);
    const std::size_t end = item.range.end;
    judge(item);
    items_.push_back(std::move(item));
    return end;
  }

  // "#include <vector>" goes.
  void directive(std::size_t at) {
    const Tokens words = lex(tokens_[at].text.substr(1));
    if (words.size() < 2 || !words[0].is("include")) return;
    const std::string_view text = tokens_[at].text;
    const auto open = text.find_first_of("<\"");
    const auto close = text.find_first_of(">\"", open == std::string_view::npos ? open : open + 1);
    if (open == std::string_view::npos || close == std::string_view::npos) return;
    const std::string_view header = text.substr(open + 1, close - open - 1);
    const bool is_quoted = text[open] == '"';
    if (header == "cub/cub.cuh") {
      out_.options = cub_options(unit_);
      return drop({at, at + 1}, "#include " + std::string(text.substr(open, close - open + 1)));
    }
    if (is_device_header(header)) return;
    const bool is_foreign = header.find("torch") != std::string_view::npos ||
                            header.substr(0, 4) == "ATen" || header.substr(0, 4) == "c10/" ||
                            header.find("pybind") != std::string_view::npos ||
                            header.substr(0, 7) == "helper_" || header.substr(0, 6) == "cublas" ||
                            header == "curand.h" || header.substr(0, 4) == "cuda";
    if (is_quoted && !is_foreign) return;  // the user's own: the compiler will name it
    drop({at, at + 1}, "#include " + std::string(text.substr(open, close - open + 1)));
  }

  [[nodiscard]] bool is_macro_call(std::size_t at) const {
    const auto macro = unit_.macros.find(tokens_[at].text);
    return macro != unit_.macros.end() && macro->second.is_function && is(at + 1, "(");
  }

  // What is known of a declaration while it is read.
  struct Reading {
    Item item{};
    bool has_parameters = false;
    bool is_assigned = false;
    bool is_type = false;
  };

  // To its ';', to the end of its body, or to the next directive.
  Item read_item(std::size_t at) const {
    Reading reading{.item = {.range = {at, tokens_.size()}, .what = "declaration"}};
    for (std::size_t i = at; i < tokens_.size(); ++i) {
      if (ends_at(i, reading.item)) break;
      note_word(i, reading);
      const bool is_body = tokens_[i].is("{");
      if (!is_body && !tokens_[i].is("(") && !tokens_[i].is("[")) continue;
      if (is_body && reading.item.head_end == 0) reading.item.head_end = i;
      const std::size_t close = partners_[i];
      if (close == tokens_.size()) break;
      if (is_body ? ends_with_body(close, reading) : ends_with_call(close, reading.item)) break;
      i = close;
    }
    if (reading.is_type) reading.item.what = "type";
    if (reading.item.head_end == 0) reading.item.head_end = reading.item.range.end;
    return std::move(reading.item);
  }

  [[nodiscard]] bool ends_at(std::size_t i, Item& item) const {
    const Token& token = tokens_[i];
    const bool is_first = i == item.range.begin;
    if (token.kind == TokenKind::directive && !is_first) {
      item.range.end = i;
      return true;
    }
    if (!token.is(";") && !token.is("}")) return false;
    item.range.end = token.is(";") || is_first ? i + 1 : i;
    return true;
  }

  // Whether it defines a type, has a value or parameters, and what it is called.
  void note_word(std::size_t i, Reading& reading) const {
    const Token& token = tokens_[i];
    Item& item = reading.item;
    if (token.is("struct") || token.is("class") || token.is("union") || token.is("enum")) {
      reading.is_type |= !reading.has_parameters && !in_template(item.range.begin, i);
      if (reading.is_type && item.name.empty() && i + 1 < tokens_.size())
        item.name = std::string(tokens_[i + 1].text);
    }
    if (token.is("=")) reading.is_assigned = true;
    if (!token.is("(") || reading.has_parameters || reading.is_assigned || i == item.range.begin)
      return;
    const Token& before = tokens_[i - 1];
    if (before.kind != TokenKind::identifier || is_attribute(before.text) ||
        is_type_word(before.text))
      return;
    reading.has_parameters = true;
    if (!reading.is_type) item.name = std::string(before.text);
  }

  [[nodiscard]] bool ends_with_body(std::size_t close, Reading& reading) const {
    if (!reading.has_parameters || reading.is_assigned || reading.is_type) return false;
    reading.item.what = "function";
    reading.item.range.end = is(close + 1, ";") ? close + 2 : close + 1;
    return true;
  }

  // "PYBIND11_STUFF(x, y)" without a ';'.
  [[nodiscard]] bool ends_with_call(std::size_t close, Item& item) const {
    const std::size_t at = item.range.begin;
    if (!is_macro_call(at) || partners_[at + 1] != close) return false;
    if (is(close + 1, ";") || is(close + 1, "{")) return false;
    item.range.end = close + 1;
    return true;
  }

  static bool is_attribute(std::string_view word) {
    return word == "__launch_bounds__" || word == "__attribute__" || word == "alignas" ||
           word == "__align__" || word == "decltype" || word == "__cluster_dims__";
  }

  // template <class T>: no type is defined.
  [[nodiscard]] bool in_template(std::size_t begin, std::size_t at) const {
    for (std::size_t i = at; i > begin; --i) {
      if (tokens_[i - 1].is("<") || tokens_[i - 1].is(",")) return true;
      if (tokens_[i - 1].kind == TokenKind::punctuation) return false;
      if (tokens_[i - 1].kind != TokenKind::identifier) return false;
    }
    return false;
  }

  [[nodiscard]] bool says_device(const Token& token) const {
    const auto named = [](const Token& word) {
      return word.is("__global__") || word.is("__device__") || word.is("__constant__") ||
             word.is("__managed__") || word.is("__forceinline__");
    };
    if (named(token)) return true;
    const auto macro = unit_.macros.find(token.text);
    return macro != unit_.macros.end() &&
           std::any_of(macro->second.body.begin(), macro->second.body.end(), named);
  }

  void judge(Item& item) {
    const std::size_t end = item.what == "type" ? item.range.end : item.head_end;
    bool says_host = false;
    for (std::size_t i = item.range.begin; i < end; ++i) {
      if (tokens_[i].kind != TokenKind::identifier) continue;
      item.is_fixed |= says_device(tokens_[i]);
      says_host |= tokens_[i].is("__host__");
    }
    if (item.is_fixed) return;
    const std::size_t first = item.range.begin;
    if (is(first, "using") && is(first + 1, "namespace")) {
      const Token& name = tokens_[std::min(first + 2, tokens_.size() - 1)];
      item.is_dropped =
          name.is("std") || name.is("torch") || name.is("at") || name.is("c10") || name.is("py");
      item.name = "using namespace " + std::string(name.text);
      item.what = "the";
      if (item.is_dropped) return;
    }
    item.is_dropped = says_host || speaks_of_host(tokens_, item.range.begin, item.range.end);
    // A line that is no C++ (Markdown's fences): nothing of it can be compiled.
    if (is(first, "`")) item.is_dropped = true;
  }

  // What uses something dropped goes too, unless it is device code.
  void spread() {
    std::set<std::string_view> gone;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Item& item : items_) {
        if (item.is_dropped && item.name.size() > 1 && item.what != "the") gone.insert(item.name);
      }
      for (Item& item : items_) {
        if (item.is_dropped || item.is_fixed) continue;
        for (std::size_t i = item.range.begin; i < item.range.end && !item.is_dropped; ++i) {
          const bool is_member = i > 0 && (tokens_[i - 1].is(".") || tokens_[i - 1].is("->"));
          item.is_dropped = tokens_[i].kind == TokenKind::identifier && !is_member &&
                            gone.contains(tokens_[i].text);
        }
        changed |= item.is_dropped;
      }
    }
  }

  std::string_view source_;
  Tokens tokens_;
  std::vector<std::size_t> partners_;
  Unit unit_;
  std::vector<Item> items_{};
  DeviceCode out_{};
};

bool defines_type(const Unit& unit, std::string_view name) {
  for (std::size_t i = 1; i < unit.tokens.size(); ++i) {
    const Token& before = unit.tokens[i - 1];
    if (unit.tokens[i].is(name) && (before.is("struct") || before.is("class"))) return true;
  }
  return false;
}

// The type of Square{} or Square(2.0f), handed to a parameter whose type is the template's own; ""
// if that does not tell.
std::string deduced_argument(const Unit& unit, const Signature& signature, const Launch& launch,
                             const std::string& name) {
  for (std::size_t i = 0; i < std::min(signature.parameters.size(), launch.arguments.size()); ++i) {
    const Parameter& parameter = signature.parameters[i];
    const Tokens tokens = lex(launch.arguments[i]);
    const bool is_made = parameter.type == name && !parameter.is_pointer() && tokens.size() > 2 &&
                         (tokens[1].is("{") || tokens[1].is("("));
    if (is_made && defines_type(unit, tokens[0].text)) return std::string(tokens[0].text);
  }
  return {};
}

// Whether a template argument means something outside of the host function it stands in.
bool is_known_argument(const Unit& unit, const std::string& argument, bool is_type) {
  const Tokens tokens = lex(argument);
  return !tokens.empty() && std::all_of(tokens.begin(), tokens.end(), [&](const Token& token) {
    if (token.kind != TokenKind::identifier) return true;
    static constexpr std::array<std::string_view, 14> kTypes{
        "__half", "half", "__half2", "half2", "__nv_bfloat16", "nv_bfloat16", "float2",
        "float4", "int4", "true",    "false", "int32_t",       "int64_t",     "uint8_t"};
    return std::find(kTypes.begin(), kTypes.end(), token.text) != kTypes.end() ||
           (is_type && (is_type_word(token.text) || defines_type(unit, token.text)));
  });
}

// "scale<float, 256>" for a launch of a template; nothing where a number is not known.
std::string instance_of(const Unit& unit, const Signature& signature, const Launch& launch) {
  std::string text = signature.qualified_name;
  const char* separator = "<";
  for (std::size_t i = 0; i < signature.template_parameters.size(); ++i) {
    const auto& parameter = signature.template_parameters[i];
    std::string argument = i < launch.template_arguments.size() ? launch.template_arguments[i] : "";
    if (const auto value = launch.values.find(argument); value != launch.values.end()) {
      argument = value->second;
    }
    if (argument.empty()) argument = deduced_argument(unit, signature, launch, parameter.name);
    if (argument.empty() || !is_known_argument(unit, argument, parameter.is_type())) {
      if (!parameter.is_type() && argument.empty() && !parameter.default_value.empty()) break;
      if (!parameter.is_type()) return {};
      argument = "float";
    }
    text += separator + argument;
    separator = ", ";
  }
  return *separator == ',' ? text + ">" : text;
}

std::vector<std::string> instances_in(std::string_view source) {
  const Unit unit = preprocess(source);
  std::vector<std::string> list;
  const auto kernels = find_kernels(unit).kernels;
  for (const Launch& launch : find_launches(unit)) {
    for (const Kernel& kernel : kernels) {
      const Signature& signature = kernel.signature;
      const bool is_meant =
          signature.qualified_name == launch.kernel || signature.name == launch.kernel;
      if (!is_meant || !signature.is_template()) continue;
      std::string instance = instance_of(unit, signature, launch);
      if (!instance.empty() && std::find(list.begin(), list.end(), instance) == list.end()) {
        list.push_back(std::move(instance));
      }
    }
  }
  return list;
}

// Escapes that Python would undo, as far as no line moves: \\ \" \' and \ at a line's end.
std::string unescaped(const PythonString& text) {
  if (text.is_raw) return std::string(text.content);
  std::string out;
  for (std::size_t i = 0; i < text.content.size(); ++i) {
    const char c = text.content[i];
    const char next = i + 1 < text.content.size() ? text.content[i + 1] : '\0';
    if (c == '\\' && (next == '\\' || next == '"' || next == '\'')) {
      out += next;
      ++i;
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<PythonString> cuda_strings(std::string_view file) {
  auto strings = python_strings(file);
  std::erase_if(strings, [](const PythonString& text) {
    const bool is_cuda = text.keyword == "cuda_sources" || text.keyword == "cuda_source";
    return !text.holds_kernels() && !(is_cuda && text.content.find('{') != std::string_view::npos);
  });
  return strings;
}

// "```cuda" around a source that was cut out of a chat.
void blank_fences(std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text.compare(first, 3, "```") != 0) return;
  for (std::size_t at = first; at != std::string::npos; at = text.find("\n```", at)) {
    if (text[at] == '\n') ++at;
    blank(text, at, std::min(text.find('\n', at), text.size()));
  }
}

// Python without any CUDA in it is left to the compiler, whose messages then have a place.
bool is_python_with_cuda(std::string_view file) {
  return looks_like_python(file) && !cuda_strings(file).empty();
}

}  // namespace

std::string cuda_text(std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (!is_python_with_cuda(file)) {
    std::string text(file);
    // Windows puts it in front; to a compiler it is no space.
    if (file.starts_with(kByteOrderMark)) blank(text, 0, kByteOrderMark.size());
    blank_fences(text);
    return text;
  }
  std::string out;
  std::size_t line = 1;
  for (const PythonString& text : cuda_strings(file)) {
    for (; line < text.line; ++line) out += '\n';
    out += unescaped(text);
    line += static_cast<std::size_t>(std::count(text.content.begin(), text.content.end(), '\n'));
  }
  const auto lines = static_cast<std::size_t>(std::count(file.begin(), file.end(), '\n')) + 1;
  for (; line < lines; ++line) out += '\n';
  return out;
}

DeviceCode device_code(std::string_view file) {
  const bool is_python = is_python_with_cuda(file);
  const std::string source = cuda_text(file);
  DeviceCode code = Separation(source).run();
  const auto options = substitute_options(preprocess(code.text));
  code.options.insert(code.options.end(), options.begin(), options.end());
  code.text = with_device_std(code.text);
  code.is_changed = code.text != file;
  code.instances = instances_in(source);
  if (is_python)
    code.dropped.insert(code.dropped.begin(), {"the Python around the CUDA strings", 1});
  return code;
}

}  // namespace assay::source
