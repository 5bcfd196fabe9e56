#include "mcp/http/envelope_check.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "mcp/lifecycle.h"
#include "mcp/utf8.h"

namespace assay::mcp::http {
namespace {

constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr std::size_t kMaxEchoBytes = 100;

// Which member of params the Mcp-Name header repeats.
const char* name_member(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/cancel" || method == "tasks/update")
    return "taskId";
  return nullptr;
}

Refusal mismatch(const RequestId& id, std::string message) {
  return {.status = 400,
          .id = id,
          .error = {.code = ErrorCode::header_mismatch, .message = std::move(message)}};
}

std::string in_quotes(std::string_view text) { return '"' + shortened(text, kMaxEchoBytes) + '"'; }

std::optional<Refusal> compare(const RequestId& id, std::string_view header,
                               const std::optional<std::string>& sent, std::string_view body) {
  if (!sent)
    return mismatch(
        id, "the header " + std::string(header) + " is missing; the body says " + in_quotes(body));
  if (*sent != body)
    return mismatch(id, "the header " + std::string(header) + " says " + in_quotes(*sent) +
                            ", the body says " + in_quotes(body));
  return std::nullopt;
}

std::optional<Refusal> check_name(const Request& request, const HttpRequest& http) {
  const char* member = name_member(request.method);
  if (member == nullptr) return std::nullopt;
  const std::optional<std::string> sent = http.field("Mcp-Name");
  const std::optional<std::string> decoded = sent ? decoded_header(*sent) : std::nullopt;
  if (sent && !decoded)
    return mismatch(request.id, "the header Mcp-Name is not valid Base64 of UTF-8");
  const auto named = request.params.find(member);
  // What the body lacks is the handler's to refuse, unless the header claims it was there.
  if (named == request.params.end() || !named->is_string()) {
    if (!sent) return std::nullopt;
    return mismatch(request.id,
                    std::string("the header Mcp-Name is there, params.") + member + " is not");
  }
  return compare(request.id, "Mcp-Name", decoded, named->get_ref<const std::string&>());
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Strict: padded, no stray bits, nothing that is not of the alphabet.
std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const int value = sextet(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
  }
  const bool stray = (bits & ((1U << static_cast<unsigned>(count)) - 1U)) != 0;
  if (stray || count == 6) return std::nullopt;
  return bytes;
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();)
    if (next_code_point(text, at) == kBadByte) return false;
  return true;
}

// "+7" and "7.0" are the integer 7 as well.
bool says_number(std::string_view header, const Json& argument) {
  if (!argument.is_number() || header.empty()) return false;
  if (header.front() == '+') header.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(header.data(), header.data() + header.size(), value);
  return fault == std::errc() && end == header.data() + header.size() &&
         value == argument.get<double>();
}

// The quality of one entry of an Accept header: "text/html;q=0" refuses.
bool is_refused(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::size_t end = std::min(parameters.find(';'), parameters.size());
    const std::string_view one = trimmed(parameters.substr(0, end));
    parameters.remove_prefix(std::min(end + 1, parameters.size()));
    if (one.size() > 2 && same_name(one.substr(0, 2), "q="))
      return one.substr(2).find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

// An entry of the Accept header whose type `matches`, and that is not refused by q=0.
template <class Matches>
bool admits(std::string_view header, Matches matches) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(','), header.size());
    const std::string_view entry = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    const std::size_t semicolon = std::min(entry.find(';'), entry.size());
    if (matches(trimmed(entry.substr(0, semicolon))) && !is_refused(entry.substr(semicolon)))
      return true;
  }
  return false;
}

}  // namespace

bool is_json(const HttpRequest& request) {
  const auto type = request.field("Content-Type");
  return type &&
         same_name(trimmed(std::string_view(*type).substr(0, type->find(';'))), "application/json");
}

bool accepts(const HttpRequest& request, std::string_view media_type) {
  const auto header = request.field("Accept");
  if (!header) return true;
  const std::string family = std::string(media_type.substr(0, media_type.find('/'))) + "/*";
  return admits(*header, [&](std::string_view type) {
    return same_name(type, media_type) || same_name(type, family) || type == "*/*";
  });
}

bool names(const HttpRequest& request, std::string_view media_type) {
  return admits(request.field("Accept").value_or(""),
                [&](std::string_view type) { return same_name(type, media_type); });
}

bool header_is_modern(const HttpRequest& http) {
  const auto sent = http.field(kVersionHeader);
  const auto revision = sent ? revision_from(*sent) : std::nullopt;
  return revision && mcp::era_of(*revision) == Era::modern;
}

std::variant<Era, Refusal> era_of(const Request& request, const HttpRequest& http) {
  if (mcp::era_of(request.params) == Era::modern) return Era::modern;
  if (!header_is_modern(http)) return Era::legacy;
  if (request.method == "initialize")
    return mismatch(request.id,
                    "\"initialize\" does not exist in the revision that the header names; name the "
                    "newest one without it, or send \"server/discover\"");
  return Refusal{.status = 400,
                 .id = request.id,
                 .error = {.code = ErrorCode::invalid_params,
                           .message = std::string("params._meta[\"") + kVersionKey +
                                      "\"] is required in the revision that the header names"}};
}

Era era_of(const Notification& notification, const HttpRequest& http) {
  return header_is_modern(http) ? Era::modern : mcp::era_of(notification.params);
}

std::optional<Refusal> check_modern(const Request& request, const HttpRequest& http) {
  const auto client = modern_client(request.params);
  const auto* fault = std::get_if<RpcError>(&client);
  if (fault != nullptr && fault->code == ErrorCode::invalid_params)
    return Refusal{.status = 400, .id = request.id, .error = *fault};
  const auto& version = request.params.at("_meta").at(kVersionKey).get_ref<const std::string&>();
  if (auto refusal = compare(request.id, kVersionHeader, http.field(kVersionHeader), version))
    return refusal;
  if (fault != nullptr) return Refusal{.status = 400, .id = request.id, .error = *fault};
  if (auto refusal = compare(request.id, "Mcp-Method", http.field("Mcp-Method"), request.method))
    return refusal;
  return check_name(request, http);
}

std::optional<Refusal> check_param_headers(const Request& request, const HttpRequest& http,
                                           const std::vector<ParamHeader>& headers) {
  const auto found = request.params.find("arguments");
  const Json arguments = found == request.params.end() ? Json::object() : *found;
  for (const ParamHeader& header : headers) {
    const std::string name = "Mcp-Param-" + header.name;
    const std::optional<std::string> sent = http.field(name);
    const std::optional<std::string> decoded = sent ? decoded_header(*sent) : std::nullopt;
    if (sent && !decoded)
      return mismatch(request.id, "the header " + name + " is not valid Base64 of UTF-8");
    const Json* argument = argument_at(arguments, header.path);
    if (argument == nullptr || argument->is_null()) {
      if (sent)
        return mismatch(request.id, "the header " + name + " is there, its argument is not");
      continue;
    }
    if (decoded && says_number(*decoded, *argument)) continue;
    const std::string body =
        argument->is_string() ? argument->get<std::string>() : argument->dump();
    if (auto refusal = compare(request.id, name, decoded, body)) return refusal;
  }
  return std::nullopt;
}

std::optional<std::string> decoded_header(std::string_view value) {
  constexpr std::string_view kOpening = "=?base64?";
  constexpr std::string_view kClosing = "?=";
  if (value.size() < kOpening.size() + kClosing.size() || !value.starts_with(kOpening) ||
      !value.ends_with(kClosing))
    return std::string(value);
  value.remove_prefix(kOpening.size());
  value.remove_suffix(kClosing.size());
  auto bytes = from_base64(value);
  if (bytes && !is_utf8(*bytes)) return std::nullopt;
  return bytes;
}

}  // namespace assay::mcp::http
