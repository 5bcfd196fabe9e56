#include "plans/samples.h"

#include <cmath>

#include "plans/scenarios/audit.h"
#include "plans/scenarios/jsonc.h"
#include "tests/catch.h"

using assay::plans::summary_of;

TEST_CASE("statistics of a sample") {
  const auto summary = summary_of({4, 1, 3, 2, 5});
  CHECK(summary.at("mean") == 3.0);
  CHECK(summary.at("median") == 3.0);
  CHECK(summary.at("p95").get<double>() == Approx(4.8));
  CHECK(summary.at("std").get<double>() == Approx(std::sqrt(2.5)));
  CHECK(summary_of({7}).at("std").is_null());
  CHECK(summary_of({1, 1.01, 0.99, 1.02, 0.98, 100}).at("outliers") == 1);
  CHECK(summary_of({9, 1, 1, 1}).at("warnings").size() == 2);
}

TEST_CASE("comments and trailing commas go, texts that look like them stay") {
  const auto parsed = assay::scenarios::parse_jsonc(
      "{ // a\n \"u\": \"http://x/*y*/,]\", /* b\n */ \"l\": [1, 2, // c\n ],\n}");
  const auto* good = std::get_if<assay::scenarios::Jsonc>(&parsed);
  REQUIRE(good != nullptr);
  CHECK(good->document.at("u") == "http://x/*y*/,]");
  CHECK(good->document.at("l").size() == 2);
  CHECK(good->lines.at("/u") == 2);
  CHECK(good->lines.at("/l") == 3);
  for (const char* bad : {"", "{", "[1 2]", "// only", "{\"a\": 1} x", "\"\\", "{\"a"}) {
    CHECK(std::holds_alternative<assay::scenarios::JsoncFault>(assay::scenarios::parse_jsonc(bad)));
  }
}

TEST_CASE("terminal sequences and carriage returns leave plain lines") {
  const auto lines =
      assay::scenarios::plain_lines("\x1b[31mred\x1b[0m\r\n10%\r20%\rdone\n\x1b]0;title\x07x\x1b[");
  REQUIRE(lines.size() == 5);
  CHECK(lines[0] == "red");
  CHECK(lines[1] == "10%");
  CHECK(lines[3] == "done");
  CHECK(lines[4].substr(0, 1) == "x");
}
