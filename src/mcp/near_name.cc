#include "mcp/near_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>

namespace assay::mcp {
namespace {

constexpr std::size_t kLongestName = 64;

// block-dim, blockDim and block_dim are one name.
std::string folded(std::string_view name) {
  std::string letters;
  for (const char c : name)
    if (c != '_' && c != '-' && c != ' ')
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

// Edits (insert, delete, replace, exchange of neighbours) from one word to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  for (std::size_t j = 0; j < width; ++j) table[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    table[i * width] = i;
    for (std::size_t j = 1; j < width; ++j) {
      std::size_t best = table[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      best = std::min({best, table[(i - 1) * width + j] + 1, table[i * width + j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        best = std::min(best, table[(i - 2) * width + j - 2] + 1);
      table[i * width + j] = best;
    }
  }
  return table.back();
}

}  // namespace

std::size_t name_distance(std::string_view one, std::string_view other) {
  if (one.size() > kLongestName || other.size() > kLongestName) {
    return std::numeric_limits<std::size_t>::max();
  }
  return distance(folded(one), folded(other));
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  if (name.empty() || name.size() > kLongestName) return {};
  const std::string wanted = folded(name);
  std::string nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongestName) continue;
    const std::string letters = folded(candidate);
    const std::size_t allowed =
        std::max<std::size_t>(1, std::min(wanted.size(), letters.size()) / 3);
    const std::size_t edits = distance(wanted, letters);
    if (edits <= allowed && edits < least) {
      least = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace assay::mcp
