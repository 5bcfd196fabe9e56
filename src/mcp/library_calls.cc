#include "mcp/library_calls.h"

#include <algorithm>

#include "mcp/codec.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

constexpr std::size_t kMaxEchoBytes = 200;
constexpr std::size_t kMaxSuggestions = 100;
// Prompts and templates are fixed while the process lives; what is read may change at any time.
constexpr Freshness kFixed{.ttl_ms = 3'600'000, .scope = "public"};
constexpr Freshness kOwn{.ttl_ms = 0, .scope = "private"};

void put(OrderedJson& object, const char* key, const std::string& value) {
  if (!value.empty()) object[key] = value;
}

// A title is newer than the rest.
void put_title(OrderedJson& object, const std::string& title, Revision revision) {
  if (revision >= Revision::v2025_06_18) put(object, "title", title);
}

OrderedJson listed(const Resource& resource, Revision revision) {
  OrderedJson listing = {{"uri", resource.uri}, {"name", resource.name}};
  put_title(listing, resource.title, revision);
  put(listing, "description", resource.description);
  put(listing, "mimeType", resource.mime_type);
  if (resource.size_bytes) listing["size"] = *resource.size_bytes;
  return listing;
}

OrderedJson listed(const ResourceTemplate& family, Revision revision) {
  OrderedJson listing = {{"uriTemplate", family.uri_template}, {"name", family.name}};
  put_title(listing, family.title, revision);
  put(listing, "description", family.description);
  put(listing, "mimeType", family.mime_type);
  return listing;
}

OrderedJson listed(const Prompt& prompt, Revision revision) {
  OrderedJson arguments = OrderedJson::array();
  for (const PromptArgument& argument : prompt.arguments) {
    OrderedJson one = {{"name", argument.name}};
    put(one, "description", argument.description);
    one["required"] = argument.required;
    arguments.push_back(std::move(one));
  }
  OrderedJson listing = {{"name", prompt.name}};
  put_title(listing, prompt.title, revision);
  put(listing, "description", prompt.description);
  listing["arguments"] = std::move(arguments);
  return listing;
}

RpcError unknown(const char* what, const std::string& name) {
  return {.code = ErrorCode::invalid_params,
          .message = std::string("unknown ") + what + " \"" + shortened(name, kMaxEchoBytes) + '"'};
}

RpcError no_resource(const std::string& uri, Revision revision) {
  RpcError error = unknown("resource", uri);
  if (era_of(revision) == Era::legacy) error.code = ErrorCode::resource_not_found;
  error.data = {{"uri", shortened(uri, kMaxEchoBytes)}};
  return error;
}

RpcError bad_argument(const std::string& pointer, const char* keyword, std::string message) {
  return invalid_params({{.pointer = pointer, .keyword = keyword, .message = std::move(message)}});
}

// The declared arguments out of what the client sent, or what is wrong with it.
std::variant<PromptArguments, RpcError> arguments_of(const Prompt& prompt, const Json& sent) {
  if (!sent.is_object()) return bad_argument("/params/arguments", "type", "expected an object");
  PromptArguments arguments;
  for (const PromptArgument& declared : prompt.arguments) {
    const std::string pointer = "/params/arguments/" + declared.name;
    const auto found = sent.find(declared.name);
    if (found == sent.end() || found->is_null()) {
      if (declared.required) return bad_argument(pointer, "required", "required, but missing");
      continue;
    }
    if (!found->is_string()) return bad_argument(pointer, "type", "expected a string");
    arguments.emplace(declared.name, found->get<std::string>());
  }
  return arguments;
}

std::string string_member(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

LibraryCalls::LibraryCalls(Resources resources, std::vector<Prompt> prompts,
                           const Identity& identity)
    : resources_(std::move(resources)), prompts_(std::move(prompts)), identity_(identity) {}

Offers LibraryCalls::offers_of(const Resources& resources, const std::vector<Prompt>& prompts,
                               bool logging) {
  Offers offers{.resources = resources.offered(),
                .prompts = !prompts.empty(),
                .logging = logging,
                .subscriptions = resources.offered() && resources.subscriptions};
  for (const ResourceTemplate& family : resources.templates)
    offers.completions |= static_cast<bool>(family.complete);
  for (const Prompt& prompt : prompts)
    for (const PromptArgument& argument : prompt.arguments)
      offers.completions |= static_cast<bool>(argument.complete);
  return offers;
}

void LibraryCalls::list_resources(const Call& call, Reply reply, ToolCalls& pool) const {
  pool.defer(call, std::move(reply), "resources/list",
             [this](const CallContext& context) -> ToolCalls::Ending {
               const Revision revision = context.client.revision;
               OrderedJson resources = OrderedJson::array();
               if (resources_.list)
                 for (const Resource& resource : resources_.list(context))
                   resources.push_back(listed(resource, revision));
               return encode(cacheable_result({{"resources", std::move(resources)}}, identity_,
                                              revision, kOwn));
             });
}

void LibraryCalls::list_templates(const Call& call, Reply reply) const {
  OrderedJson templates = OrderedJson::array();
  for (const ResourceTemplate& family : resources_.templates)
    templates.push_back(listed(family, call.client.revision));
  reply.result(encode(cacheable_result({{"resourceTemplates", std::move(templates)}}, identity_,
                                       call.client.revision, kFixed)));
}

void LibraryCalls::read(const Call& call, ReadParams params, Reply reply, ToolCalls& pool) const {
  pool.defer(call, std::move(reply), "resources/read",
             [this, uri = std::move(params.uri)](const CallContext& context) -> ToolCalls::Ending {
               const Revision revision = context.client.revision;
               const auto contents = resources_.read(uri, context);
               if (!contents) return no_resource(uri, revision);
               OrderedJson one = {{"uri", uri}};
               put(one, "mimeType", contents->mime_type);
               if (contents->binary)
                 one["blob"] = to_base64(contents->bytes);
               else
                 one["text"] = contents->bytes;
               return encode(cacheable_result({{"contents", OrderedJson::array({std::move(one)})}},
                                              identity_, revision, kOwn));
             });
}

void LibraryCalls::list_prompts(const Call& call, Reply reply) const {
  OrderedJson prompts = OrderedJson::array();
  for (const Prompt& prompt : prompts_) prompts.push_back(listed(prompt, call.client.revision));
  reply.result(encode(cacheable_result({{"prompts", std::move(prompts)}}, identity_,
                                       call.client.revision, kFixed)));
}

const Prompt* LibraryCalls::find_prompt(const std::string& name) const {
  const auto found = std::find_if(prompts_.begin(), prompts_.end(),
                                  [&](const Prompt& prompt) { return prompt.name == name; });
  return found == prompts_.end() ? nullptr : &*found;
}

void LibraryCalls::get_prompt(const Call& call, const PromptParams& params, Reply reply,
                              ToolCalls& pool) const {
  const Prompt* prompt = find_prompt(params.name);
  if (prompt == nullptr) return reply.error(unknown("prompt", params.name));
  auto arguments = arguments_of(*prompt, params.arguments);
  if (const auto* error = std::get_if<RpcError>(&arguments)) return reply.error(*error);
  pool.defer(
      call, std::move(reply), "prompts/get",
      [this, prompt, given = std::move(std::get<PromptArguments>(arguments))](
          const CallContext& context) -> ToolCalls::Ending {
        PromptResult prompted = prompt->get(given, context);
        if (!prompted.input_requests.is_null())
          return encode(input_required_result(prompted.input_requests, prompted.request_state,
                                              identity_, context.client.revision));
        OrderedJson messages = OrderedJson::array();
        for (PromptMessage& message : prompted.messages)
          messages.push_back({{"role", message.role}, {"content", std::move(message.content)}});
        OrderedJson result = OrderedJson::object();
        put(result, "description", prompt->description);
        result["messages"] = std::move(messages);
        return encode(complete_result(std::move(result), identity_, context.client.revision));
      });
}

std::variant<LibraryCalls::Suggest, RpcError> LibraryCalls::suggestion(
    const CompleteParams& params) const {
  const std::string name = string_member(params.argument, "name");
  if (!params.argument.is_object())
    return bad_argument("/params/argument", "type", "expected an object");
  for (const char* member : {"name", "value"}) {
    const auto found = params.argument.find(member);
    const std::string pointer = std::string("/params/argument/") + member;
    if (found == params.argument.end())
      return bad_argument(pointer, "required", "required, but missing");
    if (!found->is_string()) return bad_argument(pointer, "type", "expected a string");
  }
  const std::string prefix = string_member(params.argument, "value");
  const std::string kind = string_member(params.ref, "type");
  if (kind == "ref/prompt") {
    const std::string wanted = string_member(params.ref, "name");
    const Prompt* prompt = find_prompt(wanted);
    if (prompt == nullptr) return unknown("prompt", wanted);
    for (const PromptArgument& argument : prompt->arguments)
      if (argument.name == name && argument.complete)
        return Suggest([&argument, prefix](const CallContext& context) {
          return argument.complete(prefix, context);
        });
    return Suggest();
  }
  if (kind != "ref/resource")
    return bad_argument("/params/ref/type", "enum", "expected ref/prompt or ref/resource");
  const std::string uri = string_member(params.ref, "uri");
  for (const ResourceTemplate& family : resources_.templates) {
    if (family.uri_template != uri) continue;
    if (!family.complete) return Suggest();
    Json given = params.context.value("arguments", Json::object());
    if (!given.is_object()) given = Json::object();
    return Suggest([&family, name, prefix, given = std::move(given)](const CallContext& context) {
      return family.complete(name, prefix, given, context);
    });
  }
  return unknown("resource template", uri);
}

void LibraryCalls::complete(const Call& call, const CompleteParams& params, Reply reply,
                            ToolCalls& pool) const {
  auto found = suggestion(params);
  if (const auto* error = std::get_if<RpcError>(&found)) return reply.error(*error);
  pool.defer(call, std::move(reply), "completion/complete",
             [this, suggest = std::move(std::get<Suggest>(found))](
                 const CallContext& context) -> ToolCalls::Ending {
               std::vector<std::string> values;
               if (suggest) values = suggest(context);
               const std::size_t total = values.size();
               values.resize(std::min(total, kMaxSuggestions));
               OrderedJson completion = {
                   {"values", values}, {"total", total}, {"hasMore", total > values.size()}};
               return encode(complete_result({{"completion", std::move(completion)}}, identity_,
                                             context.client.revision));
             });
}

OrderedJson text_content(std::string text) { return {{"type", "text"}, {"text", std::move(text)}}; }

std::string to_base64(const std::string& bytes) {
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group =
          (group << 8U) | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      text += i + k <= bytes.size() ? kAlphabet[(group >> (18U - 6U * k)) & 63U] : '=';
  }
  return text;
}

}  // namespace assay::mcp
