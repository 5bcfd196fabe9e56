#include "mcp/lifecycle.h"

#include <cmath>
#include <cstdint>
#include <utility>

#include "mcp/codec.h"

namespace assay::mcp {
namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesKey = "io.modelcontextprotocol/clientCapabilities";
constexpr const char* kClientInfoKey = "io.modelcontextprotocol/clientInfo";
constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";
constexpr const char* kServerInfoKey = "io.modelcontextprotocol/serverInfo";

// The tools are fixed while the process lives, and the same for everybody.
constexpr Freshness kFixed{.ttl_ms = 3'600'000, .scope = "public"};

const Json* find(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string string_member(const Json& object, const char* key) {
  const Json* value = find(object, key);
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

RpcError bad_meta(const char* key, const char* what) {
  return {.code = ErrorCode::invalid_params,
          .message = std::string("params._meta[\"") + key + "\"] " + what};
}

OrderedJson server_info(const Identity& identity, Revision revision) {
  OrderedJson info = {{"name", identity.name}};
  if (revision >= Revision::v2025_06_18 && !identity.title.empty()) info["title"] = identity.title;
  info["version"] = identity.version;
  return info;
}

OrderedJson capabilities(const Offers& offers, Revision revision) {
  const Era era = era_of(revision);
  OrderedJson all = {{"tools", {{"listChanged", false}}}};
  if (offers.logging) all["logging"] = OrderedJson::object();
  if (offers.resources) all["resources"] = OrderedJson::object();
  if (offers.subscriptions && era == Era::legacy) all["resources"]["subscribe"] = true;
  if (offers.prompts) all["prompts"] = OrderedJson::object();
  if (offers.completions && revision >= Revision::v2025_03_26)
    all["completions"] = OrderedJson::object();
  if (offers.tasks && era == Era::modern)
    all["extensions"] = {{kTasksExtension, OrderedJson::object()}};
  return all;
}

OrderedJson annotations_of(const Tool& tool) {
  return {{"readOnlyHint", tool.annotations.read_only},
          {"destructiveHint", tool.annotations.destructive},
          {"idempotentHint", tool.annotations.idempotent},
          {"openWorldHint", tool.annotations.open_world}};
}

OrderedJson listed(const Entry& entry, Revision revision) {
  const Tool& tool = entry.tool;
  OrderedJson listing = {{"name", tool.name}};
  if (revision >= Revision::v2025_06_18 && !tool.title.empty()) listing["title"] = tool.title;
  if (!tool.description.empty()) listing["description"] = tool.description;
  listing["inputSchema"] = entry.served_input_schema;
  if (revision >= Revision::v2025_06_18 && !tool.output_schema.is_null())
    listing["outputSchema"] = entry.served_output_schema;
  if (revision >= Revision::v2025_03_26) listing["annotations"] = annotations_of(tool);
  if (revision >= Revision::v2025_06_18 && !tool.meta.is_null()) listing["_meta"] = tool.meta;
  return listing;
}

// 3 rather than 3.0, as people count.
OrderedJson amount(double value) {
  constexpr double kExact = 9e15;
  if (std::trunc(value) == value && std::abs(value) < kExact)
    return static_cast<std::int64_t>(value);
  return value;
}

// "content", "structuredContent", "isError", "resultType" and "_meta".
constexpr std::size_t kResultMembers = 5;

// Member by member, as everything that each answer holds: an initialiser list copies all of it.
OrderedJson text_block(std::string text) {
  OrderedJson block;
  block["type"] = "text";
  block["text"] = std::move(text);
  return block;
}

OrderedJson link_block(const ResourceLink& link) {
  OrderedJson block = {{"type", "resource_link"}, {"uri", link.uri}, {"name", link.name}};
  if (!link.title.empty()) block["title"] = link.title;
  if (!link.description.empty()) block["description"] = link.description;
  if (!link.mime_type.empty()) block["mimeType"] = link.mime_type;
  if (link.size_bytes) block["size"] = *link.size_bytes;
  return block;
}

// Clients older than resource links still learn what there is to read.
std::string links_as_text(const std::vector<ResourceLink>& links) {
  std::string lines;
  for (const ResourceLink& link : links)
    lines += (lines.empty() ? "" : "\n") + link.name + ": " + link.uri;
  return lines;
}

OrderedJson content_of(const ToolResult& result, Revision revision) {
  OrderedJson content = OrderedJson::array();
  if (!result.text.empty()) content.push_back(text_block(result.text));
  // Where there is no structured content, its text is the only way to all of it.
  const bool is_told = !result.text.empty() && revision >= Revision::v2025_06_18;
  if (!result.structured.is_null() && !is_told)
    content.push_back(text_block(encode(result.structured)));
  for (const OrderedJson& block : result.more_content)
    if (revision >= Revision::v2025_03_26 || block.value("type", "") != "audio")
      content.push_back(block);
  if (revision >= Revision::v2025_06_18)
    for (const ResourceLink& link : result.links) content.push_back(link_block(link));
  else if (!result.links.empty())
    content.push_back(text_block(links_as_text(result.links)));
  return content;
}

std::string_view text(TaskStatus status) {
  switch (status) {
    case TaskStatus::working:
      return "working";
    case TaskStatus::input_required:
      return "input_required";
    case TaskStatus::completed:
      return "completed";
    case TaskStatus::failed:
      return "failed";
    case TaskStatus::cancelled:
      return "cancelled";
  }
  return "failed";
}

OrderedJson handle_members(const TaskHandle& handle) {
  OrderedJson members = {{"taskId", handle.id},
                         {"status", text(handle.status)},
                         {"createdAt", handle.created_at},
                         {"lastUpdatedAt", handle.updated_at},
                         {"ttlMs", nullptr},
                         {"pollIntervalMs", handle.poll_interval_ms}};
  if (handle.ttl_ms) members["ttlMs"] = *handle.ttl_ms;
  if (!handle.message.empty()) members["statusMessage"] = handle.message;
  return members;
}

}  // namespace

Era era_of(const Json& params) {
  const Json* meta = find(params, "_meta");
  return meta && find(*meta, kVersionKey) ? Era::modern : Era::legacy;
}

std::variant<Client, RpcError> modern_client(const Json& params) {
  const Json& meta = *find(params, "_meta");
  const Json& version = *find(meta, kVersionKey);
  if (!version.is_string()) return bad_meta(kVersionKey, "must be a string");
  const Json* capabilities = find(meta, kCapabilitiesKey);
  if (!capabilities) return bad_meta(kCapabilitiesKey, "is required");
  if (!capabilities->is_object()) return bad_meta(kCapabilitiesKey, "must be an object");
  const std::string requested = version.get<std::string>();
  const std::optional<Revision> revision = revision_from(requested);
  if (!revision || era_of(*revision) == Era::legacy)
    return RpcError{.code = ErrorCode::unsupported_protocol_version,
                    .message = "unsupported protocol version",
                    .data = {{"supported", modern_revisions()}, {"requested", requested}}};
  Client client{.revision = *revision, .capabilities = *capabilities};
  if (const Json* info = find(meta, kClientInfoKey)) {
    client.name = string_member(*info, "name");
    client.version = string_member(*info, "version");
  }
  return client;
}

Client negotiate(const std::string& requested_revision, const Json& capabilities,
                 const Json& client_info) {
  const std::optional<Revision> requested = revision_from(requested_revision);
  const bool known = requested && era_of(*requested) == Era::legacy;
  return {.revision = known ? *requested : newest_legacy_revision,
          .capabilities = capabilities,
          .name = string_member(client_info, "name"),
          .version = string_member(client_info, "version")};
}

RpcError wrong_era(std::string_view method, Era met_in, bool in_session) {
  // A modern-only method without the envelope: the envelope is what is missing, but for a client
  // that has agreed on an older revision.
  if (met_in == Era::legacy && !in_session)
    return bad_meta(kVersionKey, "is required for this method");
  return {.code = ErrorCode::method_not_found,
          .message = "the method \"" + std::string(method) + "\" does not exist in this revision"};
}

RpcError not_initialized() {
  return {
      .code = ErrorCode::invalid_request,
      .message =
          std::string("send \"initialize\" first, or name a protocol version in params._meta[\"") +
          kVersionKey + "\"]"};
}

OrderedJson complete_result(OrderedJson result, const Identity& identity, Revision revision) {
  if (era_of(revision) == Era::legacy) return result;
  result["resultType"] = "complete";
  result["_meta"][kServerInfoKey] = server_info(identity, revision);
  return result;
}

OrderedJson input_required_result(const OrderedJson& requests, const std::string& state,
                                  const Identity& identity, Revision revision) {
  OrderedJson result = {{"inputRequests", requests}};
  if (!state.empty()) result["requestState"] = state;
  result = complete_result(std::move(result), identity, revision);
  result["resultType"] = "input_required";
  return result;
}

std::optional<RpcError> missing_capability(const OrderedJson& needs, const Client& client) {
  if (needs.is_null() || era_of(client.revision) == Era::legacy) return std::nullopt;
  for (const auto& [name, value] : needs.items())
    if (!client.capabilities.contains(name))
      return RpcError{.code = ErrorCode::missing_client_capability,
                      .message = "this call needs the client capability \"" + name + '"',
                      .data = {{"requiredCapabilities", {{name, value}}}}};
  return std::nullopt;
}

std::optional<RpcError> missing_tasks(const Client& client) {
  const Json* extensions = find(client.capabilities, "extensions");
  if (extensions && find(*extensions, kTasksExtension)) return std::nullopt;
  return RpcError{.code = ErrorCode::missing_client_capability,
                  .message = "this needs the client extension io.modelcontextprotocol/tasks",
                  .data = {{"requiredCapabilities",
                            {{"extensions", {{kTasksExtension, OrderedJson::object()}}}}}}};
}

OrderedJson task_members(const Identity& identity, const TaskState& task, Revision revision) {
  OrderedJson result = handle_members(task.handle);
  if (task.handle.status == TaskStatus::completed && task.result)
    result["result"] = call_result(identity, *task.result, revision);
  if (task.handle.status == TaskStatus::failed)
    result["error"] = {{"code", static_cast<int>(ErrorCode::internal_error)},
                       {"message", task.error}};
  if (task.handle.status == TaskStatus::input_required)
    result["inputRequests"] = task.input_requests;
  return result;
}

OrderedJson task_result(const Identity& identity, const TaskState& task, Revision revision) {
  return complete_result(task_members(identity, task, revision), identity, revision);
}

OrderedJson cacheable_result(OrderedJson result, const Identity& identity, Revision revision,
                             Freshness freshness) {
  if (era_of(revision) == Era::legacy) return result;
  result["ttlMs"] = freshness.ttl_ms;
  result["cacheScope"] = freshness.scope;
  return complete_result(std::move(result), identity, revision);
}

OrderedJson initialize_result(const Identity& identity, Revision revision) {
  OrderedJson result = {{"protocolVersion", text(revision)},
                        {"capabilities", capabilities(identity.offers, revision)},
                        {"serverInfo", server_info(identity, revision)}};
  if (!identity.instructions.empty()) result["instructions"] = identity.instructions;
  return result;
}

OrderedJson discover_result(const Identity& identity) {
  constexpr Revision kRevision = Revision::v2026_07_28;
  OrderedJson result = {{"supportedVersions", modern_revisions()},
                        {"capabilities", capabilities(identity.offers, kRevision)}};
  if (!identity.instructions.empty()) result["instructions"] = identity.instructions;
  return cacheable_result(std::move(result), identity, kRevision, kFixed);
}

OrderedJson tools_result(const Identity& identity, const Catalogue& catalogue, Revision revision) {
  OrderedJson tools = OrderedJson::array();
  for (const auto& entry : catalogue.entries()) tools.push_back(listed(*entry, revision));
  return cacheable_result({{"tools", std::move(tools)}}, identity, revision, kFixed);
}

OrderedJson call_result(const Identity& identity, const ToolResult& result, Revision revision) {
  if (!result.input_requests.is_null() && era_of(revision) == Era::modern)
    return input_required_result(result.input_requests, result.request_state, identity, revision);
  if (result.task) {
    OrderedJson created = complete_result(handle_members(*result.task), identity, revision);
    created["resultType"] = "task";
    return created;
  }
  OrderedJson member = OrderedJson::object();
  member.get_ref<OrderedJson::object_t&>().reserve(kResultMembers);
  member["content"] = content_of(result, revision);
  const bool presentable = era_of(revision) == Era::modern || result.structured.is_object();
  if (revision >= Revision::v2025_06_18 && !result.structured.is_null() && presentable)
    member["structuredContent"] = result.structured;
  member["isError"] = result.is_error;
  return complete_result(std::move(member), identity, revision);
}

OrderedJson progress_params(const ProgressToken& token, const Progress& progress,
                            Revision revision) {
  OrderedJson params = {{"progressToken", to_json(token)}, {"progress", amount(progress.done)}};
  if (progress.total) params["total"] = amount(*progress.total);
  if (!progress.message.empty() && revision >= Revision::v2025_03_26)
    params["message"] = progress.message;
  return params;
}

}  // namespace assay::mcp
