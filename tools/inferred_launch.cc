#include "tools/inferred_launch.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/contract/dtype.h"
#include "engine/contract/expression.h"

namespace assay::tools {
namespace {

using nlohmann::json;
using source::Launch;
using source::Signature;
using source::Token;
using source::TokenKind;
using source::Tokens;

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxText = 200;  // of one resolved expression; contracts allow 256

std::optional<std::int64_t> value_of(const std::string& text, const KnownSizes& known) {
  return size_value(text, known);
}

// Host expressions in the kernel's own names.
class HostNames {
 public:
  HostNames(const Launch& launch, const Signature& signature, const KnownSizes& known)
      : launch_(launch), known_(known) {
    const std::size_t count = std::min(launch.arguments.size(), signature.parameters.size());
    for (std::size_t i = 0; i < count; ++i) {
      const auto& parameter = signature.parameters[i];
      const bool is_named =
          !launch.arguments[i].empty() && source::is_word_start(launch.arguments[i][0]);
      if (is_named && !parameter.is_pointer() && known.contains(parameter.name)) {
        parameters_.emplace(launch.arguments[i], parameter.name);
      }
    }
  }

  // Nothing if a part has no meaning here.
  [[nodiscard]] std::optional<std::string> resolve(const std::string& text, int depth = 0) const {
    if (depth > kMaxDepth || text.size() > kMaxText) return std::nullopt;
    if (const auto whole = parameters_.find(text); whole != parameters_.end()) return whole->second;
    const Tokens tokens = source::lex(text);
    std::string out;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const Token& token = tokens[i];
      if (token.kind == TokenKind::number) {
        const auto digits = token.text.substr(0, token.text.find_first_not_of("0123456789"));
        if (digits.empty() || token.text.find('.') != std::string_view::npos) return std::nullopt;
        out += digits;
      } else if (token.kind == TokenKind::identifier) {
        const auto named = resolve_name(tokens, i, depth);
        if (!named) return std::nullopt;
        out += *named;
      } else if (std::string_view("+-*/%(),").find(token.text) != std::string_view::npos) {
        out += token.text;
      } else {
        return std::nullopt;
      }
      if (out.size() > kMaxText) return std::nullopt;
    }
    return out;
  }

  // "dim3(a, b)" or one expression, as up to three; nothing if it does not come to positive
  // numbers.
  [[nodiscard]] std::optional<json> dim(std::string text) const {
    for (int depth = 0; depth < kMaxDepth && launch_.values.contains(text); ++depth) {
      text = launch_.values.find(text)->second;
    }
    const Tokens tokens = source::lex(text);
    json list = json::array();
    const bool is_dim3 = tokens.size() > 3 && tokens[0].is("dim3");
    const std::size_t begin = is_dim3 ? 2 : 0;
    const std::size_t end = is_dim3 ? tokens.size() - 1 : tokens.size();
    for (const auto part : source::split_at_commas(tokens, begin, end)) {
      const auto extent = resolve(source::spelled(tokens, part.begin, part.end));
      if (!extent || value_of(*extent, known_).value_or(0) <= 0) return std::nullopt;
      list.push_back(*extent);
    }
    if (list.empty() || list.size() > 3) return std::nullopt;
    while (list.size() < 3) list.push_back("1");
    return list;
  }

 private:
  static bool divides_up(std::string_view word) {
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
    for (const std::string_view name : {"cdiv", "ceildiv", "ceil_div", "div_up", "divup",
                                        "div_ceil", "divceil", "div_round_up", "iceil"}) {
      if (lower == name) return true;
    }
    return false;
  }

  [[nodiscard]] std::optional<std::string> resolve_name(const Tokens& tokens, std::size_t& at,
                                                        int depth) const {
    const std::string name(tokens[at].text);
    const bool called = at + 1 < tokens.size() && tokens[at + 1].is("(");
    if (called && divides_up(name)) return "ceildiv";
    if (called && name == "sizeof" && at + 3 < tokens.size() && tokens[at + 3].is(")")) {
      const auto type = contract::parse_c_type(tokens[at + 2].text);
      if (!type) return std::nullopt;
      at += 3;
      return std::to_string(contract::size_bytes(*type));
    }
    if (const auto parameter = parameters_.find(name); parameter != parameters_.end()) {
      return parameter->second;
    }
    const auto value = launch_.values.find(name);
    if (value == launch_.values.end() || called) {
      return !called && known_.contains(name) ? std::optional(name) : std::nullopt;
    }
    const auto inner = resolve(value->second, depth + 1);
    if (!inner) return std::nullopt;
    return source::lex(*inner).size() > 1 ? "(" + *inner + ")" : *inner;
  }

  const Launch& launch_;
  const KnownSizes known_;
  std::map<std::string, std::string, std::less<>> parameters_{};
};

constexpr std::string_view kAxes = "xyz";
// Where nothing says how many blocks there are, along each axis.
constexpr std::array<const char*, 3> kLoneBlocks{"64", "8", "4"};

bool uses(const source::Usage& usage, const char* coordinate) {
  return usage.coordinates.contains(coordinate);
}

// A tile may be larger than the block that works on it: rows are taken off until it fits.
void within_launch_bounds(const Signature& signature, const KnownSizes& known,
                          std::vector<std::string>& block) {
  const std::int64_t most = signature.launch_bounds.empty()
                                ? 1024
                                : value_of(signature.launch_bounds[0], known).value_or(1024);
  std::array<std::int64_t, 3> extents{};
  for (std::size_t i = 0; i < 3; ++i) extents[i] = value_of(block[i], known).value_or(0);
  const std::int64_t threads = extents[0] * extents[1] * extents[2];
  if (most <= 0 || threads <= most) return;
  for (std::size_t i = 3; i-- > 0;) {
    const std::int64_t others =
        extents[i] == 0 ? 0 : extents[0] * extents[1] * extents[2] / extents[i];
    if (others == 0) return;
    extents[i] = std::max<std::int64_t>(1, std::min(extents[i], most / others));
    block[i] = std::to_string(extents[i]);
  }
}

// A size that the body never names can only be what a grid counts; "" if there is none left.
std::string unused_size(const source::Usage& usage, const Signature& signature,
                        const std::vector<std::string>& grid,
                        const std::vector<std::string>& dimensions) {
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const std::string& name = signature.parameters[i].name;
    const bool is_free =
        !usage.parameters[i].is_read &&
        std::find(dimensions.begin(), dimensions.end(), name) != dimensions.end() &&
        std::find(grid.begin(), grid.end(), name) == grid.end();
    if (is_free) return name;
  }
  return {};
}

std::vector<std::string> block_of(const source::Usage& usage, const Signature& signature,
                                  const KnownSizes& known) {
  const bool is_flat = !uses(usage, "threadIdx.y") && !uses(usage, "threadIdx.z");
  std::vector<std::string> block = is_flat ? std::vector<std::string>{"256", "1", "1"}
                                           : std::vector<std::string>{"16", "16", "1"};
  if (uses(usage, "threadIdx.z")) block = {"8", "8", "4"};
  const bool has_threads = !is_flat || uses(usage, "threadIdx.x");
  if (!has_threads && !uses(usage, "blockDim.x")) block = {"1", "1", "1"};
  if (is_flat && has_threads && !signature.launch_bounds.empty() &&
      value_of(signature.launch_bounds[0], known).value_or(0) > 0) {
    block[0] = signature.launch_bounds[0];
  }
  for (const auto& index : usage.indexes) {
    if (index.block_extent && index.uses_thread)
      block[kAxes.find(index.thread_axis)] = *index.block_extent;
  }
  within_launch_bounds(signature, known, block);
  return block;
}

// How many blocks an index takes along its axis; "" if it does not say.
std::string blocks_for(const source::ThreadIndex& index, const source::Usage& usage,
                       const std::string& total, const std::vector<std::string>& dimensions,
                       const std::string& block_extent) {
  // Tiles: y counts those along the rows, x those along the columns.
  const std::size_t along = index.axis == 'x' ? 1 : 0;
  const bool is_tile = index.bound.empty() && index.block_extent && index.axis != 'z' &&
                       uses(usage, "blockIdx.y") && along < dimensions.size();
  if (is_tile) return "ceildiv(" + dimensions[along] + ", " + *index.block_extent + ")";
  const std::string bound = index.bound.empty() && index.axis == 'x' ? total : index.bound;
  if (bound.empty() || !index.uses_thread || block_extent == "1") return bound;
  return "ceildiv(" + bound + ", " + block_extent + ")";
}

}  // namespace

std::optional<std::int64_t> size_value(const std::string& text, const KnownSizes& known) {
  const auto result =
      contract::evaluate(text, [&](std::string_view name) -> contract::ExpressionResult {
        const auto found = known.find(name);
        if (found == known.end()) return contract::ExpressionError{"unknown"};
        return found->second;
      });
  const auto* value = std::get_if<std::int64_t>(&result);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

std::optional<json> launch_from_host(const Launch& launch, const Signature& signature,
                                     const KnownSizes& known) {
  const HostNames names(launch, signature, known);
  auto grid = names.dim(launch.grid);
  auto block = names.dim(launch.block);
  if (!grid || !block) return std::nullopt;
  json out = {{"grid", std::move(*grid)}, {"block", std::move(*block)}};
  if (!launch.shared_bytes.empty() && launch.shared_bytes != "0") {
    const auto bytes = names.resolve(launch.shared_bytes);
    if (!bytes || !value_of(*bytes, known)) return std::nullopt;
    out["shared_mem_bytes"] = *bytes;
  }
  return out;
}

std::optional<std::int64_t> constant_argument(const Launch& launch, std::size_t index) {
  if (index >= launch.arguments.size()) return std::nullopt;
  const auto resolved = HostNames(launch, {}, {}).resolve(launch.arguments[index]);
  return resolved ? value_of(*resolved, {}) : std::nullopt;
}

std::optional<double> constant_real(const Launch& launch, std::size_t index) {
  if (index >= launch.arguments.size()) return std::nullopt;
  std::string text = launch.arguments[index];
  for (int depth = 0; depth < kMaxDepth && launch.values.contains(text); ++depth) {
    text = launch.values.find(text)->second;
  }
  const Tokens tokens = source::lex(text);
  const bool is_negative = tokens.size() == 2 && tokens[0].is("-");
  if (tokens.size() != (is_negative ? 2 : 1) || tokens.back().kind != TokenKind::number) {
    return std::nullopt;
  }
  std::string_view digits = tokens.back().text;
  if (digits.ends_with('f') || digits.ends_with('F')) digits.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return is_negative ? -value : value;
}

json launch_from_body(const source::Usage& usage, const Signature& signature,
                      const std::string& total, const std::vector<std::string>& dimensions,
                      const KnownSizes& known, std::vector<std::string>& assumptions) {
  const std::vector<std::string> block = block_of(usage, signature, known);
  std::vector<std::string> grid{"1", "1", "1"};
  std::vector<bool> decided(3, false);
  for (const auto& index : usage.indexes) {
    const std::size_t axis = kAxes.find(index.axis);
    if (!index.uses_block || decided[axis]) continue;
    const std::string& threads = block[kAxes.find(index.thread_axis)];
    const std::string blocks = blocks_for(index, usage, total, dimensions, threads);
    if (blocks.empty() || value_of(blocks, known).value_or(0) <= 0) continue;
    grid[axis] = blocks;
    decided[axis] = true;
  }
  for (const char axis : usage.lone_blocks) {
    const std::size_t i = kAxes.find(axis);
    if (decided[i]) continue;
    const auto counted = usage.counted_blocks.find(axis);
    const std::string rows = counted != usage.counted_blocks.end()
                                 ? counted->second
                                 : unused_size(usage, signature, grid, dimensions);
    if (!rows.empty() && value_of(rows, known).value_or(0) > 0) {
      grid[i] = rows;
      decided[i] = true;
      assumptions.push_back(std::string("grid.") + axis + " = " + rows);
      continue;
    }
    grid[i] = kLoneBlocks[i];
    decided[i] = true;
    assumptions.push_back(std::string("grid.") + axis + " = " + grid[i] +
                          ": nothing in the kernel bounds blockIdx." + axis +
                          ", so how many blocks it is meant for cannot be inferred");
  }
  const bool covers = uses(usage, "blockIdx.x") && !decided[0];
  if (covers) grid[0] = "ceildiv(" + total + ", " + block[0] + ")";
  return {{"grid", grid}, {"block", block}};
}

}  // namespace assay::tools
