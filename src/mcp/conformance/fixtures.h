// What the official conformance suite expects a server under test to have: tools, resources and
// prompts with names, texts and behaviour of its choosing. Nothing of it is in a normal server;
// `assay serve --conformance-fixtures` adds it.
#pragma once

#include "mcp/server.h"

namespace assay::mcp::conformance {

void add_fixtures(ServerConfig& config);

// The parts. `plain`: those that answer at once; `asking`: those that need something of the client.
[[nodiscard]] std::vector<Tool> plain_tools();
[[nodiscard]] std::vector<Tool> legacy_asking_tools();
[[nodiscard]] std::vector<Tool> modern_asking_tools();
[[nodiscard]] std::vector<Prompt> prompts();
// In front of what `resources` has already.
void add_resources(Resources& resources);

// A picture of one point, and a sound of no length; Base64.
[[nodiscard]] const char* picture();
[[nodiscard]] const char* sound();

}  // namespace assay::mcp::conformance
