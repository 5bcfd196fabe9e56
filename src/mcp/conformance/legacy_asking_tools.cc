// Tools that ask a legacy client something while they run.
#include "mcp/conformance/fixtures.h"

namespace assay::mcp::conformance {
namespace {

OrderedJson parse(const char* text) { return OrderedJson::parse(text); }

ToolResult refused(const char* what) {
  return {.text = std::string("this client ") + what, .is_error = true};
}

OrderedJson one_string(const char* name) {
  return {{"type", "object"},
          {"properties", {{name, {{"type", "string"}}}}},
          {"required", OrderedJson::array({name})}};
}

// The client's answer to an elicitation, told in the suite's words.
ToolResult elicit(const CallContext& context, const char* words, const OrderedJson& params) {
  if (!context.ask || !context.client.capabilities.contains("elicitation"))
    return refused("cannot be asked");
  const auto answer = context.ask("elicitation/create", params);
  if (!answer) return refused("did not answer");
  return {.text = std::string(words) + ": action=" + answer->value("action", "cancel") +
                  ", content=" + answer->value("content", Json::object()).dump()};
}

Tool sampling() {
  return {.name = "test_sampling",
          .description = "Has the client's model answer a prompt.",
          .input_schema = one_string("prompt"),
          .run = [](const Json& arguments, CallContext& context) {
            if (!context.ask || !context.client.capabilities.contains("sampling"))
              return refused("cannot sample");
            const OrderedJson message = {
                {"role", "user"},
                {"content", {{"type", "text"}, {"text", arguments.at("prompt")}}}};
            const auto answer =
                context.ask("sampling/createMessage",
                            {{"messages", OrderedJson::array({message})}, {"maxTokens", 100}});
            if (!answer) return refused("did not answer");
            const Json content = answer->value("content", Json::object());
            return ToolResult{.text = "LLM response: " + content.value("text", "")};
          }};
}

Tool elicitation() {
  return {.name = "test_elicitation",
          .description = "Asks the user for a name and an address.",
          .input_schema = one_string("message"),
          .run = [](const Json& arguments, CallContext& context) {
            OrderedJson params = {{"message", arguments.at("message")}};
            params["requestedSchema"] = parse(R"({
              "type": "object",
              "properties": {
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"}},
              "required": ["username", "email"]})");
            return elicit(context, "User response", params);
          }};
}

Tool defaults() {
  return {.name = "test_elicitation_sep1034_defaults",
          .description = "Asks for one value of each kind, with defaults.",
          .run = [](const Json&, CallContext& context) {
            return elicit(context, "Elicitation completed", parse(R"({
              "message": "Please review these values",
              "requestedSchema": {
                "type": "object",
                "properties": {
                  "name": {"type": "string", "default": "John Doe"},
                  "age": {"type": "integer", "default": 30},
                  "score": {"type": "number", "default": 95.5},
                  "status": {"type": "string", "enum": ["active", "inactive", "pending"],
                             "default": "active"},
                  "verified": {"type": "boolean", "default": true}},
                "required": []}})"));
          }};
}

Tool enumerations() {
  return {.name = "test_elicitation_sep1330_enums",
          .description = "Asks for one value of each kind of enumeration.",
          .run = [](const Json&, CallContext& context) {
            return elicit(context, "Elicitation completed", parse(R"({
              "message": "Please choose",
              "requestedSchema": {
                "type": "object",
                "properties": {
                  "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
                  "titledSingle": {"type": "string", "oneOf": [
                    {"const": "value1", "title": "First Option"},
                    {"const": "value2", "title": "Second Option"},
                    {"const": "value3", "title": "Third Option"}]},
                  "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
                                 "enumNames": ["Option One", "Option Two", "Option Three"]},
                  "untitledMulti": {"type": "array",
                    "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
                  "titledMulti": {"type": "array", "items": {"anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}]}}},
                "required": []}})"));
          }};
}

}  // namespace

std::vector<Tool> legacy_asking_tools() {
  std::vector<Tool> tools;
  tools.push_back(sampling());
  tools.push_back(elicitation());
  tools.push_back(defaults());
  tools.push_back(enumerations());
  return tools;
}

}  // namespace assay::mcp::conformance
