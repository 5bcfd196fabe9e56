// Tools whose result is, at first, what they need to know: the client answers by calling again.
#include "mcp/conformance/fixtures.h"
#include "mcp/conformance/sealed_state.h"

namespace assay::mcp::conformance {
namespace {

using Run = std::function<ToolResult(const CallContext&, const SealedState&)>;

OrderedJson elicitation(const char* message, const char* name, const char* type) {
  return {{"method", "elicitation/create"},
          {"params",
           {{"mode", "form"},
            {"message", message},
            {"requestedSchema",
             {{"type", "object"},
              {"properties", {{name, {{"type", type}}}}},
              {"required", OrderedJson::array({name})}}}}}};
}

OrderedJson sampling(const char* question, int max_tokens) {
  const OrderedJson message = {{"role", "user"},
                               {"content", {{"type", "text"}, {"text", question}}}};
  return {{"method", "sampling/createMessage"},
          {"params", {{"messages", OrderedJson::array({message})}, {"maxTokens", max_tokens}}}};
}

OrderedJson roots() { return {{"method", "roots/list"}, {"params", OrderedJson::object()}}; }

// What an answer is to its tool: nothing unless it has the shape its question calls for.
std::optional<std::string> elicited(const CallContext& context, const char* key, const char* name) {
  const auto answer = context.input_responses.find(key);
  if (answer == context.input_responses.end() || !answer->is_object()) return {};
  const auto content = answer->find("content");
  if (answer->value("action", Json()) != "accept" || content == answer->end() ||
      !content->is_object() || !content->contains(name))
    return {};
  const Json& value = content->at(name);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::optional<std::string> sampled(const CallContext& context, const char* key) {
  const auto answer = context.input_responses.find(key);
  if (answer == context.input_responses.end() || !answer->is_object()) return {};
  const auto content = answer->find("content");
  if (content == answer->end()) return {};
  return content->is_object() && content->contains("text") ? content->at("text").dump()
                                                           : content->dump();
}

std::optional<std::string> listed_roots(const CallContext& context, const char* key) {
  const auto answer = context.input_responses.find(key);
  if (answer == context.input_responses.end() || !answer->is_object()) return {};
  const auto list = answer->find("roots");
  return list == answer->end() ? std::nullopt : std::optional(list->dump());
}

// The state of an earlier round. Empty: this is the first one.
std::string opened_state(const CallContext& context, const SealedState& sealed) {
  if (context.request_state.empty()) return {};
  auto state = sealed.open(context.request_state);
  if (!state) throw BadRequest("the requestState is not one that this server gave");
  return std::move(*state);
}

ToolResult need(OrderedJson requests, std::string sealed_state = {}) {
  return {.input_requests = std::move(requests), .request_state = std::move(sealed_state)};
}

Tool tool(const char* name, const std::shared_ptr<SealedState>& sealed, Run run) {
  return {.name = name,
          .description = "Needs an answer of the client first.",
          .annotations = {.read_only = true, .destructive = false, .open_world = false},
          .run = [sealed, run = std::move(run)](const Json&, CallContext& context) {
            if (era_of(context.client.revision) == Era::legacy)
              return ToolResult{.text = "this revision has no way to ask", .is_error = true};
            return run(context, *sealed);
          }};
}

ToolResult greet(const CallContext& context, const SealedState&) {
  if (const auto name = elicited(context, "user_name", "name"))
    return {.text = "Hello, " + *name + "!"};
  return need({{"user_name", elicitation("What is your name?", "name", "string")}});
}

ToolResult confirm(const CallContext& context, const SealedState& sealed) {
  const std::string state = opened_state(context, sealed);
  if (!state.empty() && elicited(context, "confirm", "ok")) return {.text = "state-ok"};
  return need({{"confirm", elicitation("Please confirm", "ok", "boolean")}},
              sealed.seal("confirm"));
}

ToolResult ask_three(const CallContext& context, const SealedState& sealed) {
  const std::string state = opened_state(context, sealed);
  const auto name = elicited(context, "user_name", "name");
  const auto greeting = sampled(context, "greeting");
  const auto found_roots = listed_roots(context, "client_roots");
  if (!state.empty() && name && greeting && found_roots)
    return {.text = *greeting + " " + *name + ", at " + *found_roots};
  return need({{"user_name", elicitation("What is your name?", "name", "string")},
               {"greeting", sampling("Generate a greeting", 50)},
               {"client_roots", roots()}},
              sealed.seal("three"));
}

ToolResult ask_twice(const CallContext& context, const SealedState& sealed) {
  const std::string state = opened_state(context, sealed);
  const auto name = elicited(context, "step1", "name");
  const auto color = elicited(context, "step2", "color");
  const OrderedJson second = {
      {"step2", elicitation("Step 2: What is your favorite color?", "color", "string")}};
  if (state.starts_with("2:"))
    return color ? ToolResult{.text = state.substr(2) + " likes " + *color}
                 : need(second, sealed.seal(state));
  if (state == "1" && name) return need(second, sealed.seal("2:" + *name));
  return need({{"step1", elicitation("Step 1: What is your name?", "name", "string")}},
              sealed.seal("1"));
}

// Only what this client has declared.
ToolResult ask_what_it_can(const CallContext& context, const SealedState&) {
  const Json& can = context.client.capabilities;
  if (!context.input_responses.empty()) return {.text = "thank you"};
  OrderedJson requests = OrderedJson::object();
  if (can.contains("elicitation"))
    requests["user_name"] = elicitation("What is your name?", "name", "string");
  if (can.contains("sampling")) requests["greeting"] = sampling("Generate a greeting", 50);
  if (can.contains("roots")) requests["client_roots"] = roots();
  if (requests.empty()) return {.text = "this client can be asked nothing"};
  return need(std::move(requests));
}

}  // namespace

std::vector<Tool> modern_asking_tools() {
  std::vector<Tool> tools;
  const auto sealed = std::make_shared<SealedState>();
  tools.push_back(tool("test_input_required_result_elicitation", sealed, greet));
  tools.push_back(tool("test_streaming_elicitation", sealed, greet));
  tools.push_back(
      tool("test_input_required_result_sampling", sealed,
           [](const CallContext& context, const SealedState&) {
             if (const auto text = sampled(context, "capital_question"))
               return ToolResult{.text = *text};
             return need({{"capital_question", sampling("What is the capital of France?", 100)}});
           }));
  tools.push_back(tool("test_input_required_result_list_roots", sealed,
                       [](const CallContext& context, const SealedState&) {
                         if (const auto list = listed_roots(context, "client_roots"))
                           return ToolResult{.text = "roots: " + *list};
                         return need({{"client_roots", roots()}});
                       }));
  tools.push_back(tool("test_input_required_result_request_state", sealed, confirm));
  tools.push_back(tool("test_input_required_result_tampered_state", sealed, confirm));
  tools.push_back(tool("test_input_required_result_multiple_inputs", sealed, ask_three));
  tools.push_back(tool("test_input_required_result_multi_round", sealed, ask_twice));
  tools.push_back(tool("test_input_required_result_capabilities", sealed, ask_what_it_can));
  return tools;
}

}  // namespace assay::mcp::conformance
