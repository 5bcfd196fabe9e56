#include "engine/source/plain_mistake.h"

#include <algorithm>
#include <map>
#include <vector>

#include "engine/source/launch.h"
#include "engine/source/token.h"

namespace assay::source {
namespace {

constexpr std::size_t kMaxLaunchTokens = 1024;  // as end_of_configuration() reads

bool opens(const Token& token) { return token.is("(") || token.is("[") || token.is("{"); }
bool closes(const Token& token) { return token.is(")") || token.is("]") || token.is("}"); }
char partner(char open) { return open == '(' ? ')' : open == '[' ? ']' : '}'; }
std::string quoted(const Token& token) { return "'" + std::string(token.text) + "'"; }

bool pairs(const Token& open, const Token& close) {
  return partner(open.text.front()) == close.text.front();
}

// "THREADS": by its spelling what a header or a flag may define.
bool looks_like_macro(const Token& token) {
  return token.kind == TokenKind::identifier && token.text.size() > 1 &&
         std::none_of(token.text.begin(), token.text.end(),
                      [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_unended(const Token& token) {
  if (token.kind != TokenKind::text && token.kind != TokenKind::character) return false;
  const std::size_t quote = token.text.find_first_of("\"'");
  return quote + 1 >= token.text.size() || token.text.back() != token.text[quote];
}

// All that the source defines anywhere, whether or not it is met or undefined again: name and the
// words behind it.
using Macros = std::map<std::string_view, Tokens>;

Macros macros_of(const Tokens& tokens) {
  Macros macros;
  for (const Token& token : tokens) {
    if (token.kind != TokenKind::directive) continue;
    const Tokens words = lex(token.text.substr(1));
    if (words.size() < 2 || !words[0].is("define")) continue;
    Tokens& body = macros[words[1].text];
    body.insert(body.end(), words.begin() + 2, words.end());
  }
  return macros;
}

// The index of a comment without an end behind the last token; npos if there is none.
std::size_t unended_comment(std::string_view source, const Tokens& tokens) {
  std::size_t at = tokens.empty() ? 0 : tokens.back().offset + tokens.back().text.size();
  while ((at = source.find('/', at)) != std::string_view::npos) {
    const std::string_view pair = source.substr(at, 2);
    if (pair == "//") {
      do at = source.find('\n', at + 1);
      while (at != std::string_view::npos && source[at - 1] == '\\');
    } else if (pair == "/*") {
      const std::size_t end = source.find("*/", at + 2);
      if (end == std::string_view::npos) return at;
      at = end + 2;
    } else {
      ++at;
    }
  }
  return at;
}

// Which branch of an #if is compiled is the compiler's to know: each must leave the brackets as it
// found them, or nothing is said.
class Brackets {
 public:
  Brackets(const Tokens& tokens, const Macros& macros) : tokens_(tokens), macros_(macros) {}

  std::optional<Mistake> run() {
    for (std::size_t at = 0; at < tokens_.size() && is_sure_ && !found_; ++at) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::directive) directive(token);
      if (!is_sure_) unsure_at_ = token.line;
      if (is_unended(token)) unended(token);
      if (token.kind != TokenKind::punctuation) continue;
      if (opens(token)) open(at);
      if (closes(token)) close(token);
      if (!is_sure_) unsure_at_ = token.line;
    }
    if (is_sure_ && !found_ && !open_.empty()) {
      const Token& open = tokens_[open_.back()];
      lacks_end(open, nullptr);
    }
    return is_sure_ && outside() ? found_ : std::nullopt;
  }

  // After run(): where reading could not tell any more which brackets pair.
  [[nodiscard]] std::optional<std::size_t> unsure_at() const { return unsure_at_; }

 private:
  [[nodiscard]] bool outside() const { return conditions_.empty(); }

  void unended(const Token& token) {
    const char quote = token.text[token.text.find_first_of("\"'")];
    found_ = Mistake{.what = std::string("the text that begins here has no closing ") + quote,
                     .line = token.line};
  }

  void lacks_end(const Token& open, const Token* met) {
    found_ = Mistake{.what = quoted(open) + " has no '" + partner(open.text.front()) + "'",
                     .line = open.line};
    if (met != nullptr) {
      found_->before = quoted(*met);
      found_->met_at = met->line;
    }
  }

  void open(std::size_t at) {
    const bool is_linkage = at > 1 && tokens_[at].is("{") && tokens_[at - 2].is("extern") &&
                            tokens_[at - 1].kind == TokenKind::text;
    if (is_linkage && !outside() && open_.size() == conditions_.back()) {
      ++linkages_;
    } else {
      open_.push_back(at);
    }
  }

  void close(const Token& token) {
    // #ifdef __cplusplus } #endif
    const bool is_alone = !outside() && open_.size() == conditions_.back();
    if (is_alone && linkages_ > 0 && token.is("}")) {
      --linkages_;
      return;
    }
    // A branch that closes what another text opened.
    if (!outside() && open_.size() <= conditions_.back()) is_sure_ = false;
    if (!open_.empty() && pairs(tokens_[open_.back()], token)) return open_.pop_back();
    is_sure_ = is_sure_ && !is_in_macro();
    const auto its_own = std::find_if(open_.rbegin(), open_.rend(),
                                      [&](std::size_t at) { return pairs(tokens_[at], token); });
    if (its_own != open_.rend()) return lacks_end(tokens_[open_.back()], &token);
    const char open = token.is(")") ? '(' : token.is("]") ? '[' : '{';
    found_ = Mistake{.what = quoted(token) + " has no '" + open + "'", .line = token.line};
  }

  // WRAP(if (x) {) … WRAP(}): what a macro makes of its arguments is not known. Those of torch take
  // expressions, whose brackets pair.
  [[nodiscard]] bool is_in_macro() const {
    return std::any_of(open_.begin(), open_.end(), [&](std::size_t at) {
      if (at == 0) return false;
      const Token& name = tokens_[at - 1];
      const bool is_torchs = name.text.starts_with("AT_") || name.text.starts_with("TORCH_") ||
                             name.text.starts_with("C10_");
      return macros_.contains(name.text) || (looks_like_macro(name) && !is_torchs);
    });
  }

  void directive(const Token& token) {
    const Tokens words = lex(token.text.substr(1));
    if (words.empty()) return;
    const std::string_view verb = words[0].text;
    if (verb == "if" || verb == "ifdef" || verb == "ifndef") {
      conditions_.push_back(open_.size());
    } else if (verb == "else" || verb.starts_with("elif") || verb == "endif") {
      is_sure_ = is_sure_ && !outside() && open_.size() == conditions_.back();
      if (verb == "endif" && !outside()) conditions_.pop_back();
    } else if (verb == "define") {
      is_sure_ = is_sure_ && is_balanced(words);
    }
  }

  // A macro that opens or closes for others; a raw text in a directive is more than the lexer
  // reads.
  static bool is_balanced(const Tokens& words) {
    const auto partners = pair_brackets(words);
    for (std::size_t at = 0; at < words.size(); ++at) {
      const Token& word = words[at];
      const bool is_bracket = word.kind == TokenKind::punctuation && (opens(word) || closes(word));
      if (is_bracket && partners[at] >= words.size()) return false;
      if (word.kind == TokenKind::text && word.text.find("R\"") != std::string_view::npos) {
        return false;
      }
    }
    return true;
  }

  const Tokens& tokens_;
  const Macros& macros_;
  std::vector<std::size_t> open_{};        // brackets, innermost last
  std::vector<std::size_t> conditions_{};  // how many were open at each #if
  std::size_t linkages_ = 0;               // extern "C" { that a branch opened
  bool is_sure_ = true;
  std::optional<std::size_t> unsure_at_{};
  std::optional<Mistake> found_{};
};

class Launches {
 public:
  Launches(const Tokens& tokens, const Macros& macros) : tokens_(tokens), macros_(macros) {}

  std::optional<Mistake> run() const {
    std::size_t conditions = 0;
    for (std::size_t at = 0; at < tokens_.size(); ++at) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::directive) {
        const Tokens words = lex(token.text.substr(1));
        const bool is_verb = !words.empty();
        if (is_verb && words[0].text.starts_with("if")) ++conditions;
        if (is_verb && words[0].is("endif") && conditions > 0) --conditions;
      }
      const bool is_launch = conditions == 0 && token.is("<") && is_triple(tokens_, at, "<") &&
                             at > 0 && !tokens_[at - 1].is("operator");
      if (!is_launch) continue;
      if (auto mistake = of_launch(at)) return mistake;
      at += 2;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Mistake> of_launch(std::size_t open) const {
    const std::size_t close = end_of_configuration(tokens_, open);
    const bool is_ended = close < tokens_.size();
    const std::size_t end = is_ended ? close : end_of_statement(open + 3);
    if (end - open >= kMaxLaunchTokens || hides_an_end(open + 3, end)) return std::nullopt;
    const std::size_t line = tokens_[open].line;
    if (!is_ended) {
      // Among the arguments of a macro, the macro may end it.
      const bool is_statement =
          end < tokens_.size() && (tokens_[end].is(";") || tokens_[end].is("}"));
      if (!is_statement) return std::nullopt;
      return Mistake{.what = "the launch has no '>>>(' behind its '<<<'", .line = line};
    }
    if (close + 3 >= tokens_.size() || tokens_[close + 3].is("(")) {
      return of_parameters(open + 3, close);
    }
    const Token& next = tokens_[close + 3];
    const bool may_be_macro = next.kind == TokenKind::directive || next.is(">") || next.is(",") ||
                              next.is(")") || looks_like_macro(next) || macros_.contains(next.text);
    if (may_be_macro) return std::nullopt;
    return Mistake{.what = "the launch has no '(' behind its '>>>'", .line = next.line};
  }

  [[nodiscard]] std::optional<Mistake> of_parameters(std::size_t begin, std::size_t end) const {
    const auto parts = split_at_commas(tokens_, begin, end);
    if (parts.size() >= 2 && parts.size() <= 4) return std::nullopt;
    for (std::size_t at = begin; at < end; ++at) {
      const Token& token = tokens_[at];
      // A comma of template arguments, a pack, a macro that makes several of one.
      const bool may_be_more = token.is("<") || token.is("...") || looks_like_macro(token) ||
                               macros_.contains(token.text);
      if (may_be_more) return std::nullopt;
    }
    return Mistake{.what = launch_parameters() + "; got " + std::to_string(parts.size()),
                   .line = tokens_[begin - 3].line};
  }

  // The ';' or the bracket that ends the statement around `at`, or where reading ends.
  [[nodiscard]] std::size_t end_of_statement(std::size_t at) const {
    std::size_t depth = 0;
    const std::size_t limit = std::min(tokens_.size(), at + kMaxLaunchTokens);
    for (; at < limit; ++at) {
      const Token& token = tokens_[at];
      if (opens(token)) ++depth;
      if (closes(token) && depth-- == 0) return at;
      if (depth == 0 && token.is(";")) return at;
    }
    return limit;
  }

  // A branch of #if, a macro that brings an end of its own, or an end that is spelled otherwise.
  [[nodiscard]] bool hides_an_end(std::size_t begin, std::size_t end) const {
    for (std::size_t at = begin; at < end; ++at) {
      const Token& token = tokens_[at];
      if (token.kind == TokenKind::directive) return true;
      const bool is_spaced =
          at + 2 < end && token.is(">") && tokens_[at + 1].is(">") && tokens_[at + 2].is(">");
      if (is_spaced) return true;
      const auto macro = macros_.find(token.text);
      if (macro == macros_.end()) continue;
      const Tokens& body = macro->second;
      if (std::any_of(body.begin(), body.end(), [&](const Token& word) {
            return word.is(">") || macros_.contains(word.text);
          })) {
        return true;
      }
    }
    return false;
  }

  const Tokens& tokens_;
  const Macros& macros_;
};

}  // namespace

std::string launch_parameters() {
  return "a launch takes 2 to 4 parameters: grid, block, dynamic shared memory, stream";
}

std::optional<std::size_t> hidden_brackets(std::string_view source) {
  const Tokens tokens = lex(source);
  const Macros macros = macros_of(tokens);
  Brackets brackets(tokens, macros);
  static_cast<void>(brackets.run());
  return brackets.unsure_at();
}

std::optional<Mistake> plain_mistake(std::string_view source) {
  const Tokens tokens = lex(source);
  if (const std::size_t at = unended_comment(source, tokens); at != std::string_view::npos) {
    const auto before = source.substr(0, at);
    const auto lines = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
    return Mistake{.what = "the comment that begins here has no '*/'", .line = lines + 1};
  }
  const Macros macros = macros_of(tokens);
  if (auto mistake = Brackets(tokens, macros).run()) return mistake;
  return Launches(tokens, macros).run();
}

}  // namespace assay::source
