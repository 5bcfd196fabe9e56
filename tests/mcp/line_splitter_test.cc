#include "mcp/line_splitter.h"

#include <string>
#include <vector>

#include "tests/catch.h"

namespace {

struct Cut {
  std::vector<std::string> lines{};
  int oversized = 0;
};

Cut cut(const std::string& bytes, std::size_t max_bytes, std::size_t piece) {
  Cut result;
  assay::mcp::LineSplitter splitter(
      max_bytes, [&](std::string_view line) { result.lines.emplace_back(line); },
      [&] { ++result.oversized; });
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    splitter.feed(std::string_view(bytes).substr(at, piece));
  splitter.finish();
  return result;
}

}  // namespace

TEST_CASE("lines do not depend on how the bytes arrive", "[stdio]") {
  const std::string bytes = "one\n\n  \r\ntwo\r\nlonger than ten\nten bytes!\n\nlast";
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    INFO(piece);
    const Cut result = cut(bytes, 10, piece);
    CHECK(result.lines == std::vector<std::string>{"one", "two\r", "ten bytes!", "last"});
    CHECK(result.oversized == 1);
  }
}

TEST_CASE("a last line that is too long is reported once, and an empty input is silent",
          "[stdio]") {
  CHECK(cut(std::string(100, 'x'), 10, 7).oversized == 1);
  CHECK(cut("", 10, 1).lines.empty());
  CHECK(cut("", 10, 1).oversized == 0);
}
