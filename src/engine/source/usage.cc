#include "engine/source/usage.h"

#include <algorithm>
#include <array>

#include "engine/source/bounds.h"
#include "engine/source/reach.h"
#include "engine/source/word_list.h"

namespace assay::source {
namespace {

constexpr std::array<std::string_view, 10> kAssigning{
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
constexpr std::size_t kMaxIndexes = 16;  // of one array: more tell no more
// Functions whose pointer is only read, or only written.
constexpr std::array<std::string_view, 8> kReading{
    "__ldg", "__ldcg", "__ldca", "__ldcs", "__ldlu", "__ldcv", "load_matrix_sync", "sizeof"};
constexpr std::array<std::string_view, 5> kWriting{"__stcs", "__stcg", "__stwt", "__stwb",
                                                   "store_matrix_sync"};

bool is_cast(std::string_view word) {
  return word == "reinterpret_cast" || word == "static_cast" || word == "const_cast";
}

class Reader {
 public:
  Reader(const Unit& unit, const Kernel& kernel)
      : tokens_(unit.tokens), kernel_(kernel), bounds_(unit.tokens, kernel) {
    usage_.parameters.resize(kernel.signature.parameters.size());
    for (std::size_t i = 0; i < kernel.signature.parameters.size(); ++i) {
      const auto& parameter = kernel.signature.parameters[i];
      if (!parameter.name.empty()) owners_[parameter.name] = i;
    }
  }

  Usage run() {
    usage_.has_dynamic_shared = dynamic_shared(tokens_, kernel_.body).has_value();
    for (std::size_t i = kernel_.body.begin; i < kernel_.body.end; ++i) {
      const Token& token = tokens_[i];
      if (token.kind != TokenKind::identifier) continue;
      if (is_coordinate(token.text)) note_coordinate(i);
      const bool is_member =
          tokens_[i - 1].is(".") || tokens_[i - 1].is("->") || tokens_[i - 1].is("::");
      const auto owner = owners_.find(token.text);
      if (!is_member && owner != owners_.end()) access(i, owner->second);
    }
    usage_.indexes = bounds_.thread_indexes();
    usage_.lone_blocks = bounds_.lone_blocks();
    usage_.counted_blocks = bounds_.counted_blocks();
    usage_.loop_sizes = bounds_.loop_sizes();
    return std::move(usage_);
  }

 private:
  static bool is_coordinate(std::string_view word) {
    return word == "threadIdx" || word == "blockIdx" || word == "blockDim" || word == "gridDim";
  }

  void note_coordinate(std::size_t at) {
    if (at + 2 < kernel_.body.end && tokens_[at + 1].is(".")) {
      usage_.coordinates.insert(std::string(tokens_[at].text) + "." +
                                std::string(tokens_[at + 2].text));
    }
  }

  [[nodiscard]] std::size_t after_postfix(std::size_t at, bool& indexed) const {
    while (at < kernel_.body.end) {
      if (tokens_[at].is("[")) {
        const std::size_t close = closing(tokens_, at, kernel_.body.end);
        if (close == kernel_.body.end) return close;
        indexed = true;
        at = close + 1;
      } else if ((tokens_[at].is(".") || tokens_[at].is("->")) && at + 1 < kernel_.body.end) {
        if (tokens_[at].is("->")) indexed = true;
        at += 2;
      } else {
        return at;
      }
    }
    return at;
  }

  // What stands in the brackets behind `at`; the first that is bounded tells the shape.
  void note_index(std::size_t at, const Parameter& parameter, PointerUse& use) const {
    const Range index{at + 2, closing(tokens_, at + 1, kernel_.body.end)};
    if (use.indexes.size() < kMaxIndexes) {
      use.indexes.insert(spelled(tokens_, index.begin, index.end));
    }
    if (use.has_running_index || tokens_[at].text != parameter.name) return;
    auto shape = bounds_.shape(index);
    use.has_running_index = !shape.empty() && tokens_[index.begin].kind != TokenKind::number;
    if (!shape.empty()) use.shape = std::move(shape);
  }

  // One occurrence of a parameter or of a pointer made from it.
  void access(std::size_t at, std::size_t owner) {
    PointerUse& use = usage_.parameters[owner];
    const Parameter& parameter = kernel_.signature.parameters[owner];
    if (!parameter.is_pointer() && !parameter.is_reference) {
      use.is_read = true;
      return;
    }
    bool indexed = false;
    std::size_t begin = at;
    std::size_t end = after_postfix(at + 1, indexed);
    if (indexed && tokens_[at + 1].is("[")) note_index(at, parameter, use);
    std::string_view function;
    bool first_argument = true;
    for (;;) {
      if (begin > kernel_.body.begin && tokens_[begin - 1].is("*") && is_dereference(begin - 1)) {
        indexed = true;
        --begin;
      } else if (begin > kernel_.body.begin && tokens_[begin - 1].is("&")) {
        indexed = false;
        --begin;
      } else if (const auto open = enclosing_paren(begin, end, first_argument)) {
        const std::size_t close = closing(tokens_, *open, kernel_.body.end);
        if (close == kernel_.body.end) break;
        function = callee(*open);
        if (!function.empty() && !is_cast(function)) break;
        begin = function.empty() ? *open : cast_begin(*open);
        end = after_postfix(close + 1, indexed);
        // (float4*)p: the cast stands before the parenthesised or bare name.
      } else {
        break;
      }
    }
    classify(use, begin, end, indexed, function, first_argument, owner);
  }

  // Whether a '*' before an operand dereferences it rather than multiplies.
  [[nodiscard]] bool is_dereference(std::size_t star) const {
    if (star == kernel_.body.begin) return true;
    const Token& before = tokens_[star - 1];
    if (before.kind == TokenKind::number || before.is("]")) return false;
    if (before.is(")")) return false;
    return before.kind != TokenKind::identifier || before.is("return") || before.is("else");
  }

  [[nodiscard]] bool is_condition(std::size_t open) const {
    if (open == 0) return false;
    const Token& word = tokens_[open - 1];
    return word.is("if") || word.is("while") || word.is("for") || word.is("switch");
  }

  static bool ends_expression(const Token& token) {
    return token.is(";") || token.is("{") || token.is("}") || token.is("=") ||
           is_one_of(token.text, kAssigning);
  }

  // The '(' around [begin, end) with nothing but an offset (p + i) beside it.
  std::optional<std::size_t> enclosing_paren(std::size_t begin, std::size_t end,
                                             bool& first_argument) {
    std::size_t at = begin;
    std::size_t depth = 0;
    first_argument = true;
    const std::size_t limit = begin > 64 ? begin - 64 : 0;
    while (at > std::max(limit, kernel_.body.begin)) {
      --at;
      const Token& token = tokens_[at];
      if (token.is(")") || token.is("]")) ++depth;
      if (token.is("(") || token.is("[")) {
        if (depth == 0) {
          const bool is_wrong = !token.is("(") || is_condition(at) || end > kernel_.body.end;
          return is_wrong ? std::nullopt : std::optional(at);
        }
        --depth;
      }
      if (depth == 0 && token.is(",")) first_argument = false;
      if (depth == 0 && ends_expression(token)) return std::nullopt;
    }
    return std::nullopt;
  }

  // "atomicAdd" of atomicAdd( … ), "reinterpret_cast" of reinterpret_cast<float4*>( … ), "" of ( …
  // ).
  [[nodiscard]] std::string_view callee(std::size_t open) const {
    if (open == 0) return {};
    std::size_t at = open - 1;
    if (tokens_[at].is(">")) {
      for (std::size_t steps = 0; at > 0 && steps < 64 && !tokens_[at].is("<"); ++steps) --at;
      if (at == 0) return {};
      --at;
    }
    const Token& token = tokens_[at];
    if (token.kind != TokenKind::identifier || token.is("return")) return {};
    return token.text;
  }

  [[nodiscard]] std::size_t cast_begin(std::size_t open) const {
    std::size_t at = open - 1;
    for (std::size_t steps = 0; at > kernel_.body.begin && steps < 64 && !is_cast(tokens_[at].text);
         ++steps)
      --at;
    return at;
  }

  void classify(PointerUse& use, std::size_t begin, std::size_t end, bool indexed,
                std::string_view function, bool first_argument, std::size_t owner) {
    const bool is_const = kernel_.signature.parameters[owner].is_const;
    if (!function.empty() && !is_cast(function)) {
      if (function.substr(0, 6) == "atomic" || function.substr(0, 6) == "__atom") {
        use.is_written |= first_argument;
        use.is_accumulated |= first_argument;
        use.is_read |= !first_argument;
      } else if (is_one_of(function, kWriting)) {
        use.is_written |= first_argument;
        use.is_read |= !first_argument;
      } else if (is_one_of(function, kReading) || indexed || is_const) {
        use.is_read = true;
      } else {
        use.is_passed_on = true;
      }
      return;
    }
    const std::string_view next = end < kernel_.body.end ? tokens_[end].text : std::string_view();
    const bool stepped = next == "++" || next == "--" ||
                         (begin > kernel_.body.begin &&
                          (tokens_[begin - 1].is("++") || tokens_[begin - 1].is("--")));
    if (indexed && next == "=") {
      use.is_written = true;
    } else if (indexed && (stepped || is_one_of(next, kAssigning))) {
      use.is_written = true;
      use.is_read = true;
    } else if (!note_alias(begin, owner) && (indexed || !stepped)) {
      use.is_read |= indexed;
    }
  }

  // float* q = p + off; and auto q = reinterpret_cast<float4*>(p): q's uses are p's.
  bool note_alias(std::size_t begin, std::size_t owner) {
    std::size_t at = begin;
    const std::size_t limit = begin > 96 ? begin - 96 : 0;
    while (at > std::max(limit, kernel_.body.begin) && !tokens_[at - 1].is("=")) {
      const Token& token = tokens_[at - 1];
      if (token.is(";") || token.is("{") || token.is("}")) return false;
      --at;
    }
    if (at < kernel_.body.begin + 3 || !tokens_[at - 1].is("=")) return false;
    const Token& name = tokens_[at - 2];
    if (name.kind != TokenKind::identifier) return false;
    std::size_t before = at - 3;
    while (before > kernel_.body.begin &&
           (tokens_[before].is("__restrict__") || tokens_[before].is("const")))
      --before;
    const bool is_pointer =
        tokens_[before].is("*") || tokens_[before].is("auto") || tokens_[before].is("&");
    // Indexed: `float v = p[i]` is a read; `float& v = p[i]` and `auto* q = &p[i]` are aliases.
    if (!is_pointer || owners_.contains(name.text)) return false;
    owners_[std::string(name.text)] = owner;
    return true;
  }

  const Tokens& tokens_;
  const Kernel& kernel_;
  Bounds bounds_;
  std::map<std::string, std::size_t, std::less<>> owners_{};
  Usage usage_{};
};

}  // namespace

Usage usage(const Unit& unit, const Kernel& kernel) {
  if (kernel.body.begin >= kernel.body.end || kernel.body.begin == 0) {
    Usage nothing;
    nothing.parameters.resize(kernel.signature.parameters.size());
    return nothing;
  }
  return Reader(unit, kernel).run();
}

}  // namespace assay::source
