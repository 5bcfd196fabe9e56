#include "engine/source/in_double.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "engine/source/in_double_casts.h"
#include "engine/source/in_double_words.h"
#include "engine/source/macro_option.h"
#include "engine/source/own_words.h"
#include "engine/source/rewritten_text.h"
#include "engine/source/token.h"

namespace assay::source {
namespace {

using std::string_view;

// Of the arguments of one; what is longer is no call.
constexpr std::size_t kMostTokensOfATemplate = 256;

bool is_word_token(const Token& token) { return token.kind == TokenKind::identifier; }

// "1.5e-3f" → the same value as a double's literal; nothing for what is no float.
std::optional<std::string> wider_literal(string_view spelled) {
  std::string digits;
  for (const char c : spelled) {
    if (c != '\'') digits += c;
  }
  const bool is_hex = digits.size() > 1 && digits[0] == '0' && (digits[1] | 0x20) == 'x';
  if (digits.empty() || (digits.back() | 0x20) != 'f') return std::nullopt;
  if (is_hex && digits.find_first_of("pP") == std::string::npos) return std::nullopt;
  digits.pop_back();
  const float value = std::strtof(digits.c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", static_cast<double>(value));
  std::string wider = text.data();
  if (wider.find_first_of(".e") == std::string::npos) wider += ".0";
  return wider;
}

class Widening {
 public:
  explicit Widening(const Wording& wording) : wording_(wording) {}

  std::variant<DoubleForm, NoDoubleForm> run() {
    // Options first: the source may use what they define.
    std::vector<std::vector<Piece>> of_options;
    for (const auto& option : wording_.options) {
      own_.words.emplace(macro(option));
      own_.aliases.take_macro(macro(option), lex(defined(option)));
      read(defined(option), 0, own_, of_options.emplace_back());
    }
    read(wording_.source, 1, own_, pieces_);
    std::vector<std::vector<Piece>> of_names;
    for (const auto& name : wording_.names) read(name, 0, own_, of_names.emplace_back());
    // Which widths there are decides what memory may be read as.
    for (const auto& piece : pieces_) note_widths(piece.tokens);
    for (const auto& list : of_options) {
      for (const auto& piece : list) note_widths(piece.tokens);
    }
    for (const auto& list : of_names) {
      for (const auto& piece : list) note_widths(piece.tokens);
    }
    DoubleForm form{.shared_factor = widths_.has_half ? 4U : widths_.has_single ? 2U : 1U};
    form.wording.source = rewritten(wording_.source, pieces_);
    for (std::size_t i = 0; i < wording_.options.size(); ++i) {
      const std::string& option = wording_.options[i];
      const string_view value = defined(option);
      form.wording.options.push_back(option.substr(0, option.size() - value.size()) +
                                     rewritten(value, of_options[i]));
    }
    for (std::size_t i = 0; i < wording_.names.size(); ++i) {
      if (wording_.names[i].starts_with("_Z")) {
        refuse(0, wording_.names[i], "a mangled name: call the kernel by its name in the source");
      }
      form.wording.names.push_back(rewritten(wording_.names[i], of_names[i]));
    }
    if (refused_) return std::move(*refused_);
    form.wording.source = definitions() + form.wording.source;
    return form;
  }

 private:
  static string_view macro(string_view option) {
    const string_view text = defined_by(option);
    return text.substr(0, text.find_first_of("=("));
  }
  static string_view defined(string_view option) {
    const string_view text = defined_by(option);
    const auto equals = text.find('=');
    return equals == string_view::npos ? string_view() : text.substr(equals + 1);
  }

  void note_widths(const Tokens& tokens) {
    for (const Token& token : tokens) {
      if (!is_word_token(token) || own_.contains(token.text)) continue;
      const auto type = wider_type(token.text);
      if (!type) continue;
      (type->width == Width::half ? widths_.has_half : widths_.has_single) = true;
    }
  }

  void refuse(std::size_t line, string_view word, std::string reason) {
    const bool is_first = !refused_ || (line != 0 && line < refused_->line);
    if (is_first) refused_ = NoDoubleForm{line, std::string(word.substr(0, 80)), std::move(reason)};
  }

  // The definitions stand before the first line, which stays the first.
  [[nodiscard]] std::string definitions() const {
    std::string text;
    for (const auto& word : defined_) text += std::string(definition_in_double(word)) + "\n";
    return text.empty() ? text : text + "#line 1 \"kernel.cu\"\n";
  }

  void define(string_view word) {
    if (!definition_in_double(word).empty()) defined_.emplace(word);
  }

  std::string rewritten(string_view text, const std::vector<Piece>& pieces) {
    RewrittenText made(text);
    for (const Piece& piece : pieces) {
      if (!piece.trouble.empty()) refuse(piece.line, piece.trouble_word, piece.trouble);
      for (const auto& cast : unsound_casts(piece.tokens, own_, widths_)) {
        refuse(line_of(piece, cast.token), piece.tokens[cast.token].text, cast.reason);
      }
      for (std::size_t i = 0; i < piece.tokens.size(); ++i) one(text, piece, i, made);
    }
    return made.text();
  }

  static std::size_t line_of(const Piece& piece, std::size_t token) {
    return piece.line == 0 ? 0 : piece.line + piece.tokens[token].line - 1;
  }

  void one(string_view text, const Piece& piece, std::size_t i, RewrittenText& made) {
    const Token& token = piece.tokens[i];
    const auto at = static_cast<std::size_t>(token.text.data() - text.data());
    const auto put = [&](std::string wider) {
      made.replace(at, at + token.text.size(), std::move(wider));
    };
    if (token.kind == TokenKind::number) {
      if (auto wider = wider_literal(token.text)) put(std::move(*wider));
      return;
    }
    if (!is_word_token(token)) return;
    if (auto reason = why_not_in_double(token.text); !reason.empty()) {
      // Where `auto` takes its type, too.
      if (is_constant(piece.tokens, i)) return made.insert(at, "(double)");
      refuse(line_of(piece, i), token.text, std::move(reason));
      return;
    }
    const bool is_member = i > 0 && (piece.tokens[i - 1].is(".") || piece.tokens[i - 1].is("->"));
    if (is_member || own_.contains(token.text)) return check_call(piece, i, is_member);
    if (is_narrow_constant(token.text)) {
      // Where `auto` takes its type, too; in brackets, for `sizeof NAN` is no cast.
      put("((double)" + std::string(token.text) + ")");
    } else if (const auto type = wider_type(token.text)) {
      if (const auto begin = begin_of_limits(piece.tokens, i)) {
        const Token& first = piece.tokens[*begin];
        made.insert(static_cast<std::size_t>(first.text.data() - text.data()), "(double)");
      } else {
        put(std::string(type->wider));
      }
    } else if (auto function = wider_function(token.text); !function.empty()) {
      define(function);
      put(std::move(function));
    } else {
      check_call(piece, i, false);
    }
  }

  // __int_as_float(0x7f800000): a number, and it stays that one.
  static bool is_constant(const Tokens& tokens, std::size_t i) {
    const string_view word = tokens[i].text;
    const bool makes_real = word.ends_with("_as_float") || word.ends_with("_as_half") ||
                            word.ends_with("_as_bfloat16") || word.ends_with("_as_double");
    return makes_real && i + 3 < tokens.size() && tokens[i + 1].is("(") &&
           tokens[i + 2].kind == TokenKind::number && tokens[i + 3].is(")");
  }

  // cuda::std::numeric_limits<float>::max() stays that number: it is a constant of the source.
  // Where it begins.
  static std::optional<std::size_t> begin_of_limits(const Tokens& tokens, std::size_t i) {
    const bool is_limits = i >= 2 && tokens[i - 1].is("<") && tokens[i - 2].is("numeric_limits") &&
                           i + 4 < tokens.size() && tokens[i + 1].is(">") &&
                           tokens[i + 2].is("::") && tokens[i + 4].is("(");
    if (!is_limits) return std::nullopt;
    std::size_t begin = i - 2;
    while (begin >= 2 && tokens[begin - 1].is("::") && is_word_token(tokens[begin - 2])) begin -= 2;
    return begin;
  }

  // A function that nobody here knows may compute in fewer bits, or in the bits themselves.
  void check_call(const Piece& piece, std::size_t i, bool is_member) {
    const Tokens& tokens = piece.tokens;
    const Token& token = tokens[i];
    std::size_t open = i + 1;
    if (open < tokens.size() && tokens[open].is("<")) {
      const std::size_t end = std::min(tokens.size(), open + kMostTokensOfATemplate);
      const std::size_t close = closing_angle(tokens, open, end);
      if (close < end) open = close + 1;
    }
    if (open >= tokens.size() || !tokens[open].is("(")) return;
    if (own_.contains(token.text)) return;
    if (!is_member && i > 0 && is_declarator(tokens, i)) return;
    if (widths_.has_single && !is_member) define(token.text);  // an overload for four
    const bool is_static_member = i > 0 && tokens[i - 1].is("::");
    if (is_any_width(token.text)) return;
    if ((is_member || is_static_member) && is_member_of_any_width(token.text)) return;
    refuse(line_of(piece, i), token.text, "a function of which no form in double is known");
  }

  const Wording& wording_;
  OwnWords own_{};
  Widths widths_{};
  std::vector<Piece> pieces_{};
  std::set<std::string, std::less<>> defined_{};
  std::optional<NoDoubleForm> refused_{};
};

}  // namespace

std::string NoDoubleForm::text() const {
  return (line == 0 ? std::string() : "line " + std::to_string(line) + ": ") + "`" + word +
         "`: " + reason;
}

std::variant<DoubleForm, NoDoubleForm> in_double(const Wording& wording) {
  return Widening(wording).run();
}

}  // namespace assay::source
