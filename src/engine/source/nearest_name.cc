#include "engine/source/nearest_name.h"

#include <algorithm>
#include <utility>

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

// How many letters must go, come or change.
std::size_t changes(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
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
    std::size_t distance = changes(meant, name);
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
