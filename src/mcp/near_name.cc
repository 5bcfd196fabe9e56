#include "mcp/near_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <limits>

#include "spelling/edits.h"

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

}  // namespace

std::size_t name_distance(std::string_view one, std::string_view other) {
  if (one.size() > kLongestName || other.size() > kLongestName) {
    return std::numeric_limits<std::size_t>::max();
  }
  return spelling::edits(folded(one), folded(other));
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
    const std::size_t edits = spelling::edits(wanted, letters);
    if (edits <= allowed && edits < least) {
      least = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace assay::mcp
