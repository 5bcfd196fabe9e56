#include "engine/source/bounds.h"

#include <algorithm>

namespace assay::source {
namespace {

constexpr int kMaxDepth = 6;
constexpr std::size_t kMaxTerms = 16;
constexpr std::size_t kMaxValueTokens = 64;
constexpr std::size_t kMaxVariables = 256;

bool is_integer_literal(const Token& token) {
  return token.kind == TokenKind::number &&
         token.text.find_first_not_of("0123456789uUlL") == std::string_view::npos;
}

std::string digits(std::string_view text) {
  return std::string(text.substr(0, text.find_first_not_of("0123456789")));
}

bool is_operator(const Token& token) {
  return token.text.size() == 1 &&
         std::string_view("+-*/()").find(token.text) != std::string_view::npos;
}

bool ends_condition(const Token& token) {
  return token.is(";") || token.is("&&") || token.is("||") || token.is(",") || token.is("?") ||
         token.is("{");
}

}  // namespace

Bounds::Bounds(const Tokens& tokens, const Kernel& kernel) : tokens_(tokens), kernel_(kernel) {
  note_constants();
  for (std::size_t i = kernel.body.begin; i + 1 < kernel.body.end; ++i) {
    if (tokens[i].kind != TokenKind::identifier || variables_.size() > kMaxVariables) continue;
    if (i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"))) continue;
    note_definition(i);
    note_bound(i);
  }
  bound_lone_block();
}

// constexpr int kThreads = 128; at any level.
void Bounds::note_constants() {
  bool is_constant = false;
  for (std::size_t i = 0; i + 2 < tokens_.size(); ++i) {
    const Token& token = tokens_[i];
    if (token.is("constexpr") || token.is("const")) is_constant = true;
    if (token.is(";") || token.is("{") || token.is("(") || token.is(")")) is_constant = false;
    const bool defines = is_constant && token.kind == TokenKind::identifier &&
                         tokens_[i + 1].is("=") && is_integer_literal(tokens_[i + 2]);
    if (defines && i + 3 < tokens_.size() && (tokens_[i + 3].is(";") || tokens_[i + 3].is(",")))
      constants_.emplace(token.text, digits(tokens_[i + 2].text));
  }
}

std::string Bounds::constant_at(std::size_t at) const {
  if (at >= kernel_.body.end) return {};
  if (is_integer_literal(tokens_[at])) return digits(tokens_[at].text);
  const auto found = constants_.find(tokens_[at].text);
  if (found != constants_.end()) return found->second;
  // A template's own number is a constant to each of its instances.
  const auto& templates = kernel_.signature.template_parameters;
  const bool is_template_value =
      std::any_of(templates.begin(), templates.end(), [&](const TemplateParameter& parameter) {
        return parameter.name == tokens_[at].text && !parameter.is_type();
      });
  return is_template_value ? std::string(tokens_[at].text) : std::string();
}

bool Bounds::is_size(std::string_view word) const {
  const auto& parameters = kernel_.signature.parameters;
  const auto& templates = kernel_.signature.template_parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) {
                       return parameter.name == word && !parameter.is_pointer();
                     }) ||
         std::any_of(templates.begin(), templates.end(), [&](const TemplateParameter& parameter) {
           return parameter.name == word && !parameter.is_type();
         });
}

// int i = …; and the second of int i = …, j = …;
void Bounds::note_definition(std::size_t at) {
  if (!tokens_[at + 1].is("=") || at == kernel_.body.begin) return;
  const Token& before = tokens_[at - 1];
  const bool declares = before.kind == TokenKind::identifier || before.is(",");
  if (!declares || before.is("return")) return;
  std::size_t end = at + 2;
  std::size_t depth = 0;
  while (end < kernel_.body.end && end < at + kMaxValueTokens) {
    const Token& token = tokens_[end];
    if (token.is("(") || token.is("[")) ++depth;
    if ((token.is(")") || token.is("]")) && depth-- == 0) break;
    if (depth == 0 && (token.is(";") || token.is(","))) break;
    ++end;
  }
  const std::string name(tokens_[at].text);
  if (!variables_.contains(name)) order_.push_back(name);
  Variable& variable = variables_[name];
  if (!variable.value) variable.value = Range{at + 2, end};
}

// i < n, and i >= n of an early return.
void Bounds::note_bound(std::size_t at) {
  const Token& next = tokens_[at + 1];
  if (!next.is("<") && !next.is(">=")) return;
  if (at + 2 < tokens_.size() && next.is("<") && tokens_[at + 2].is("<")) return;
  std::string bound = expression_from(at + 2);
  if (bound.empty() || bound == "0") return;  // i < 0 bounds nothing from above
  const std::string name(tokens_[at].text);
  if (is_size(name)) return;
  Variable& variable = variables_[name];
  if (variable.bound.empty()) variable.bound = std::move(bound);
}

// A local name for a size: const int total = rows * cols; "" if it is not made of sizes alone.
std::string Bounds::local_size(std::string_view name) const {
  const auto local = variables_.find(name);
  if (local == variables_.end() || !local->second.value) return {};
  const Range value = *local->second.value;
  if (value.end - value.begin > 12) return {};
  std::string inner;
  for (std::size_t i = value.begin; i < value.end; ++i) {
    const Token& token = tokens_[i];
    const bool plain = is_integer_literal(token) || is_size(token.text) || is_operator(token);
    if (!plain) return {};
    inner += is_integer_literal(token) ? digits(token.text) : std::string(token.text);
  }
  return value.end - value.begin == 1 ? inner : "(" + inner + ")";
}

// One word of a bound: a size, a number, + - * / and parentheses; "" if it says anything else.
std::string Bounds::bound_word(const Token& token) const {
  if (token.kind == TokenKind::identifier)
    return is_size(token.text) ? std::string(token.text) : local_size(token.text);
  if (is_integer_literal(token)) return digits(token.text);
  return is_operator(token) ? std::string(token.text) : std::string();
}

// The expression that begins here, to the end of its condition; "" if it is none of sizes.
std::string Bounds::expression_from(std::size_t at) const {
  std::string text;
  std::size_t depth = 0;
  const std::size_t limit = std::min(kernel_.body.end, at + 24);
  for (; at < limit; ++at) {
    const Token& token = tokens_[at];
    if (depth == 0 && (token.is(")") || ends_condition(token))) return text;
    if (token.is("(")) ++depth;
    if (token.is(")")) --depth;
    const std::string word = bound_word(token);
    if (word.empty()) return {};
    text += word;
  }
  return {};
}

// A sum of products while it is read.
struct Bounds::Summation {
  std::vector<Term> sum = std::vector<Term>(1);
  std::size_t product_start = 0;  // index in `sum` of the product being made
  bool expects_factor = true;

  // The last product times each of these.
  bool multiply(const std::vector<Term>& by) {
    const Term left = std::move(sum.back());
    sum.pop_back();
    for (const Term& term : by) {
      sum.push_back(left);
      sum.back().insert(sum.back().end(), term.begin(), term.end());
    }
    expects_factor = false;
    return sum.size() <= kMaxTerms;
  }
};

// Names of computed variables are put in where nothing bounds them.
std::optional<std::vector<Bounds::Term>> Bounds::terms(Range range, int depth) const {
  if (depth > kMaxDepth || range.begin >= range.end || range.end - range.begin > kMaxValueTokens) {
    return std::nullopt;
  }
  Summation reading;
  for (std::size_t at = range.begin; at < range.end;) {
    const std::size_t next = reading.expects_factor ? take_factor({at, range.end}, depth, reading)
                                                    : take_operator({at, range.end}, reading);
    if (next == at) return std::nullopt;
    at = next;
  }
  if (reading.expects_factor) return std::nullopt;
  return std::move(reading.sum);
}

// Both give the index behind what they took, or where they stand if it cannot be read.
std::size_t Bounds::take_operator(Range rest, Summation& reading) const {
  const std::size_t at = rest.begin;
  if (tokens_[at].is("+")) {
    reading.sum.emplace_back();
    reading.product_start = reading.sum.size() - 1;
    reading.expects_factor = true;
    return at + 1;
  }
  if (!tokens_[at].is("*")) return at;
  if (reading.product_start + 1 == reading.sum.size()) {
    reading.expects_factor = true;
    return at + 1;
  }
  // (a + b) * s: the factor belongs to every term of the parenthesis.
  if (at + 1 >= rest.end) return at;
  const Token& next = tokens_[at + 1];
  if (!is_size(next.text) && !is_integer_literal(next)) return at;
  const std::string factor = is_integer_literal(next) ? digits(next.text) : std::string(next.text);
  for (std::size_t k = reading.product_start; k < reading.sum.size(); ++k)
    reading.sum[k].push_back(factor);
  return at + 2;
}

std::size_t Bounds::take_factor(Range rest, int depth, Summation& reading) const {
  const std::size_t at = rest.begin;
  const Token& token = tokens_[at];
  if (token.is("(")) {
    const std::size_t close = closing(tokens_, at, rest.end);
    if (close == rest.end) return at;
    // (size_t)row: a cast says nothing.
    const Token& word = tokens_[at + 1];
    const bool is_type = close == at + 2 && !is_size(word.text) &&
                         !variables_.contains(word.text) && word.kind == TokenKind::identifier;
    if (is_type) return close + 1;
    const auto inner = terms({at + 1, close}, depth + 1);
    return inner && reading.multiply(*inner) ? close + 1 : at;
  }
  if (is_integer_literal(token)) return reading.multiply({{digits(token.text)}}) ? at + 1 : at;
  const bool is_lone_block = token.is("blockIdx") && variables_.contains(kLoneBlock) &&
                             at + 2 < rest.end && tokens_[at + 2].is("x");
  if (is_lone_block) return reading.multiply({{std::string(kLoneBlock)}}) ? at + 3 : at;
  const auto named = named_terms(token, depth);
  return named && reading.multiply(*named) ? at + 1 : at;
}

std::optional<std::vector<Bounds::Term>> Bounds::named_terms(const Token& token, int depth) const {
  if (token.kind != TokenKind::identifier) return std::nullopt;
  const std::vector<Term> itself{{std::string(token.text)}};
  if (is_size(token.text)) return itself;
  const auto variable = variables_.find(token.text);
  if (variable == variables_.end()) return std::nullopt;
  if (!variable->second.bound.empty()) return itself;
  if (!variable->second.value) return std::nullopt;
  return terms(*variable->second.value, depth + 1);
}

std::optional<std::string> Bounds::extent_of(std::string_view variable) const {
  const auto found = variables_.find(variable);
  if (found == variables_.end() || found->second.bound.empty()) return std::nullopt;
  return found->second.bound;
}

std::vector<std::string> Bounds::shape(Range index) const {
  const auto sum = terms(index, 0);
  if (!sum) return {};
  // Row-major: each term is one running variable times the extents behind it. Sorted by how many
  // factors they have, each must be the one before times one extent.
  struct Axis {
    std::string extent{};
    Term strides{};
  };
  const bool is_constant = index.end == index.begin + 1 &&
                           is_integer_literal(tokens_[index.begin]) &&
                           tokens_[index.begin].text.size() < 9;
  if (is_constant) return {std::to_string(std::stoul(digits(tokens_[index.begin].text)) + 1)};
  std::vector<Axis> axes;
  for (const Term& term : *sum) {
    Axis axis;
    for (const std::string& factor : term) {
      const auto extent = extent_of(factor);
      if (extent && axis.extent.empty()) {
        axis.extent = *extent;
      } else if (extent) {
        return {};
      } else {
        axis.strides.push_back(factor);
      }
    }
    if (axis.extent.empty()) return {};
    std::sort(axis.strides.begin(), axis.strides.end());
    axes.push_back(std::move(axis));
  }
  std::sort(axes.begin(), axes.end(),
            [](const Axis& a, const Axis& b) { return a.strides.size() > b.strides.size(); });
  std::vector<std::string> shape;
  Term behind;
  for (std::size_t k = axes.size(); k-- > 0;) {
    // Strides may say the extent of an inner axis by another name than its bound: then the stride
    // is the array's true extent.
    if (k + 1 < axes.size()) {
      if (axes[k].strides.size() != behind.size() + 1) return {};
      Term extra;
      std::set_difference(axes[k].strides.begin(), axes[k].strides.end(), behind.begin(),
                          behind.end(), std::back_inserter(extra));
      if (extra.size() != 1) return {};
      shape.front() = extra.front();
      behind = axes[k].strides;
    } else if (!axes[k].strides.empty()) {
      return {};
    }
    shape.insert(shape.begin(), axes[k].extent);
  }
  return shape;
}

}  // namespace assay::source
