// What a tool is called in: jobs over a real journal, in a folder of the test's own, and an engine
// that the test has made up. No process, no compiler.
#pragma once

#include "engine/job/kind.h"
#include "mcp/schema.h"
#include "tests/catch.h"
#include "tests/folder.h"
#include "tools/jobs.h"
#include "tools/tools.h"

namespace assay::tests {

template <typename Engine>
struct World {
  Folder folder{};
  journal::Journal journal{folder.path(), {.kinds = {job::kernel_kind()}}};
  journal::ArtifactStore artifacts{folder.path() / "artifacts", 1 << 20, {}};
  Engine engine{};
  tools::Jobs jobs{journal, artifacts, engine, [](const std::string&) {}};
};

// As a server calls a tool: the arguments are what its schema takes, the answer is what its schema
// gives.
inline mcp::ToolResult call(const mcp::Tool& tool, const mcp::Json& arguments,
                            mcp::CallContext context = {}) {
  const auto violations = mcp::Schema(mcp::Json(tool.input_schema)).check(arguments);
  INFO(mcp::describe(violations));
  REQUIRE(violations.empty());
  mcp::ToolResult result = tool.run(arguments, context);
  const auto wrong = mcp::Schema(mcp::Json(tool.output_schema)).check(mcp::Json(result.structured));
  INFO(mcp::describe(wrong));
  CHECK(wrong.empty());
  return result;
}

}  // namespace assay::tests
