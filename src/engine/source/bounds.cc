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

// Whether an expression ends here, outside of all parentheses.
bool ends_expression(const Token& token) {
  return token.is(";") || token.is("&&") || token.is("||") || token.is(",") || token.is("?") ||
         token.is("{") || token.is(")");
}

}  // namespace

Bounds::Bounds(const Tokens& tokens, const Kernel& kernel) : tokens_(tokens), kernel_(kernel) {
  for (std::size_t i = kernel.body.begin; i + 1 < kernel.body.end; ++i) {
    if (tokens[i].kind != TokenKind::identifier || variables_.size() > kMaxVariables) continue;
    if (i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"))) continue;
    note_definition(i);
    note_bound(i);
  }
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

// What a name stands for in an expression: a size itself, or a local name of sizes (const int total
// = rows * cols;); "" for anything else.
std::string Bounds::name_in_expression(const Token& token, std::size_t depth) const {
  if (is_size(token.text)) return std::string(token.text);
  const auto local = variables_.find(token.text);
  if (local == variables_.end() || !local->second.value || depth > 4) return {};
  const Range value = *local->second.value;
  if (value.end - value.begin > 12) return {};
  std::string inner;
  for (std::size_t i = value.begin; i < value.end; ++i) {
    const bool is_number = is_integer_literal(tokens_[i]);
    const bool plain = is_number || is_size(tokens_[i].text) ||
                       std::string_view("+-*/()").find(tokens_[i].text) != std::string_view::npos;
    if (!plain) return {};
    inner += is_number ? digits(tokens_[i].text) : std::string(tokens_[i].text);
  }
  return value.end - value.begin == 1 ? inner : "(" + inner + ")";
}

// The longest run of sizes, numbers, + - * / and parentheses; "" if it says anything else.
std::string Bounds::expression_from(std::size_t at) const {
  std::string text;
  std::size_t depth = 0;
  const std::size_t limit = std::min(kernel_.body.end, at + 24);
  for (; at < limit; ++at) {
    const Token& token = tokens_[at];
    if (depth == 0 && ends_expression(token)) return text;
    if (token.is("(")) ++depth;
    if (token.is(")")) --depth;
    std::string piece;
    if (token.kind == TokenKind::identifier) {
      piece = name_in_expression(token, depth);
    } else if (is_integer_literal(token)) {
      piece = digits(token.text);
    } else if (std::string_view("+-*/()").find(token.text) != std::string_view::npos) {
      piece = token.text;
    }
    if (piece.empty()) return {};
    text += piece;
  }
  return {};
}

// A sum of products in the making.
class Bounds::Sum {
 public:
  // The product being made times each term of `by`; false if that is too long.
  [[nodiscard]] bool multiply(const std::vector<Term>& by) {
    const Term left = std::move(terms_.back());
    terms_.pop_back();
    for (const Term& term : by) {
      terms_.push_back(left);
      terms_.back().insert(terms_.back().end(), term.begin(), term.end());
    }
    expects_factor_ = false;
    return terms_.size() <= kMaxTerms;
  }
  void plus() {
    terms_.emplace_back();
    product_start_ = terms_.size() - 1;
    expects_factor_ = true;
  }
  void times() { expects_factor_ = true; }
  // (a + b) * s: the factor belongs to every term of the parenthesis.
  void times_each(const std::string& factor) {
    for (std::size_t k = product_start_; k < terms_.size(); ++k) terms_[k].push_back(factor);
  }
  [[nodiscard]] bool expects_factor() const { return expects_factor_; }
  [[nodiscard]] bool is_one_product() const { return product_start_ + 1 == terms_.size(); }
  [[nodiscard]] std::optional<std::vector<Term>> finish() && {
    if (expects_factor_) return std::nullopt;
    return std::move(terms_);
  }

 private:
  std::vector<Term> terms_{1};
  std::size_t product_start_ = 0;  // index in terms_ of the product being made
  bool expects_factor_ = true;
};

// A sum of products, names of computed variables put in where nothing bounds them.
std::optional<std::vector<Bounds::Term>> Bounds::terms(Range range, int depth) const {
  if (depth > kMaxDepth || range.begin >= range.end || range.end - range.begin > kMaxValueTokens) {
    return std::nullopt;
  }
  Sum sum;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const auto last =
        sum.expects_factor() ? read_factor(i, range, depth, sum) : read_operator(i, range, sum);
    if (!last) return std::nullopt;
    i = *last;
  }
  return std::move(sum).finish();
}

// Both answer with the last token they took; nothing if this is no sum of products.
std::optional<std::size_t> Bounds::read_operator(std::size_t i, Range range, Sum& sum) const {
  if (tokens_[i].is("+")) {
    sum.plus();
    return i;
  }
  if (!tokens_[i].is("*")) return std::nullopt;
  if (sum.is_one_product()) {
    sum.times();
    return i;
  }
  if (i + 1 >= range.end) return std::nullopt;
  const Token& factor = tokens_[i + 1];
  if (is_integer_literal(factor)) {
    sum.times_each(digits(factor.text));
  } else if (is_size(factor.text)) {
    sum.times_each(std::string(factor.text));
  } else {
    return std::nullopt;
  }
  return i + 1;
}

std::optional<std::size_t> Bounds::read_factor(std::size_t i, Range range, int depth,
                                               Sum& sum) const {
  const Token& token = tokens_[i];
  if (token.is("(")) {
    const std::size_t close = closing(tokens_, i, range.end);
    if (close == range.end) return std::nullopt;
    // (size_t)row: a cast says nothing.
    const bool is_cast = close == i + 2 && !is_size(tokens_[i + 1].text) &&
                         !variables_.contains(tokens_[i + 1].text) &&
                         tokens_[i + 1].kind == TokenKind::identifier;
    if (is_cast) return close;
    const auto inner = terms({i + 1, close}, depth + 1);
    return inner && sum.multiply(*inner) ? std::optional(close) : std::nullopt;
  }
  const auto factor = factor_of(token, depth);
  return factor && sum.multiply(*factor) ? std::optional(i) : std::nullopt;
}

std::optional<std::vector<Bounds::Term>> Bounds::factor_of(const Token& token, int depth) const {
  if (is_integer_literal(token)) return std::vector<Term>{{digits(token.text)}};
  if (token.kind != TokenKind::identifier) return std::nullopt;
  const auto variable = variables_.find(token.text);
  const bool is_variable = variable != variables_.end();
  if (is_size(token.text) || (is_variable && !variable->second.bound.empty())) {
    return std::vector<Term>{{std::string(token.text)}};
  }
  if (is_variable && variable->second.value) return terms(*variable->second.value, depth + 1);
  return std::nullopt;
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

// blockIdx.x * blockDim.x + threadIdx.x in any order; the constant in blockDim's place is kept.
std::optional<ThreadIndex> Bounds::thread_index(Range value) const {
  ThreadIndex index;
  for (std::size_t i = value.begin; i + 2 < value.end; ++i) {
    const bool block = tokens_[i].is("blockIdx");
    const bool thread = tokens_[i].is("threadIdx");
    if ((!block && !thread) || !tokens_[i + 1].is(".")) continue;
    const char axis = tokens_[i + 2].text.front();
    if (axis != 'x' && axis != 'y' && axis != 'z') continue;
    if (!index.uses_block) index.axis = axis;
    if (block) index.axis = axis;
    index.uses_block |= block;
    index.uses_thread |= thread;
    if (block && i + 4 < value.end && tokens_[i + 3].is("*") &&
        is_integer_literal(tokens_[i + 4])) {
      index.block_extent = digits(tokens_[i + 4].text);
    }
  }
  if (!index.uses_block && !index.uses_thread) return std::nullopt;
  return index;
}

std::vector<ThreadIndex> Bounds::thread_indexes() const {
  std::vector<ThreadIndex> list;
  for (const std::string& name : order_) {
    const Variable& variable = variables_.at(name);
    if (!variable.value) continue;
    auto index = thread_index(*variable.value);
    if (!index) continue;
    index->bound = variable.bound;
    // for (int i = idx; i < n; …): the loop's variable is bounded for it.
    for (const auto& [other, loop] : variables_) {
      const bool starts_here = index->bound.empty() && loop.value && !loop.bound.empty() &&
                               loop.value->end == loop.value->begin + 1 &&
                               tokens_[loop.value->begin].is(name);
      if (starts_here) index->bound = loop.bound;
    }
    list.push_back(*std::move(index));
  }
  return list;
}

}  // namespace assay::source
