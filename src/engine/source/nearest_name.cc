#include "engine/source/nearest_name.h"

#include <algorithm>

#include "spelling/edits.h"

namespace assay::source {
namespace {

constexpr std::size_t kMostBytes = 100;
constexpr std::size_t kMostNames = 1000;
constexpr std::size_t kLongEnough = 4;  // to be meant by a part of it

// "scale" of "Scale<float>".
std::string compared(std::string_view name) {
  std::string out(name.substr(0, name.find('<')));
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& names) {
  if (wanted.empty() || wanted.size() > kMostBytes) return {};
  const std::string meant = compared(wanted);
  const std::string* best = nullptr;
  std::size_t least = (meant.size() + 2) / 3 + 1;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
    if (names[i].empty() || names[i].size() > kMostBytes) continue;
    const std::string name = compared(names[i]);
    std::size_t distance = spelling::edits(meant, name);
    const bool is_part = std::min(meant.size(), name.size()) >= kLongEnough &&
                         (name.find(meant) != name.npos || meant.find(name) != meant.npos);
    // Shortened or lengthened: "scale" for "scale_kernel".
    if (is_part) distance = std::min<std::size_t>(distance, 2);
    if (distance >= least) continue;
    least = distance;
    best = &names[i];
  }
  return best != nullptr ? "; nearest: " + *best : "";
}

}  // namespace assay::source
