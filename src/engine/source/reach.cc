#include "engine/source/reach.h"

#include <algorithm>

namespace assay::source {
namespace {

constexpr int kMaxDepth = Reach::kMaxDepth;
constexpr std::size_t kMaxVariables = 512;
constexpr std::size_t kMaxGuards = 64;

bool is_assigning(const Token& token) {
  return token.text.size() == 2 && token.text[1] == '=' &&
         std::string_view("+-*/%&|^").find(token.text[0]) != std::string_view::npos;
}

}  // namespace

std::optional<DynamicShared> dynamic_shared(const Tokens& tokens, Range body) {
  for (std::size_t i = 0; i + 4 < tokens.size(); ++i) {
    if (!tokens[i].is("extern") || !tokens[i + 1].is("__shared__")) continue;
    std::size_t open = i + 2;
    while (open < tokens.size() && !tokens[open].is("[") && !tokens[open].is(";")) ++open;
    if (open >= tokens.size() || !tokens[open].is("[")) continue;
    const std::string_view name = tokens[open - 1].text;
    for (std::size_t k = std::max(body.begin, open + 1); k < body.end; ++k) {
      if (!tokens[k].is(name)) continue;
      // __align__(16) and its like stand before the type.
      return DynamicShared{.name = std::string(name), .type = std::string(tokens[open - 2].text)};
    }
  }
  return std::nullopt;
}

Reach::Reach(const Unit& unit, const Kernel& kernel, LaunchExtents launch, Lookup value)
    : tokens_(unit.tokens), kernel_(kernel), launch_(std::move(launch)), value_(std::move(value)) {
  if (kernel.body.begin == 0 || kernel.body.begin >= kernel.body.end) return;
  for (const Parameter& parameter : kernel.signature.parameters) {
    if (parameter.is_pointer()) aliases_[parameter.name] = {.array = parameter.name};
  }
  if (const auto shared = dynamic_shared(tokens_, kernel.body))
    aliases_[shared->name] = {.array = shared->name};
  read_body();
}

std::size_t Reach::end_of_value(std::size_t begin) const {
  std::size_t depth = 0;
  std::size_t end = begin;
  for (; end < kernel_.body.end; ++end) {
    const Token& token = tokens_[end];
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if ((token.is(")") || token.is("]") || token.is("}")) && depth-- == 0) break;
    if (depth == 0 && (token.is(";") || token.is(","))) break;
  }
  return end;
}

void Reach::read_body() {
  for (std::size_t i = 0; i + 3 < tokens_.size(); ++i) {
    const auto number = integer_literal(tokens_[i + 2]);
    const bool defines = tokens_[i].kind == TokenKind::identifier && tokens_[i + 1].is("=") &&
                         number && (tokens_[i + 3].is(";") || tokens_[i + 3].is(","));
    const bool is_outside = i < kernel_.body.begin || i >= kernel_.body.end;
    if (defines && is_outside) constants_.emplace(tokens_[i].text, *number);
  }
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    note_guard(i);
    if (tokens_[i].kind != TokenKind::identifier || variables_.size() > kMaxVariables) continue;
    const Token& before = tokens_[i - 1];
    if (before.is(".") || before.is("->") || before.is("::")) continue;
    note_alias(i);
    note_assignment(i);
  }
}

void Reach::note_assignment(std::size_t at) {
  const Token& next = tokens_[at + 1];
  const Token& before = tokens_[at - 1];
  const std::string name(tokens_[at].text);
  if (aliases_.contains(name)) return;
  if (next.is("=")) {
    variables_[name].definitions.push_back({at + 2, end_of_value(at + 2)});
  } else if (next.is("++") || before.is("++") || next.is("+=") || next.is("*=") || next.is("<<=")) {
    variables_[name].grows = true;
  } else if (is_assigning(next) || next.is("--") || before.is("--") || next.is(">>=")) {
    variables_[name].changes = true;
  }
}

namespace {

// What stands around a comparison.
bool ends_comparison(const Token& token) {
  return token.is(";") || token.is("&&") || token.is("||") || token.is("?") || token.is(":") ||
         token.is(",") || token.is("{") || token.is("}") || token.is("=") || token.is("return");
}

bool is_opening(const Token& token) { return token.is("(") || token.is("["); }
bool is_closing(const Token& token) { return token.is(")") || token.is("]"); }

// Where the operand before the sign at `at` begins, and where the one behind it ends.
Range operands(const Tokens& tokens, std::size_t at, Range body) {
  Range range{at, at + 1};
  for (std::size_t depth = 0; range.begin > body.begin; --range.begin) {
    const Token& token = tokens[range.begin - 1];
    if (is_closing(token)) ++depth;
    if (is_opening(token) && depth-- == 0) break;
    if (depth == 0 && ends_comparison(token)) break;
  }
  for (std::size_t depth = 0; range.end < body.end; ++range.end) {
    const Token& token = tokens[range.end];
    if (is_opening(token)) ++depth;
    if (is_closing(token) && depth-- == 0) break;
    if (depth == 0 && ends_comparison(token)) break;
  }
  return range;
}

}  // namespace

// v < E, v <= E, E > v, and v >= E of an early return; v may be a sum.
void Reach::note_guard(std::size_t at) {
  const Token& sign = tokens_[at];
  const bool is_shift = tokens_[at + 1].is(sign.text) || tokens_[at - 1].is(sign.text);
  const bool is_less = sign.is("<") || sign.is("<=") || sign.is(">=");
  if ((!is_less && !sign.is(">")) || is_shift) return;
  const Range both = operands(tokens_, at, kernel_.body);
  Range sum{both.begin, at};
  Range bound{at + 1, both.end};
  if (sign.is(">")) std::swap(sum, bound);
  const bool is_included = sign.is("<=");
  if (sum.end == sum.begin + 1 && tokens_[sum.begin].kind == TokenKind::identifier) {
    variables_[std::string(tokens_[sum.begin].text)].bounds.emplace_back(bound, is_included);
  } else if (sum.end > sum.begin + 1 && guards_.size() < kMaxGuards) {
    guards_.push_back({sum, bound, is_included});
  }
}

// float* row = x + offset; x += offset; auto* p = &x[offset];
void Reach::note_alias(std::size_t at) {
  const Token& next = tokens_[at + 1];
  const auto known = aliases_.find(tokens_[at].text);
  if (next.is("+=") && known != aliases_.end()) {
    // Twice is more than one offset can say.
    const bool is_first = !known->second.offset;
    known->second.offset = is_first ? Range{at + 2, end_of_value(at + 2)} : Range{at, at};
    return;
  }
  const bool declares = next.is("=") && (tokens_[at - 1].is("*") || tokens_[at - 1].is("auto") ||
                                         tokens_[at - 1].is("__restrict__"));
  if (!declares || known != aliases_.end()) return;
  const Range value{at + 2, end_of_value(at + 2)};
  const bool is_address = tokens_[value.begin].is("&");
  const std::size_t first = value.begin + (is_address ? 1 : 0);
  const auto base = aliases_.find(tokens_[first].text);
  if (base == aliases_.end()) return;
  Alias alias{.array = base->first};
  if (is_address && tokens_[first + 1].is("[")) {
    alias.offset = Range{first + 2, closing(tokens_, first + 1, value.end)};
  } else if (tokens_[first + 1].is("+")) {
    alias.offset = Range{first + 2, value.end};
  } else if (first + 1 != value.end) {
    return;
  }
  aliases_[std::string(tokens_[at].text)] = alias;
}

// From the array's own beginning, through all names between.
std::optional<Interval> Reach::offset_of(std::string_view name, int depth) const {
  const auto alias = aliases_.find(name);
  if (alias == aliases_.end() || depth > kMaxDepth) return std::nullopt;
  Interval own = exactly(0);
  if (alias->second.offset) {
    const auto offset = value_of(*alias->second.offset, depth + 1);
    if (!offset) return std::nullopt;
    own = *offset;
  }
  if (alias->second.array == name) return own;
  const auto base = offset_of(alias->second.array, depth + 1);
  if (!base) return std::nullopt;
  return sum_of(*base, own);
}

namespace {

// atomicAdd(x, …)
bool is_atomic_target(const Tokens& tokens, std::size_t at) {
  return at > 1 && tokens[at + 1].is(",") && tokens[at - 1].is("(") &&
         tokens[at - 2].text.starts_with("atomic");
}

}  // namespace

// Of the name at `at`: x[i] or *(x + i), __ldg(x + i); nothing if it is used otherwise.
std::optional<Interval> Reach::access(std::size_t at) const {
  const auto base = offset_of(tokens_[at].text, 0);
  if (!base) return std::nullopt;
  std::optional<Interval> index;
  if (tokens_[at + 1].is("[")) {
    index = value_of({at + 2, closing(tokens_, at + 1, kernel_.body.end)}, 0);
  } else if (tokens_[at + 1].is("+") && tokens_[at - 1].is("(")) {
    index = value_of({at + 2, closing(tokens_, at - 1, kernel_.body.end)}, 0);
  } else if (tokens_[at - 1].is("*") || is_atomic_target(tokens_, at)) {
    index = exactly(0);  // float* p = … names one, and is none
  }
  if (!index) return std::nullopt;
  return sum_of(*base, *index);
}

// Where a name is given to an array it is not accessed: float* row = x + 4; auto* p = &x[4];
bool Reach::is_naming(std::size_t at) const {
  if (tokens_[at + 1].is("=") && aliases_.contains(tokens_[at].text)) {
    return !tokens_[at - 1].is("*") || tokens_[at - 2].kind == TokenKind::identifier;
  }
  const bool is_address = tokens_[at - 1].is("&");
  const std::size_t equals = is_address ? at - 2 : at - 1;
  if (!tokens_[equals].is("=") || (!is_address && tokens_[at + 1].is("["))) return false;
  return aliases_.contains(tokens_[equals - 1].text);
}

// Where the body uses the array, under any of its names.
std::vector<std::size_t> Reach::accesses(std::string_view array) const {
  std::vector<std::size_t> places;
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    if (tokens_[i].kind != TokenKind::identifier) continue;
    std::string_view root = tokens_[i].text;
    for (int depth = 0; depth < kMaxDepth; ++depth) {
      const auto alias = aliases_.find(root);
      if (alias == aliases_.end() || alias->second.array == root) break;
      root = alias->second.array;
    }
    if (root != array || tokens_[i + 1].is("+=")) continue;
    if (tokens_[i + 1].is("[") && tokens_[i + 2].is("]")) continue;  // its declaration
    if (tokens_[i - 1].is(".") || tokens_[i - 1].is("->")) continue;
    // Where a name is given to the array it is not used.
    if (!is_naming(i)) places.push_back(i);
  }
  return places;
}

std::optional<Interval> Reach::of(std::string_view array) const {
  std::optional<Interval> greatest;
  for (const std::size_t i : accesses(array)) {
    const auto reached = access(i);
    if (!reached) return std::nullopt;
    if (!greatest || reached->high > greatest->high) greatest = reached;
  }
  return greatest;
}

std::optional<Interval> Reach::at_least(std::string_view array) const {
  std::optional<Interval> greatest;
  for (const std::size_t i : accesses(array)) {
    const auto reached = access(i);
    if (reached && (!greatest || reached->high > greatest->high)) greatest = reached;
  }
  return greatest;
}

bool Reach::has_offset(std::string_view array) const {
  return std::any_of(aliases_.begin(), aliases_.end(), [&](const auto& entry) {
    const Alias& alias = entry.second;
    return alias.offset && (alias.array == array || entry.first == array);
  });
}

std::optional<Interval> Reach::constant(std::string_view name) const {
  if (const auto value = value_(name)) return Interval{*value, *value, std::string(name)};
  const auto found = constants_.find(name);
  return found == constants_.end() ? std::nullopt : std::optional(exactly(found->second));
}

// All that it is set to; nothing if one of its values cannot be followed.
std::optional<Interval> Reach::defined(const Variable& variable, int depth) const {
  std::optional<Interval> out;
  for (const Range definition : variable.definitions) {
    const auto value = value_of(definition, depth);
    if (!value) return std::nullopt;
    out = out ? join(*out, *value) : *value;
  }
  return out;
}

// The widest of its guards.
std::optional<Interval> Reach::guarded(const Variable& variable, int depth) const {
  std::optional<Interval> out;
  for (const auto& [range, is_included] : variable.bounds) {
    const auto bound = value_of(range, depth);
    if (!bound || bound->high <= 0) continue;
    const Interval most = is_included ? *bound : below(*bound);
    if (!out || most.high > out->high) out = most;
  }
  return out;
}

std::optional<Interval> Reach::variable(std::string_view name, int depth) const {
  const auto known = known_.find(name);
  if (known != known_.end()) return known->second;
  const auto found = variables_.find(name);
  const bool is_local = found != variables_.end() && !found->second.definitions.empty();
  if (!is_local) return constant(name);
  if (depth > kMaxDepth) return std::nullopt;
  const Variable& variable = found->second;
  known_[std::string(name)] = std::nullopt;  // what is made of itself has no bound of its own
  const auto set = defined(variable, depth + 1);
  const auto guard = guarded(variable, depth + 1);
  std::optional<Interval> out;
  if (!variable.grows) out = set;
  if (guard && (!out || guard->high <= out->high)) out = guard;
  // Guards speak of the greatest; indexes below zero are guarded as well.
  const bool starts_known = set && !variable.changes;
  if (out) out->low = starts_known ? std::max<std::int64_t>(0, std::min(set->low, out->high)) : 0;
  known_[std::string(name)] = out;
  return out;
}

}  // namespace assay::source
