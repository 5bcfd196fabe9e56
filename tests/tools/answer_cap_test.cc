// The cap of an answer holds whatever the answer is, and what it cut is told.
#include "tools/answer_cap.h"

#include "mcp/codec.h"
#include "mcp/schema.h"
#include "tests/catch.h"
#include "tools/schemas.h"

using namespace assay;
using mcp::Json;
using mcp::OrderedJson;
using mcp::ToolResult;

namespace {

std::size_t bytes(const ToolResult& result) {
  return result.text.size() + result.structured.dump().size();
}

ToolResult large_answer(int kernels) {
  ToolResult result{.text = std::string(5000, 'x')};
  result.structured = {{"job_id", "j1"}, {"status", "success"}, {"verdict", "passed"}};
  result.structured["summary"] = "Compiled.";
  result.structured["kernels"] = OrderedJson::array();
  for (int i = 0; i < kernels; ++i)
    result.structured["kernels"].push_back({{"name", "k" + std::to_string(i)},
                                            {"signature", std::string(200, 's')},
                                            {"registers", i}});
  result.structured["ptx"] = std::string(90'000, 'p');
  result.structured["contract"] = {{"io", {{"args", std::vector<int>(3000, 7)}}}};
  return result;
}

}  // namespace

TEST_CASE("an answer that fits is left as it is", "[cap]") {
  ToolResult result{.structured = {{"summary", "short"}}, .text = "short"};
  tools::cap(result, 200);
  CHECK(result.structured == OrderedJson({{"summary", "short"}}));
  CHECK(result.text == "short");
}

TEST_CASE("no answer is longer than its cap, and which job it is stays", "[cap]") {
  for (const int kernels : {0, 1, 2, 150, 3000}) {
    for (const std::size_t tokens : {300, 1000, 5000, 40'000}) {
      CAPTURE(kernels, tokens);
      ToolResult result = large_answer(kernels);
      const bool fits = bytes(result) <= tokens * 3;
      tools::cap(result, tokens);
      CHECK(bytes(result) <= tokens * 3);
      CHECK(result.structured.at("job_id") == "j1");
      CHECK(result.structured.at("verdict") == "passed");
      CHECK(result.structured.contains("truncated") != fits);
      CHECK_NOTHROW(mcp::encode(result.structured));
    }
  }
}

TEST_CASE("what was cut is told with how much of it there was", "[cap]") {
  ToolResult result = large_answer(150);
  tools::cap(result, 2000);
  for (const auto& cut : result.structured.at("truncated")) {
    const std::string pointer = cut.at("pointer");
    CAPTURE(pointer);
    CHECK(cut.at("kept") < cut.at("of"));
    if (pointer == "/kernels") {
      CHECK(cut.at("of") == 150);
      CHECK(cut.at("kept") == result.structured.at("kernels").size());
    }
    if (pointer == "/ptx") CHECK(cut.at("of") == 90'000);
    // Never in part: it would be another contract.
    if (pointer == "/contract") CHECK_FALSE(result.structured.contains("contract"));
  }
  if (result.structured.contains("contract"))
    CHECK(result.structured.at("contract") == large_answer(0).structured.at("contract"));
}

TEST_CASE("a capped answer still keeps the promise of its tool", "[cap]") {
  const mcp::Schema promise{Json(tools::schema("compile_report.json"))};
  for (const std::size_t tokens : {300, 1000, 5000, 40'000}) {
    ToolResult result = large_answer(150);
    tools::cap(result, tokens);
    const auto violations = promise.check(Json(result.structured));
    INFO(mcp::describe(violations));
    CHECK(violations.empty());
  }
}

TEST_CASE("texts are cut between characters, and hostile shapes end", "[cap]") {
  std::string umlauts;
  for (int i = 0; i < 20'000; ++i) umlauts += "\xC3\xA4";
  OrderedJson deep = "x";
  for (int i = 0; i < 300; ++i) deep = {{"a", std::move(deep)}};
  OrderedJson wide = OrderedJson::object();
  for (int i = 0; i < 5000; ++i) wide["member" + std::to_string(i)] = i;
  for (const OrderedJson& value :
       {OrderedJson(umlauts), deep, wide, OrderedJson::array({deep, wide})}) {
    ToolResult result{.structured = {{"job_id", "j"}, {"value", value}}, .text = umlauts};
    tools::cap(result, 250);
    CHECK(bytes(result) <= 750);
    CHECK_NOTHROW(result.structured.dump());  // throws on half a character
    CHECK_NOTHROW(OrderedJson(result.text).dump());
  }
}

TEST_CASE("of times the medians are the last to go", "[cap]") {
  const auto view = [](double median_ns) {
    return OrderedJson(
        {{"runs", 100}, {"median_ns", median_ns}, {"min_ns", 1.25}, {"std_ns", 0.5}});
  };
  ToolResult whole{.structured = {{"job_id", "j"}, {"verdict", "passed"}}, .text = "."};
  whole.structured["timing"] = {{"clock", "gpu"},
                                {"cold", view(1234.5)},
                                {"clocks", {{"held_down", OrderedJson::array()}, {"sm_mhz", 1980}}},
                                {"reference", {{"cold", view(2345.5)}, {"warm", view(2000)}}}};
  whole.structured["evidence"] = std::vector<std::string>(40, std::string(200, 'e'));
  whole.structured["metadata"] = {{"kept", std::string(2000, 'm')}};
  for (const std::size_t tokens : {150, 200, 400, 2000}) {
    CAPTURE(tokens);
    ToolResult result = whole;
    tools::cap(result, tokens);
    CHECK(bytes(result) <= tokens * 3);
    REQUIRE(result.structured.contains("timing"));
    CHECK(result.structured.at("timing").at("cold").at("median_ns") == 1234.5);
  }
}

TEST_CASE("what stands beside the findings goes before they do", "[cap]") {
  ToolResult result{.structured = {{"job_id", "j"}, {"verdict", "passed"}}, .text = "."};
  OrderedJson findings = OrderedJson::array();
  for (int line = 1; line <= 3; ++line) findings.push_back({{"where", {{"line", line}}}});
  result.structured["validation"] = {{"checks", {{"findings", findings}}}};
  for (const char* name : {"environment", "stages", "artifacts"})
    for (int i = 0; i < 30; ++i) result.structured[name].push_back(i);
  tools::cap(result, 110);
  CHECK(bytes(result) <= 330);
  CHECK(result.structured.at("validation").at("checks").at("findings").size() == 3);
  CHECK_FALSE(result.structured.contains("environment"));
}
