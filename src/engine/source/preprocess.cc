#include "engine/source/preprocess.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace assay::source {
namespace {

constexpr std::size_t kMaxDepth = 24;             // of macros inside macros
constexpr std::size_t kMaxExpanded = 1U << 18;    // tokens that macros may make in one source
constexpr std::size_t kMaxArgumentTokens = 4096;  // of one use of a function-like macro

// What NVRTC defines before the first line.
bool is_predefined(std::string_view name) {
  return name == "__CUDACC__" || name == "__CUDACC_RTC__" || name == "__CUDA_ARCH__" ||
         name == "__cplusplus" || name == "__NVCC__";
}

class Preprocessor {
 public:
  explicit Preprocessor(Unit& unit) : unit_(unit) {}

  void run(const Tokens& raw) {
    for (std::size_t i = 0; i < raw.size();) {
      if (raw[i].kind == TokenKind::directive) {
        directive(raw[i++]);
      } else if (!taken()) {
        ++i;
      } else {
        i = expand(raw, i, raw.size(), unit_.tokens, 0, nullptr);
      }
    }
  }

 private:
  // One #if … #endif: `taking` now, `done` once a branch was taken.
  struct Condition {
    bool taking = false;
    bool done = false;
  };

  [[nodiscard]] bool taken() const {
    return std::all_of(conditions_.begin(), conditions_.end(),
                       [](const Condition& condition) { return condition.taking; });
  }

  void directive(const Token& whole) {
    Tokens words = lex(whole.text.substr(1));
    for (Token& word : words) {
      word.offset += whole.offset + 1;
      word.line = whole.line;
    }
    if (words.empty()) return;
    const std::string_view verb = words[0].text;
    if (verb == "if" || verb == "ifdef" || verb == "ifndef") {
      const bool met = decide(words);
      conditions_.push_back({met, met});
    } else if (verb == "elif" && !conditions_.empty()) {
      Condition& condition = conditions_.back();
      condition.taking = !condition.done && decide(words);
      condition.done = condition.done || condition.taking;
    } else if (verb == "else" && !conditions_.empty()) {
      conditions_.back().taking = !conditions_.back().done;
    } else if (verb == "endif" && !conditions_.empty()) {
      conditions_.pop_back();
    } else if (verb == "define" && taken()) {
      define(words);
    } else if (verb == "undef" && taken() && words.size() > 1) {
      unit_.macros.erase(words[1].text);
    }
  }

  [[nodiscard]] bool is_defined(std::string_view name) const {
    return is_predefined(name) || unit_.macros.contains(name);
  }

  // 0, 1, a name and defined(…) are decided; anything else counts as true.
  [[nodiscard]] bool decide(const Tokens& words) const {
    if (words.size() < 2) return true;
    if (words[0].is("ifdef")) return is_defined(words[1].text);
    if (words[0].is("ifndef")) return !is_defined(words[1].text);
    std::size_t at = 1;
    bool negated = false;
    for (; at < words.size() && words[at].is("!"); ++at) negated = !negated;
    const bool is_call = at < words.size() && words[at].is("defined");
    const std::size_t name =
        is_call && at + 1 < words.size() && words[at + 1].is("(") ? at + 2 : at + 1;
    const std::size_t after = name + (name == at + 2 ? 2 : 1);
    if (is_call && name < words.size() && after >= words.size()) {
      return is_defined(words[name].text) != negated;
    }
    if (at + 1 == words.size() && (words[at].is("0") || words[at].is("false"))) return negated;
    return !negated || at + 1 != words.size();
  }

  void define(const Tokens& words) {
    if (words.size() < 2 || words[1].kind != TokenKind::identifier) return;
    Macro macro;
    std::size_t at = 2;
    const bool touching = at < words.size() && words[at].is("(") &&
                          words[at].offset == words[1].offset + words[1].text.size();
    if (touching) {
      macro.is_function = true;
      for (++at; at < words.size() && !words[at].is(")"); ++at) {
        if (words[at].is("...")) macro.is_variadic = true;
        if (words[at].kind == TokenKind::identifier) macro.parameters.push_back(words[at].text);
      }
      ++at;
    }
    if (at < words.size())
      macro.body.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
    unit_.macros.insert_or_assign(words[1].text, std::move(macro));
  }

  // The names being expanded, innermost first: a macro does not expand inside itself.
  struct Active {
    std::string_view name{};
    const Active* outer = nullptr;
    std::size_t depth = 1;
  };

  static bool is_active(const Active* active, std::string_view name) {
    for (; active != nullptr; active = active->outer) {
      if (active->name == name) return true;
    }
    return false;
  }

  // Appends what `in[at]` becomes; returns the index behind what was consumed.
  std::size_t expand(const Tokens& in, std::size_t at, std::size_t end, Tokens& out,
                     std::size_t line, const Active* active) {
    Token token = in[at];
    if (line != 0) token.line = line;
    const auto found =
        token.kind == TokenKind::identifier ? unit_.macros.find(token.text) : unit_.macros.end();
    const bool expands = found != unit_.macros.end() && !is_active(active, token.text) &&
                         made_ < kMaxExpanded && (active == nullptr || active->depth < kMaxDepth);
    if (!expands) {
      out.push_back(token);
      return at + 1;
    }

    const Macro& macro = found->second;
    std::size_t next = at + 1;
    std::vector<Tokens> arguments;
    if (macro.is_function) {
      const std::size_t open = next;
      if (open >= end || !in[open].is("(")) {
        out.push_back(token);
        return next;
      }
      const std::size_t close = close_of_use(in, open, end);
      if (close >= end) {
        out.push_back(token);
        return next;
      }
      arguments = read_arguments(in, open, close, macro);
      next = close + 1;
    }
    const Active here{token.text, active, active == nullptr ? 1 : active->depth + 1};
    const Tokens replaced = substitute(macro, arguments);
    made_ += replaced.size() + 1;
    for (std::size_t i = 0; i < replaced.size();) {
      i = expand(replaced, i, replaced.size(), out, token.line, &here);
    }
    return next;
  }

  static std::size_t close_of_use(const Tokens& in, std::size_t open, std::size_t end) {
    std::size_t depth = 0;
    const std::size_t limit = std::min(end, open + kMaxArgumentTokens);
    for (std::size_t i = open; i < limit; ++i) {
      if (in[i].is("(")) ++depth;
      if (in[i].is(")") && --depth == 0) return i;
    }
    return end;
  }

  // Arguments end at commas outside parentheses; braces and angles do not protect them here.
  static std::vector<Tokens> read_arguments(const Tokens& in, std::size_t open, std::size_t close,
                                            const Macro& macro) {
    std::vector<Tokens> arguments(1);
    std::size_t depth = 0;
    for (std::size_t i = open + 1; i < close; ++i) {
      const Token& token = in[i];
      if (token.kind == TokenKind::directive) continue;
      if (token.is("(")) ++depth;
      if (token.is(")")) --depth;
      const bool rest = macro.is_variadic && arguments.size() > macro.parameters.size();
      if (token.is(",") && depth == 0 && !rest) {
        arguments.emplace_back();
      } else {
        arguments.back().push_back(token);
      }
    }
    return arguments;
  }

  Tokens substitute(const Macro& macro, const std::vector<Tokens>& arguments) {
    Tokens out;
    const auto argument = [&](std::string_view name) -> const Tokens* {
      if (macro.is_variadic && name == "__VA_ARGS__") {
        const std::size_t index = macro.parameters.size();
        return index < arguments.size() ? &arguments[index] : &kNone;
      }
      const auto at = std::find(macro.parameters.begin(), macro.parameters.end(), name);
      if (at == macro.parameters.end()) return nullptr;
      const auto index = static_cast<std::size_t>(at - macro.parameters.begin());
      return index < arguments.size() ? &arguments[index] : &kNone;
    };
    for (std::size_t i = 0; i < macro.body.size() && made_ + out.size() < kMaxExpanded; ++i) {
      const Token& token = macro.body[i];
      const bool pastes = token.is("#") && i + 2 < macro.body.size() && macro.body[i + 1].is("#");
      if (pastes && !out.empty()) {
        const Token& right = macro.body[i + 2];
        const Tokens* given = argument(right.text);
        paste(out, given != nullptr ? *given : Tokens{right});
        i += 2;
      } else if (token.is("#") && i + 1 < macro.body.size() && argument(macro.body[i + 1].text)) {
        ++i;  // a string of the argument: of no interest here
        out.push_back({TokenKind::text, "\"\"", token.offset, token.line});
      } else if (const Tokens* given = argument(token.text); given != nullptr) {
        out.insert(out.end(), given->begin(), given->end());
      } else {
        out.push_back(token);
      }
    }
    return out;
  }

  void paste(Tokens& out, const Tokens& right) {
    if (right.empty()) return;
    unit_.pasted.push_back(std::string(out.back().text) + std::string(right.front().text));
    out.back().text = unit_.pasted.back();
    out.insert(out.end(), right.begin() + 1, right.end());
  }

  static inline const Tokens kNone{};
  Unit& unit_;
  std::vector<Condition> conditions_{};
  std::size_t made_ = 0;
};

}  // namespace

Unit preprocess(std::string_view source) {
  Unit unit;
  Preprocessor(unit).run(lex(source));
  return unit;
}

}  // namespace assay::source
