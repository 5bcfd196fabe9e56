#include "engine/source/device_code.h"

#include <algorithm>
#include <set>

#include "engine/source/blank.h"
#include "engine/source/cuda_text.h"
#include "engine/source/host_words.h"
#include "engine/source/parameter.h"
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
      // Its defaults have a '=', too.
      if (tokens_[i].is("template") && is(i + 1, "<")) {
        const std::size_t close = closing_angle(tokens_, i + 1, tokens_.size());
        if (close < tokens_.size()) i = close;
        continue;
      }
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
    const Token& before = tokens_[before_arguments(i - 1, item.range.begin)];
    if (before.kind != TokenKind::identifier || is_attribute(before.text) ||
        is_type_word(before.text))
      return;
    reading.has_parameters = true;
    if (!reading.is_type) item.name = std::string(before.text);
  }

  // Of "fill" in "fill<float>", whose last token is at `last`: a template that is specialised.
  [[nodiscard]] std::size_t before_arguments(std::size_t last, std::size_t begin) const {
    if (!is(last, ">")) return last;
    std::size_t depth = 0;
    for (std::size_t i = last; i > begin; --i) {
      if (is(i, ">")) ++depth;
      if (is(i, "<") && --depth == 0) return i - 1;
    }
    return last;
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

}  // namespace

DeviceCode device_code(std::string_view file, const ArgumentTypes& contract) {
  CudaText given = cuda_text(file);
  DeviceCode code = Separation(given.text).run();
  for (Dropped& dropped : code.dropped) {
    if (dropped.line <= given.lines.size()) dropped.line = given.lines[dropped.line - 1];
  }
  code.instances = launched_instances(given.text, contract);
  // An instance may be of a type that the device half never names.
  std::string named;
  for (const auto& instance : code.instances) named += "\n" + instance.name;
  auto options = substitute_options(preprocess(code.text + named));
  for (const char* type : {"fp16", "bf16"}) {
    const std::string header = std::string("cuda_") + type + ".h";
    const char* word = std::string_view(type) == "fp16" ? "__half" : "__nv_bfloat16";
    const bool is_missing =
        named.find(word) != std::string::npos && code.text.find(header) == std::string::npos;
    if (is_missing) options.push_back("--pre-include=" + header);
  }
  code.options.insert(code.options.end(), options.begin(), options.end());
  code.text = with_device_std(code.text);
  if (given.is_python) code.text = with_line_numbers(code.text, given.lines);
  code.is_changed = code.text != file;
  code.doubts = std::move(given.doubts);
  code.flags = std::move(given.flags);
  if (given.is_python)
    code.dropped.insert(code.dropped.begin(), {"the Python around the CUDA strings", 1});
  return code;
}

}  // namespace assay::source
