#include "engine/source/signature.h"

#include <algorithm>
#include <array>

#include "engine/source/parameter.h"

namespace assay::source {
namespace {

constexpr std::size_t kMaxKernels = 4096;     // of one source; no real one has a tenth
constexpr std::size_t kMaxHeadTokens = 4096;  // before a kernel's parameters

constexpr std::array<std::string_view, 9> kAttributes{
    "__launch_bounds__", "__attribute__", "__cluster_dims__", "__maxnreg__", "__block_size__",
    "alignas",           "__declspec",    "decltype",         "noexcept"};

bool is_attribute(std::string_view word) {
  return std::find(kAttributes.begin(), kAttributes.end(), word) != kAttributes.end();
}

class Finder {
 public:
  explicit Finder(const Tokens& tokens)
      : tokens_(tokens), partners_(pair_brackets(tokens)), aliases_(find_aliases(tokens)) {}

  Kernels run() {
    while (at_ < tokens_.size() && found_.kernels.size() < kMaxKernels) step();
    return std::move(found_);
  }

 private:
  struct Scope {
    std::string name{};
    bool is_extern_c = false;
  };

  [[nodiscard]] bool is(std::size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].is(text);
  }

  void step() {
    const Token& token = tokens_[at_];
    if (token.is("namespace") && enter_namespace()) return;
    if (token.is("extern") && is(at_ + 1, "\"C\"") && is(at_ + 2, "{")) {
      scopes_.push_back({.is_extern_c = true});
      begin_declaration(at_ + 3);
    } else if (token.is("__global__")) {
      kernel();
    } else if (token.is("{")) {
      const std::size_t close = partners_[at_];
      // An unmatched brace hides nothing: go on inside it.
      begin_declaration(close == tokens_.size() ? at_ + 1 : close + 1);
    } else if (token.is("}")) {
      if (!scopes_.empty()) scopes_.pop_back();
      begin_declaration(at_ + 1);
    } else if (token.is(";")) {
      begin_declaration(at_ + 1);
    } else {
      ++at_;
    }
  }

  void begin_declaration(std::size_t at) {
    at_ = at;
    declaration_ = at;
  }

  // namespace a::b { and namespace { ; an alias (namespace x = y;) is none.
  bool enter_namespace() {
    std::string name;
    std::size_t at = at_ + 1;
    for (; at < tokens_.size() && at < at_ + 64; ++at) {
      const Token& token = tokens_[at];
      if (token.is("{")) break;
      if (token.is("inline")) continue;
      if (token.kind != TokenKind::identifier && !token.is("::")) return false;
      name += token.text;
    }
    if (!is(at, "{")) return false;
    scopes_.push_back({.name = std::move(name)});
    begin_declaration(at + 1);
    return true;
  }

  // Behind attributes, qualifiers and the return type: the name before the parameters.
  struct Head {
    std::size_t name = 0;
    std::size_t open = 0;  // of the parameters
    std::vector<std::string> arguments{};
    std::vector<std::string> launch_bounds{};
    bool found = false;
  };

  std::vector<std::string> texts(std::size_t open, std::size_t close) const {
    std::vector<std::string> list;
    for (const Range part : split_at_commas(tokens_, open + 1, close)) {
      list.push_back(spelled(tokens_, part.begin, part.end));
    }
    return list;
  }

  static bool ends_head(const Token& token) {
    return token.is(";") || token.is("{") || token.is("}") || token.is("=") ||
           token.is("__global__");
  }

  // Whether the '(' behind a word opens the parameters; an attribute's does not.
  bool opens_parameters(std::size_t word, std::size_t open, Head& head) const {
    if (is_attribute(tokens_[word].text)) return false;
    head.name = word;
    head.open = open;
    head.found = !is_type_word(tokens_[word].text);
    return true;
  }

  // Over what stands in brackets behind the last word; the end of the tokens if it does not close.
  std::size_t skip_brackets(std::size_t open, std::size_t word, Head& head) const {
    if (tokens_[open].is("<")) {
      const std::size_t close = closing_angle(tokens_, open, tokens_.size());
      if (close < tokens_.size()) head.arguments = texts(open, close);
      return close;
    }
    const std::size_t close = partners_[open];
    const bool is_bounds = tokens_[open].is("(") && tokens_[word].is("__launch_bounds__");
    if (is_bounds && close < tokens_.size()) head.launch_bounds = texts(open, close);
    return close;
  }

  [[nodiscard]] Head read_head() const {
    Head head;
    std::size_t last_word = tokens_.size();
    for (std::size_t i = at_ + 1; i < tokens_.size() && i < at_ + kMaxHeadTokens; ++i) {
      const Token& token = tokens_[i];
      if (ends_head(token)) return head;
      if (token.kind == TokenKind::identifier) {
        last_word = i;
        head.arguments.clear();
        continue;
      }
      const bool is_bracket =
          token.is("(") || token.is("[") || (token.is("<") && last_word + 1 == i);
      if (!is_bracket) continue;
      const bool is_lost =
          token.is("(") && (last_word == tokens_.size() || partners_[i] == tokens_.size());
      if (is_lost || (token.is("(") && opens_parameters(last_word, i, head))) return head;
      i = skip_brackets(i, last_word, head);
      if (i == tokens_.size()) return head;
    }
    return head;
  }

  [[nodiscard]] std::string scope_name() const {
    std::string name;
    for (const Scope& scope : scopes_) {
      if (!scope.name.empty()) name += scope.name + "::";
    }
    return name;
  }

  [[nodiscard]] bool in_extern_c() const {
    const bool around = std::any_of(scopes_.begin(), scopes_.end(),
                                    [](const Scope& scope) { return scope.is_extern_c; });
    for (std::size_t i = declaration_; i < at_; ++i) {
      if (tokens_[i].is("extern") && is(i + 1, "\"C\"")) return true;
    }
    return around;
  }

  // Returns whether the declaration is a template's; `parameters` are those of its last template
  // <…>.
  bool read_template(std::vector<TemplateParameter>& parameters) const {
    bool is_template = false;
    for (std::size_t i = declaration_; i < at_; ++i) {
      if (!tokens_[i].is("template")) continue;
      is_template = true;
      if (!is(i + 1, "<")) continue;
      const std::size_t close = closing_angle(tokens_, i + 1, at_);
      if (close == at_) continue;
      parameters = read_template_parameters(tokens_, {i + 2, close});
      i = close;
    }
    return is_template;
  }

  std::vector<Parameter> read_parameters(std::size_t open, std::size_t close) const {
    std::vector<Parameter> parameters;
    for (const Range part : split_at_commas(tokens_, open + 1, close)) {
      if (auto parameter = read_parameter(tokens_, part, aliases_)) {
        parameters.push_back(*std::move(parameter));
      }
    }
    return parameters;
  }

  void kernel() {
    Head head = read_head();
    if (!head.found) {
      ++at_;
      return;
    }
    const std::size_t close = partners_[head.open];
    Kernel kernel;
    Signature& signature = kernel.signature;
    signature.name = std::string(tokens_[head.name].text);
    signature.qualified_name = scope_name() + qualifier(head.name) + signature.name;
    signature.line = tokens_[head.name].line;
    signature.is_extern_c = in_extern_c();
    signature.launch_bounds = std::move(head.launch_bounds);
    signature.parameters = read_parameters(head.open, close);
    const bool is_template = read_template(signature.template_parameters);
    std::size_t next = close + 1;
    while (next < tokens_.size() && !tokens_[next].is("{") && !tokens_[next].is(";") &&
           !tokens_[next].is("}")) {
      ++next;
    }
    const bool is_instance = is_template && signature.template_parameters.empty() &&
                             !head.arguments.empty() && !is(next, "{");
    if (is_instance) {
      found_.instances.push_back({signature.qualified_name, std::move(head.arguments)});
      begin_declaration(next);
      return;
    }
    signature.specialization = std::move(head.arguments);
    if (is(next, "{")) {
      const std::size_t end = partners_[next];
      signature.has_body = true;
      kernel.body = {next + 1, end};
      next = std::min(end + 1, tokens_.size());
    }
    add(std::move(kernel));
    begin_declaration(next);
  }

  // "ops::" of a definition that is written __global__ void ops::reduce(…).
  [[nodiscard]] std::string qualifier(std::size_t name) const {
    std::size_t from = name;
    while (from >= 2 && tokens_[from - 1].is("::") &&
           tokens_[from - 2].kind == TokenKind::identifier && from - 2 > at_) {
      from -= 2;
    }
    return spelled(tokens_, from, name);
  }

  static bool same(const Signature& a, const Signature& b) {
    return a.qualified_name == b.qualified_name && a.specialization == b.specialization &&
           std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(),
                      b.parameters.end(), [](const Parameter& x, const Parameter& y) {
                        return x.type == y.type && x.pointer_depth == y.pointer_depth;
                      });
  }

  // A definition takes the place of its declaration, and the defaults that only that one had.
  void add(Kernel kernel) {
    for (Kernel& known : found_.kernels) {
      if (!same(known.signature, kernel.signature)) continue;
      if (known.signature.has_body) return;
      for (std::size_t i = 0; i < kernel.signature.parameters.size(); ++i) {
        std::string& value = kernel.signature.parameters[i].default_value;
        if (value.empty()) value = known.signature.parameters[i].default_value;
      }
      kernel.signature.is_extern_c |= known.signature.is_extern_c;
      known = std::move(kernel);
      return;
    }
    found_.kernels.push_back(std::move(kernel));
  }

  const Tokens& tokens_;
  std::vector<std::size_t> partners_;
  Aliases aliases_;
  std::vector<Scope> scopes_{};
  std::size_t at_ = 0;
  std::size_t declaration_ = 0;
  Kernels found_{};
};

}  // namespace

Kernels find_kernels(const Unit& unit) { return Finder(unit.tokens).run(); }

std::vector<Signature> signatures(std::string_view source) {
  std::vector<Signature> list;
  for (Kernel& kernel : find_kernels(preprocess(source)).kernels) {
    list.push_back(std::move(kernel.signature));
  }
  return list;
}

}  // namespace assay::source
