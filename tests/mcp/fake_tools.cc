#include "tests/mcp/fake_tools.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace assay::mcp {
namespace {

OrderedJson schema(const char* text) { return OrderedJson::parse(text); }

Tool echo() {
  return {.name = "echo",
          .title = "Echo",
          .description = "Says a word back.",
          .annotations = {.read_only = true,
                          .destructive = false,
                          .idempotent = true,
                          .open_world = false},
          .input_schema = schema(R"({
            "type": "object",
            "properties": {"word": {"type": "string", "maxLength": 1000}},
            "required": ["word"],
            "additionalProperties": false})"),
          .output_schema = schema(R"({
            "type": "object",
            "properties": {"said": {"type": "string"}, "by": {"type": "string"}},
            "required": ["said"]})"),
          .run =
              [](const Json& arguments, CallContext& context) {
                return ToolResult{
                    .structured = {{"said", arguments.at("word")}, {"by", context.principal}}};
              },
          .aliases = {{.name = "say", .adapt = [](Json arguments) {
                         // The older shape: {"request": {"word": …}}.
                         if (arguments.is_object() && arguments.contains("request"))
                           return Json(arguments.at("request"));
                         return arguments;
                       }}}};
}

Tool count() {
  return {.name = "count",
          .description = "Counts up to n and reports each step.",
          .input_schema = schema(R"({
            "type": "object",
            "properties": {"n": {"type": "integer", "minimum": 1, "maximum": 100000}},
            "required": ["n"], "additionalProperties": false})"),
          .run = [](const Json& arguments, CallContext& context) {
            const int n = arguments.at("n").get<int>();
            for (int i = 1; i <= n; ++i) context.progress(i, n, "step " + std::to_string(i));
            return ToolResult{.text = "counted to " + std::to_string(n)};
          }};
}

Tool wait(const std::shared_ptr<FakeToolCounters>& counters) {
  return {.name = "wait",
          .description = "Waits, at most for the stated time, until it is stopped.",
          .input_schema = schema(R"({
            "type": "object",
            "properties": {"ms": {"type": "integer", "minimum": 0, "maximum": 600000},
                           "deaf": {"type": "boolean"}},
            "required": ["ms"], "additionalProperties": false})"),
          .run = [counters](const Json& arguments, CallContext& context) {
            if (counters) ++counters->started;
            const std::chrono::milliseconds time(arguments.at("ms").get<int>());
            if (arguments.value("deaf", false)) {
              std::this_thread::sleep_for(time);
              return ToolResult{.text = "slept"};
            }
            std::mutex mutex;
            std::condition_variable_any stopped;
            std::unique_lock lock(mutex);
            stopped.wait_for(lock, context.stop, time, [] { return false; });
            if (counters && context.stop.stop_requested()) ++counters->stopped;
            return ToolResult{.text = "waited"};
          }};
}

Tool fail() {
  return {
      .name = "fail", .description = "Throws.", .run = [](const Json&, CallContext&) -> ToolResult {
        throw std::runtime_error("the ship sinks");
      }};
}

Tool refuse() {
  return {.name = "refuse",
          .description = "Answers with an error that its output schema does not foresee.",
          .output_schema = schema(R"({"type": "object", "required": ["verdict"]})"),
          .run = [](const Json&, CallContext&) {
            return ToolResult{
                .structured = {{"reason", "no device"}}, .text = "no device", .is_error = true};
          }};
}

Tool shape() {
  return {.name = "shape",
          .description = "Checks a nested argument; its io may be sent as JSON text.",
          .input_schema = schema(R"({
            "type": "object",
            "properties": {
              "item": {
                "type": "object",
                "x-json-text": true,
                "properties": {
                  "kind": {"enum": ["disc", "square", "triangle"]},
                  "io": {
                    "type": ["object", "string"],
                    "x-json-text": true,
                    "properties": {
                      "launch": {"type": "object",
                                 "properties": {"x": {"type": "integer", "minimum": 1, "maximum": 1024}},
                                 "required": ["x"], "additionalProperties": false}},
                    "additionalProperties": false}},
                "required": ["kind"],
                "additionalProperties": false}},
            "required": ["item"], "additionalProperties": false})"),
          .output_schema = schema(R"({"type": "object"})"),
          .run = [](const Json& arguments, CallContext&) {
            return ToolResult{.structured = arguments.at("item")};
          }};
}

Tool links() {
  return {.name = "links",
          .description = "Answers with resources to read.",
          .run = [](const Json&, CallContext&) {
            return ToolResult{
                .text = "two files",
                .links = {{.uri = "fake://log", .name = "log", .mime_type = "text/plain"},
                          {.uri = "fake://data", .name = "data", .size_bytes = 12}},
                .more_content = {{{"type", "audio"}, {"data", "AAAA"}, {"mimeType", "audio/wav"}}}};
          }};
}

Tool broken_promise() {
  return {.name = "broken_promise",
          .description = "Answers with what its output schema forbids.",
          .output_schema = schema(R"({"type": "object", "required": ["verdict"]})"),
          .run = [](const Json&, CallContext&) {
            return ToolResult{.structured = {{"other", 1}}};
          }};
}

}  // namespace

std::vector<Tool> fake_tools(const std::shared_ptr<FakeToolCounters>& counters) {
  std::vector<Tool> tools;
  tools.push_back(echo());
  tools.push_back(count());
  tools.push_back(wait(counters));
  tools.push_back(fail());
  tools.push_back(refuse());
  tools.push_back(shape());
  tools.push_back(links());
  tools.push_back(broken_promise());
  return tools;
}

}  // namespace assay::mcp
