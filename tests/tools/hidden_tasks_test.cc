// What a kernel is asked beside the task that was shown: as many sizes as are drawn, whichever of
// them the contract does not allow.
#include "tools/hidden_tasks.h"

#include "tests/catch.h"

using namespace assay;
using nlohmann::json;

TEST_CASE("a size that leaves indices nothing to choose from is drawn again") {
  const json io = {{"args",
                    {{{"name", "at"},
                      {"type", "tensor"},
                      {"tensor_spec",
                       {{"shape", {"n"}},
                        {"dtype", "int32"},
                        {"init", {{"kind", "uniform"}, {"low", 0}, {"high", 5}}}}}},
                     {{"name", "y"},
                      {"type", "tensor"},
                      {"role", "output"},
                      {"tensor_spec", {{"shape", {"n"}}, {"dtype", "float32"}}}},
                     {{"name", "n"}, {"type", "int"}, {"value", 6}}}},
                   {"launch", {{"grid", {{"x", 1}}}, {"block", {{"x", 32}}}}}};
  const mcp::Json kernel = mcp::Json::parse(json({{"io", io}}).dump());
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 draw(seed);
    const auto hidden = tools::hidden_tasks(kernel, kernel, {}, {}, draw);
    REQUIRE(hidden.list.size() == 8);  // a third of the smallest ones would be 1
    for (const json& task : hidden.list) {
      const json changed = task.at("changed");
      if (changed.contains("sizes")) CHECK(changed.at("sizes").at("n") > 1);
    }
  }
}
