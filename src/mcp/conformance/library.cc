// The suite's resources and prompts, and all of it put together.
#include "mcp/conformance/fixtures.h"
#include "mcp/conformance/task_tools.h"

namespace assay::mcp::conformance {
namespace {

constexpr std::string_view kTemplatePrefix = "test://template/";
constexpr std::string_view kTemplateSuffix = "/data";

// picture() and sound() as bytes: the resource's blob is encoded by whoever sends it.
std::string decoded(std::string_view base64) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  unsigned count = 0;
  for (const char c : base64.substr(0, base64.find('='))) {
    group = (group << 6U) | static_cast<std::uint32_t>(kAlphabet.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((group >> count) & 0xFFU);
  }
  return bytes;
}

std::optional<ResourceContents> read(const std::string& uri) {
  if (uri == "test://static-text")
    return ResourceContents{.mime_type = "text/plain",
                            .bytes = "This is the content of the static text resource."};
  if (uri == "test://static-binary")
    return ResourceContents{.mime_type = "image/png", .bytes = decoded(picture()), .binary = true};
  if (uri == "test://watched-resource")
    return ResourceContents{.mime_type = "text/plain", .bytes = "This one is watched."};
  if (uri.size() > kTemplatePrefix.size() + kTemplateSuffix.size() &&
      uri.starts_with(kTemplatePrefix) && uri.ends_with(kTemplateSuffix)) {
    const std::string id = uri.substr(kTemplatePrefix.size(),
                                      uri.size() - kTemplatePrefix.size() - kTemplateSuffix.size());
    const OrderedJson data = {{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
    return ResourceContents{.mime_type = "application/json", .bytes = data.dump()};
  }
  return {};
}

std::vector<Resource> listed() {
  return {{.uri = "test://static-text", .name = "static-text", .mime_type = "text/plain"},
          {.uri = "test://static-binary", .name = "static-binary", .mime_type = "image/png"},
          {.uri = "test://watched-resource", .name = "watched", .mime_type = "text/plain"}};
}

PromptResult say(const std::string& text) {
  return {.messages = {{.content = text_content(text)}}};
}

Prompt asking_prompt() {
  return {.name = "test_input_required_result_prompt",
          .description = "Needs an answer of the client first.",
          .get = [](const PromptArguments&, const CallContext& context) -> PromptResult {
            const auto answer = context.input_responses.find("user_context");
            if (answer != context.input_responses.end() && answer->is_object())
              return say("In the context of " + answer->value("content", Json()).dump());
            const OrderedJson request = OrderedJson::parse(R"({
              "method": "elicitation/create",
              "params": {
                "mode": "form",
                "message": "What context should the prompt use?",
                "requestedSchema": {"type": "object",
                                    "properties": {"context": {"type": "string"}},
                                    "required": ["context"]}}})");
            return {.input_requests = {{"user_context", request}}};
          }};
}

std::vector<std::string> completions(const std::string& prefix, const CallContext&) {
  std::vector<std::string> values;
  for (const char* value : {"paris", "park", "party"})
    if (std::string_view(value).starts_with(prefix)) values.emplace_back(value);
  return values;
}

}  // namespace

std::vector<Prompt> prompts() {
  std::vector<Prompt> all;
  all.push_back({.name = "test_simple_prompt",
                 .description = "One message.",
                 .get = [](const PromptArguments&, const CallContext&) {
                   return say("This is a simple prompt for testing.");
                 }});
  all.push_back(
      {.name = "test_prompt_with_arguments",
       .description = "Repeats its arguments.",
       .arguments =
           {{.name = "arg1", .description = "First", .required = true, .complete = completions},
            {.name = "arg2", .description = "Second", .required = true}},
       .get = [](const PromptArguments& arguments, const CallContext&) {
         return say("Prompt with arguments: arg1='" + arguments.at("arg1") + "', arg2='" +
                    arguments.at("arg2") + "'");
       }});
  all.push_back(
      {.name = "test_prompt_with_embedded_resource",
       .description = "A message that holds a resource.",
       .arguments = {{.name = "resourceUri", .description = "Its URI", .required = true}},
       .get = [](const PromptArguments& arguments, const CallContext&) -> PromptResult {
         const OrderedJson resource = {{"uri", arguments.at("resourceUri")},
                                       {"mimeType", "text/plain"},
                                       {"text", "Embedded resource content for testing."}};
         return {.messages = {
                     {.content = {{"type", "resource"}, {"resource", resource}}},
                     {.content = text_content("Please process the embedded resource above.")}}};
       }});
  all.push_back({.name = "test_prompt_with_image",
                 .description = "A message that is an image.",
                 .get = [](const PromptArguments&, const CallContext&) -> PromptResult {
                   const OrderedJson image = {
                       {"type", "image"}, {"data", picture()}, {"mimeType", "image/png"}};
                   return {
                       .messages = {{.content = image},
                                    {.content = text_content("Please analyze the image above.")}}};
                 }});
  all.push_back(asking_prompt());
  return all;
}

void add_resources(Resources& resources) {
  resources.list = [more = std::move(resources.list)](const CallContext& context) {
    std::vector<Resource> all = listed();
    if (more)
      for (Resource& resource : more(context)) all.push_back(std::move(resource));
    return all;
  };
  resources.read = [more = std::move(resources.read)](
                       const std::string& uri,
                       const CallContext& context) -> std::optional<ResourceContents> {
    if (auto found = conformance::read(uri)) return found;
    return more ? more(uri, context) : std::nullopt;
  };
  resources.templates.push_back({.uri_template = "test://template/{id}/data",
                                 .name = "template",
                                 .description = "Data of an id.",
                                 .mime_type = "application/json"});
  resources.subscriptions = true;
}

void add_fixtures(ServerConfig& config) {
  for (auto* part : {plain_tools, legacy_asking_tools, modern_asking_tools})
    for (Tool& tool : part()) config.tools.push_back(std::move(tool));
  for (Prompt& prompt : prompts()) config.prompts.push_back(std::move(prompt));
  add_resources(config.resources);
  const auto tasks = std::make_shared<FixtureTasks>();
  for (Tool& tool : task_tools(tasks)) config.tools.push_back(std::move(tool));
  add_tasks(tasks, config.tasks);
  config.client_log = true;
}

const char* picture() {
  return "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
         "rkJggg==";
}

const char* sound() { return "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="; }

}  // namespace assay::mcp::conformance
