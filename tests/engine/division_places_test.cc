// The line of a division is one that divides.
#include "engine/node/division_places.h"

#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

namespace {

std::size_t placed(const std::string& source, int line,
                   const std::string& kind = "division_by_zero") {
  json findings = json::array(
      {{{"kind", kind}, {"where", {{"file", "kernel.cu"}, {"line", line}, {"column", 3}}}}});
  node::place_divisions(findings, source);
  return findings[0].at("where").at("line");
}

}  // namespace

TEST_CASE("a division by zero is told where the source divides") {
  const std::string source =
      "long long q = a / b;\n"
      "q += 1;  // a / b\n"
      "o[0] = q; /* % */\n"
      "o[1] = 7 % q;\n"
      "o[2] = 1;\n";
  REQUIRE(placed(source, 1) == 1);
  REQUIRE(placed(source, 3) == 1);
  REQUIRE(placed(source, 4) == 4);
  REQUIRE(placed(source, 5) == 4);
  REQUIRE(placed(source, 5, "index_wrapped") == 5);
}

TEST_CASE("where nothing near divides, or lines count otherwise, a place stays what it was") {
  REQUIRE(placed("a / b;\n" + std::string(20, '\n') + "x;\n", 22) == 22);
  REQUIRE(placed("#line 1\na / b;\nx;\n", 3) == 3);
  REQUIRE(placed("a / b;\n", 2) == 2);
  REQUIRE(placed("", 0) == 0);
  REQUIRE(placed("x; /* a / b\n", 1) == 1);
}
