#include "plans/optest/problem.h"

#include <algorithm>
#include <cctype>

namespace assay::optest {
namespace {

char lower(char letter) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

// Levenshtein's distance, letter case aside.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      row[j] = std::min({above + 1, row[j - 1] + 1, replaced});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string to_text(const Problem& problem, const std::string& file) {
  std::string text = file;
  if (problem.place.line > 0) {
    text += ":" + std::to_string(problem.place.line) + ":" + std::to_string(problem.place.column);
  }
  text += problem.fatal ? ": " : ": warning: ";
  if (!problem.where.empty()) text += problem.where + ": ";
  return text + problem.message;
}

std::string closest(const std::string& name, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  if (name.size() > 100) return best;
  for (const auto& one : known) {
    const std::size_t steps = distance(name, one);
    if (steps < least) {
      least = steps;
      best = one;
    }
  }
  return best;
}

bool Problems::fatal() const {
  return std::any_of(list_.begin(), list_.end(), [](const Problem& one) { return one.fatal; });
}

void Problems::sort() {
  std::stable_sort(list_.begin(), list_.end(), [](const Problem& a, const Problem& b) {
    if (a.place.line != b.place.line) return a.place.line < b.place.line;
    return a.place.column < b.place.column;
  });
  // What many cases take over from the plan is one mistake, in one place; two keys that are missing
  // are two.
  const auto within_case = [](const Problem& one) {
    const std::size_t end = one.where.starts_with("cases[") ? one.where.find(']') + 1 : 0;
    return std::string_view(one.where).substr(end);
  };
  const auto same = [&](const Problem& a, const Problem& b) {
    return a.place.line > 0 && a.place.line == b.place.line && a.place.column == b.place.column &&
           a.message == b.message && within_case(a) == within_case(b);
  };
  list_.erase(std::unique(list_.begin(), list_.end(), same), list_.end());
}

}  // namespace assay::optest
