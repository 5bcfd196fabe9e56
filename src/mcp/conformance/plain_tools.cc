#include <chrono>
#include <thread>

#include "mcp/conformance/fixtures.h"
#include "mcp/prompt.h"

namespace assay::mcp::conformance {
namespace {

constexpr std::chrono::milliseconds kPause{50};

using Run = std::function<ToolResult(CallContext&)>;

Tool tool(const char* name, const char* description, Run run) {
  return {
      .name = name,
      .description = description,
      .annotations = {.read_only = true, .destructive = false, .open_world = false},
      .run = [run = std::move(run)](const Json&, CallContext& context) { return run(context); }};
}

ToolResult blocks(std::vector<OrderedJson> content) { return {.more_content = std::move(content)}; }

OrderedJson image() { return {{"type", "image"}, {"data", picture()}, {"mimeType", "image/png"}}; }

OrderedJson embedded(const char* uri, const char* mime_type, const char* text) {
  return {{"type", "resource"},
          {"resource", {{"uri", uri}, {"mimeType", mime_type}, {"text", text}}}};
}

ToolResult with_progress(CallContext& context) {
  for (const int done : {0, 50, 100}) {
    if (done > 0) std::this_thread::sleep_for(kPause);
    context.progress(done, 100);
  }
  return {.text = "three steps were reported"};
}

ToolResult with_logging(CallContext& context) {
  context.log(LogLevel::info, "Tool execution started");
  std::this_thread::sleep_for(kPause);
  context.log(LogLevel::info, "Tool processing data");
  std::this_thread::sleep_for(kPause);
  context.log(LogLevel::info, "Tool execution completed");
  return {.text = "three messages were logged"};
}

// The client hangs up under way, or would be free to, and comes back for the answer.
ToolResult after_reconnection(CallContext& context) {
  if (context.let_poll) context.let_poll();
  std::this_thread::sleep_for(kPause);
  return {.text = "the answer came after the connection"};
}

// Every keyword of the dialect that a server is tempted to strip. Real tools keep their roots
// plain.
Tool schema_tool() {
  Tool made = tool("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features",
                   [](CallContext&) { return ToolResult{.text = "the schema is met"}; });
  made.input_schema = OrderedJson::parse(R"({
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", "type": "object",
                          "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
                   "contactMethod": {"type": "string", "enum": ["phone", "email"]},
                   "phone": {"type": "string"}, "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false})");
  return made;
}

Tool header_tool() {
  Tool made = tool("test_custom_header", "Wants an argument repeated in a header.",
                   [](CallContext&) { return ToolResult{.text = "the header agrees"}; });
  made.input_schema = {{"type", "object"},
                       {"properties",
                        {{"region", {{"type", "string"}, {"x-mcp-header", "Region"}}},
                         {"attempt", {{"type", "integer"}, {"x-mcp-header", "Attempt"}}}}},
                       {"additionalProperties", false}};
  return made;
}

}  // namespace

std::vector<Tool> plain_tools() {
  std::vector<Tool> tools;
  tools.push_back(tool("test_simple_text", "Answers with text.", [](CallContext&) {
    return ToolResult{.text = "This is a simple text response for testing."};
  }));
  tools.push_back(tool("test_image_content", "Answers with an image.",
                       [](CallContext&) { return blocks({image()}); }));
  tools.push_back(tool("test_audio_content", "Answers with a sound.", [](CallContext&) {
    return blocks({{{"type", "audio"}, {"data", sound()}, {"mimeType", "audio/wav"}}});
  }));
  tools.push_back(tool("test_embedded_resource", "Answers with a resource.", [](CallContext&) {
    return blocks({embedded("test://embedded-resource", "text/plain",
                            "This is an embedded resource content.")});
  }));
  tools.push_back(tool("test_multiple_content_types", "Answers with several.", [](CallContext&) {
    return blocks({text_content("Multiple content types test:"), image(),
                   embedded("test://mixed-content-resource", "application/json",
                            R"({"test":"data","value":123})")});
  }));
  tools.push_back(tool("test_error_handling", "Always fails.", [](CallContext&) {
    return ToolResult{.text = "This tool intentionally returns an error for testing",
                      .is_error = true};
  }));
  tools.push_back(tool("test_tool_with_progress", "Reports its progress.", with_progress));
  tools.push_back(
      tool("test_reconnection", "Has its client come back for the answer.", after_reconnection));
  tools.push_back(tool("test_tool_with_logging", "Logs to the client.", with_logging));
  tools.push_back(tool("test_logging_tool", "Logs to the client.", with_logging));
  tools.push_back(tool("test_missing_capability", "Needs the client to sample.",
                       [](CallContext&) { return ToolResult{.text = "it can"}; }));
  tools.back().needs = {{"sampling", OrderedJson::object()}};
  tools.push_back(schema_tool());
  tools.push_back(header_tool());
  return tools;
}

}  // namespace assay::mcp::conformance
