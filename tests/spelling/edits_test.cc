#include "spelling/edits.h"

#include <algorithm>
#include <random>
#include <string>

#include "tests/catch.h"

namespace assay::spelling {
namespace {

// The same by trying everything, from the end of both.
std::size_t by_trying(std::string_view a, std::string_view b) {
  if (a.empty()) return b.size();
  if (b.empty()) return a.size();
  const std::string_view shorter_a = a.substr(0, a.size() - 1);
  const std::string_view shorter_b = b.substr(0, b.size() - 1);
  std::size_t least = by_trying(shorter_a, shorter_b) + (a.back() == b.back() ? 0 : 1);
  least = std::min({least, by_trying(shorter_a, b) + 1, by_trying(a, shorter_b) + 1});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back()) {
    least = std::min(least, by_trying(a.substr(0, a.size() - 2), b.substr(0, b.size() - 2)) + 1);
  }
  return least;
}

}  // namespace

TEST_CASE("a letter that comes, goes, changes or trades places is one edit") {
  CHECK(edits("", "") == 0);
  CHECK(edits("grid", "grid") == 0);
  CHECK(edits("", "grid") == 4);
  CHECK(edits("grid", "") == 4);
  CHECK(edits("gird", "grid") == 1);
  CHECK(edits("grd", "grid") == 1);
  CHECK(edits("griid", "grid") == 1);
  CHECK(edits("gryd", "grid") == 1);
  CHECK(edits("functon_name", "function_name") == 1);
  CHECK(edits("ca", "abc") == 3);  // no stretch is edited twice
}

TEST_CASE("edits are what trying everything finds, and the same both ways") {
  std::mt19937 random(11);
  const auto word = [&] {
    std::string text(random() % 7, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    const std::string a = word();
    const std::string b = word();
    INFO(a << " and " << b);
    CHECK(edits(a, b) == by_trying(a, b));
    CHECK(edits(a, b) == edits(b, a));
  }
}

}  // namespace assay::spelling
