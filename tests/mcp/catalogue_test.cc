#include "mcp/catalogue.h"

#include <stdexcept>

#include "tests/catch.h"
#include "tests/mcp/fake_tools.h"

namespace {

using namespace assay::mcp;

Tool good(const char* name = "good") {
  return {.name = name, .run = [](const Json&, CallContext&) { return ToolResult{}; }};
}

void refused(Tool tool, const char* why) {
  CHECK_THROWS_WITH(Catalogue({std::move(tool)}), Catch::Contains(why));
}

}  // namespace

TEST_CASE("tools are listed in the order given and found by every name", "[tools]") {
  const Catalogue catalogue(fake_tools());
  CHECK(catalogue.entries().front()->tool.name == "echo");
  CHECK(catalogue.find("echo").entry == catalogue.find("say").entry);
  CHECK(catalogue.find("echo").alias == nullptr);
  CHECK(catalogue.find("say").alias->name == "say");
  CHECK(catalogue.find("nothing").entry == nullptr);
  CHECK(catalogue.nearest("wiat") == "wait");
}

TEST_CASE("a tool that cannot be served is refused when the server is made", "[tools]") {
  Tool tool = good();
  tool.run = nullptr;
  refused(tool, "tool \"good\": it has no function");
  tool = good();
  tool.input_schema = {{"type", "string"}};
  refused(tool, "must be of type object");
  tool = good();
  tool.input_schema["dependentRequired"] = OrderedJson::object();
  refused(tool, "dependentRequired");
  tool = good();
  tool.output_schema = true;
  refused(tool, "output schema");
  refused(good("with space"), "no name for a tool");
  tool = good();
  tool.aliases = {{.name = "good"}};
  refused(tool, "is taken");
  CHECK_THROWS_AS(Catalogue({good(), good()}), std::invalid_argument);
}
