// Which era a POST belongs to, and whether its headers say what its body says. The body decides;
// the headers are copies of it for whatever stands between client and server, and must agree. Pure
// functions, in the order in which the checks are made.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mcp/http/http_message.h"
#include "mcp/http/refusal.h"
#include "mcp/message.h"
#include "mcp/param_headers.h"
#include "mcp/revision.h"

namespace assay::mcp::http {

inline constexpr std::string_view kVersionHeader = "MCP-Protocol-Version";

// The type and subtype of Content-Type, whatever parameters follow, is JSON.
[[nodiscard]] bool is_json(const HttpRequest& request);
// The Accept header admits the media type; a request without one admits everything.
[[nodiscard]] bool accepts(const HttpRequest& request, std::string_view media_type);
// The Accept header names the media type itself, so its sender knows what to do with it.
[[nodiscard]] bool names(const HttpRequest& request, std::string_view media_type);

//   the envelope names a revision                     modern
//   `initialize` under a modern header                400, -32020
//   no envelope under a modern header                 400, -32602
//   anything else                                     legacy
[[nodiscard]] std::variant<Era, Refusal> era_of(const Request& request, const HttpRequest& http);
// Nobody can be told what is wrong with a notification: header or envelope make it modern.
[[nodiscard]] Era era_of(const Notification& notification, const HttpRequest& http);
[[nodiscard]] bool header_is_modern(const HttpRequest& http);

// What stands against a modern request:
//   a bad envelope                                    400, -32602
//   MCP-Protocol-Version missing or another one       400, -32020
//   a revision we do not speak                        400, -32022
//   Mcp-Method, Mcp-Name missing or another one       400, -32020
[[nodiscard]] std::optional<Refusal> check_modern(const Request& request, const HttpRequest& http);

// What stands against the Mcp-Param-… headers of a tools/call: 400, -32020 if one is missing,
// another than the argument, there without it, or badly encoded.
[[nodiscard]] std::optional<Refusal> check_param_headers(const Request& request,
                                                         const HttpRequest& http,
                                                         const std::vector<ParamHeader>& headers);

// The header's value, decoded if it is "=?base64?…?="; nothing if it is badly encoded.
[[nodiscard]] std::optional<std::string> decoded_header(std::string_view value);

}  // namespace assay::mcp::http
