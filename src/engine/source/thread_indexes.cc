#include <algorithm>
#include <set>

#include "engine/source/bounds.h"

namespace assay::source {
namespace {

constexpr int kMaxThreads = 1024;

bool is_integer_type(std::string_view type) {
  static constexpr std::string_view kTypes[] = {
      "int",      "unsigned int", "long",    "long long", "unsigned long", "unsigned long long",
      "unsigned", "size_t",       "int32_t", "int64_t",   "uint32_t",      "uint64_t",
      "short"};
  return std::find(std::begin(kTypes), std::end(kTypes), type) != std::end(kTypes);
}

bool is_thread_count(const std::string& text) {
  return !text.empty() && text.size() < 5 &&
         text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) > 0 &&
         std::stoi(text) <= kMaxThreads;
}

bool is_axis(std::string_view text) { return text == "x" || text == "y" || text == "z"; }

}  // namespace

// The first integer scalar that is neither what blockIdx.x is multiplied by nor a bound of
// something within the row.
std::string Bounds::rows_of_lone_block() const {
  std::set<std::string, std::less<>> inner;
  for (const auto& [name, variable] : variables_) inner.insert(variable.bound);
  for (std::size_t i = kernel_.body.begin; i + 4 < kernel_.body.end; ++i) {
    const auto variable = variables_.find(tokens_[i].text);
    const bool is_block = tokens_[i].is("blockIdx") && tokens_[i + 2].is("x");
    const bool is_row = variable != variables_.end() && variable->second.value &&
                        tokens_[variable->second.value->begin].is("blockIdx");
    const std::size_t next = is_block ? i + 3 : i + 1;
    if ((is_block || is_row) && tokens_[next].is("*")) {
      inner.insert(std::string(tokens_[next + 1].text));
      inner.insert(local_size(tokens_[next + 1].text));
    }
  }
  // A row's length may be told by half of it: columns / 2.
  for (const std::string& text : std::set<std::string, std::less<>>(inner)) {
    for (const Token& token : lex(text)) inner.insert(std::string(token.text));
  }
  for (const Parameter& parameter : kernel_.signature.parameters) {
    if (!parameter.is_pointer() && is_integer_type(parameter.type) &&
        !inner.contains(parameter.name))
      return parameter.name;
  }
  return {};
}

// blockIdx.x * blockDim.x, or a constant in blockDim's place, on either side.
bool Bounds::is_spread_block(std::size_t at) const {
  const bool is_before =
      tokens_[at + 3].is("*") && (tokens_[at + 4].is("blockDim") || !constant_at(at + 4).empty());
  const bool is_behind = at >= kernel_.body.begin + 4 && tokens_[at - 1].is("*") &&
                         (tokens_[at - 4].is("blockDim") || !constant_at(at - 2).empty());
  return is_before || is_behind;
}

std::set<char> Bounds::lone_blocks() const {
  std::set<char> named;
  std::set<char> spread;
  for (std::size_t i = kernel_.body.begin; i + 4 < kernel_.body.end; ++i) {
    if (!tokens_[i].is("blockIdx") || !is_axis(tokens_[i + 2].text)) continue;
    named.insert(tokens_[i + 2].text.front());
    if (is_spread_block(i)) spread.insert(tokens_[i + 2].text.front());
  }
  for (const char axis : spread) named.erase(axis);
  return named;
}

void Bounds::add_sizes(Range range, int depth, std::set<std::string>& sizes) const {
  for (std::size_t i = range.begin; i < range.end && depth < 4; ++i) {
    if (tokens_[i].kind != TokenKind::identifier) continue;
    if (is_size(tokens_[i].text)) {
      sizes.insert(std::string(tokens_[i].text));
    } else if (const auto local = variables_.find(tokens_[i].text);
               local != variables_.end() && local->second.value) {
      add_sizes(*local->second.value, depth + 1, sizes);
      // j <= i, where i < n
      for (const Token& token : lex(local->second.bound)) {
        if (is_size(token.text)) sizes.insert(std::string(token.text));
      }
    }
  }
}

std::set<std::string> Bounds::loop_sizes() const {
  std::set<std::string> sizes;
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    if (!tokens_[i].is("for") || !tokens_[i + 1].is("(")) continue;
    const std::size_t close = closing(tokens_, i + 1, kernel_.body.end);
    std::size_t first = i + 1;
    while (first < close && !tokens_[first].is(";")) ++first;
    std::size_t second = first + 1;
    while (second < close && !tokens_[second].is(";")) ++second;
    if (second < close) add_sizes({first, second}, 0, sizes);
  }
  return sizes;
}

void Bounds::bound_lone_block() {
  if (!lone_blocks().contains('x')) return;
  if (auto rows = rows_of_lone_block(); !rows.empty())
    variables_[std::string(kLoneBlock)].bound = std::move(rows);
}

char Bounds::thread_axis(Range value) const {
  const std::size_t size = value.end - value.begin;
  if (size == 3 && tokens_[value.begin].is("threadIdx") && is_axis(tokens_[value.begin + 2].text))
    return tokens_[value.begin + 2].text.front();
  if (size != 1) return '\0';
  const auto variable = variables_.find(tokens_[value.begin].text);
  if (variable == variables_.end() || !variable->second.value) return '\0';
  const Range inner = *variable->second.value;
  return inner.end - inner.begin == 3 ? thread_axis(inner) : '\0';
}

// What a name stands for: a coordinate, or a block's first element; more than that is another
// index.
std::optional<ThreadIndex> Bounds::named_part(std::size_t at) const {
  const auto variable = variables_.find(tokens_[at].text);
  if (variable == variables_.end() || !variable->second.value) return std::nullopt;
  const Range inner = *variable->second.value;
  const std::size_t size = inner.end - inner.begin;
  const bool is_part = (size == 3 && tokens_[inner.begin].is("threadIdx")) ||
                       (size == 5 && tokens_[inner.begin].is("blockIdx"));
  return is_part ? thread_index(inner, 1) : std::nullopt;
}

std::optional<ThreadIndex> Bounds::coordinate(std::size_t at, Range value) const {
  const bool block = tokens_[at].is("blockIdx");
  const bool thread = tokens_[at].is("threadIdx");
  if ((!block && !thread) || at + 2 >= value.end || !is_axis(tokens_[at + 2].text))
    return std::nullopt;
  ThreadIndex index{.axis = tokens_[at + 2].text.front(),
                    .uses_block = block,
                    .uses_thread = thread,
                    .thread_axis = tokens_[at + 2].text.front()};
  const bool is_spread = block && at + 4 < value.end && tokens_[at + 3].is("*");
  if (is_spread && !constant_at(at + 4).empty()) index.block_extent = constant_at(at + 4);
  return index;
}

// blockIdx.x * blockDim.x + threadIdx.x in any order, its parts perhaps with names of their own;
// the constant in blockDim's place is kept.
std::optional<ThreadIndex> Bounds::thread_index(Range value, int depth) const {
  ThreadIndex index;
  for (std::size_t i = value.begin; i < value.end; ++i) {
    auto part = depth == 0 ? named_part(i) : std::nullopt;
    if (!part) part = coordinate(i, value);
    if (!part) continue;
    if (part->uses_block || !index.uses_block) index.axis = part->axis;
    index.uses_block |= part->uses_block;
    index.uses_thread |= part->uses_thread;
    if (part->uses_thread) index.thread_axis = part->thread_axis;
    if (part->block_extent) index.block_extent = part->block_extent;
  }
  if (!index.uses_block && !index.uses_thread) return std::nullopt;
  return index;
}

// __shared__ float s[128] that is indexed by [t], [2 * t] or, an element per warp, [t / 32].
std::optional<ThreadIndex> Bounds::shared_index(std::size_t at) const {
  if (!tokens_[at].is("__shared__") || (at > 0 && tokens_[at - 1].is("extern")))
    return std::nullopt;
  std::size_t open = at;
  while (open < kernel_.body.end && !tokens_[open].is("[") && !tokens_[open].is(";")) ++open;
  const std::string extent = constant_at(open + 1);
  const bool is_row = !extent.empty() && open + 3 < kernel_.body.end && tokens_[open].is("[") &&
                      tokens_[open + 2].is("]") && !tokens_[open + 3].is("[");
  if (!is_row || !is_thread_count(extent)) return std::nullopt;
  const std::string_view name = tokens_[open - 1].text;
  for (std::size_t i = open + 3; i + 3 < kernel_.body.end; ++i) {
    if (!tokens_[i].is(name) || !tokens_[i + 1].is("[")) continue;
    const Range index{i + 2, closing(tokens_, i + 1, kernel_.body.end)};
    const std::size_t size = index.end - index.begin;
    int threads = thread_axis(index) == 'x' ? std::stoi(extent) : 0;
    if (size > 2 && tokens_[index.begin].is("2") && tokens_[index.begin + 1].is("*") &&
        thread_axis({index.begin + 2, index.end}) == 'x')
      threads = std::stoi(extent) / 2;
    const bool is_divided = size > 2 && tokens_[index.end - 2].is("/") &&
                            tokens_[index.end - 1].is("32") &&
                            thread_axis({index.begin, index.end - 2}) == 'x';
    const bool is_shifted = size > 3 && tokens_[index.end - 3].is(">") &&
                            tokens_[index.end - 2].is(">") && tokens_[index.end - 1].is("5") &&
                            thread_axis({index.begin, index.end - 3}) == 'x';
    if (is_divided || is_shifted) threads = 32 * std::stoi(extent);
    if (threads > 0 && threads <= kMaxThreads)
      return ThreadIndex{.uses_thread = true, .block_extent = std::to_string(threads)};
  }
  return std::nullopt;
}

// y[blockIdx.x * 16 + threadIdx.x] = …: sixteen threads to a row, or two blocks write one element.
std::optional<ThreadIndex> Bounds::row_written(std::size_t at) const {
  if (!tokens_[at].is("[") || !tokens_[at + 1].is("blockIdx") || !tokens_[at + 4].is("*"))
    return std::nullopt;
  const std::size_t close = closing(tokens_, at, kernel_.body.end);
  const std::string extent = constant_at(at + 5);
  const bool is_row = close + 1 < kernel_.body.end && at + 7 < close && tokens_[at + 6].is("+") &&
                      is_thread_count(extent) && tokens_[close + 1].is("=") &&
                      tokens_[at + 3].is("x") && thread_axis({at + 7, close}) == 'x';
  if (!is_row) return std::nullopt;
  return ThreadIndex{.uses_thread = true, .block_extent = extent};
}

bool Bounds::is_stepped(std::string_view name) const {
  for (std::size_t i = kernel_.body.begin; i + 1 < kernel_.body.end; ++i) {
    if (tokens_[i].is(name) && tokens_[i + 1].is("+=")) return true;
  }
  return false;
}

// blockIdx.x * heads + blockIdx.y: there are `heads` of the inner.
std::map<char, std::string> Bounds::counted_blocks() const {
  std::map<char, std::string> counts;
  for (std::size_t i = kernel_.body.begin + 2; i + 4 < kernel_.body.end; ++i) {
    const bool is_inner = tokens_[i].is("blockIdx") && is_axis(tokens_[i + 2].text) &&
                          tokens_[i - 1].is("+") && is_size(tokens_[i - 2].text) &&
                          tokens_[i - 3].is("*");
    if (is_inner) counts.emplace(tokens_[i + 2].text.front(), tokens_[i - 2].text);
  }
  return counts;
}

// A loop that starts at a thread and steps by a number: i += 128.
std::optional<ThreadIndex> Bounds::stepped_index(std::size_t at) const {
  const auto variable = variables_.find(tokens_[at].text);
  const bool steps = tokens_[at + 1].is("+=") && is_thread_count(constant_at(at + 2)) &&
                     variable != variables_.end() && variable->second.value;
  const char axis = steps ? thread_axis(*variable->second.value) : '\0';
  if (axis == '\0') return std::nullopt;
  return ThreadIndex{
      .axis = axis, .uses_thread = true, .thread_axis = axis, .block_extent = constant_at(at + 2)};
}

std::vector<ThreadIndex> Bounds::thread_indexes() const {
  std::vector<ThreadIndex> list;
  const auto lone = variables_.find(kLoneBlock);
  const std::string rows = lone == variables_.end() ? "" : lone->second.bound;
  for (const std::string& name : order_) {
    const Variable& variable = variables_.at(name);
    if (!variable.value) continue;
    auto index = thread_index(*variable.value);
    if (!index) continue;
    index->bound = variable.bound;
    index->is_stepped = is_stepped(name);
    // for (int i = idx; i < n; …): the loop's variable is bounded for it.
    for (const auto& [other, loop] : variables_) {
      const bool starts_here = index->bound.empty() && loop.value && !loop.bound.empty() &&
                               loop.value->end == loop.value->begin + 1 &&
                               tokens_[loop.value->begin].is(name);
      if (starts_here) index->bound = loop.bound;
    }
    if (index->uses_block && index->axis == 'x' && !rows.empty()) {
      index->bound = rows;
      index->uses_thread = false;
    }
    list.push_back(*std::move(index));
  }
  if (!rows.empty()) list.push_back({.uses_block = true, .bound = rows});
  for (std::size_t i = kernel_.body.begin; i + 2 < kernel_.body.end; ++i) {
    if (auto index = shared_index(i)) list.push_back(*std::move(index));
    if (auto index = row_written(i)) list.push_back(*std::move(index));
    if (auto index = stepped_index(i)) list.push_back(*std::move(index));
  }
  return list;
}

}  // namespace assay::source
