#include "mcp/http/access.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <stdexcept>

namespace assay::mcp::http {
namespace {

// The name in "name:port", "[::1]:port" or either without a port.
std::string_view name_in(std::string_view authority) {
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    return end == std::string_view::npos ? authority : authority.substr(0, end + 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.size() > 1 && text.size() <= 6 &&
          std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; }));
}

bool names_this_machine(std::string_view name) {
  return same_name(name, "localhost") || name == "127.0.0.1" || name == "[::1]";
}

HttpAnswer refusal(int status, const char* why) {
  return {.status = status,
          .content_type = "application/json",
          .body = std::string(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":")") +
                  why + "\"}}"};
}

std::string principal_named(const std::array<std::uint8_t, 32>& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name = "bearer:";
  for (std::size_t i = 0; i < 8; ++i)
    name.append({kDigits[digest[i] >> 4U], kDigits[digest[i] & 15U]});
  return name;
}

}  // namespace

Access::Access(AccessRules rules) : rules_(std::move(rules)) {
  for (const std::string& token : rules_.tokens) {
    const Digest digest = digest_of(token);
    credentials_.push_back({.digest = digest, .principal = principal_named(digest)});
  }
  rules_.tokens.clear();  // only their digests are kept
}

Access::Digest Access::digest_of(std::string_view token) {
  Digest digest{};
  unsigned size = 0;
  if (EVP_Digest(token.data(), token.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("SHA-256 is not available");
  return digest;
}

std::variant<std::string, HttpAnswer> Access::admit(const HttpRequest& request, Door door) const {
  const auto host = request.field("Host");
  if (!host) return refusal(400, "the Host header is missing");
  if (host->find(',') != std::string::npos) return refusal(400, "there is more than one Host");
  if (!host_is_ours(*host) || !host_is_ours(request.authority.value_or(*host)))
    return refusal(421, "this server does not answer to that Host");
  const auto origin = request.field("Origin");
  if (origin && !origin_is_allowed(*origin)) return refusal(403, "this Origin is not allowed");
  // A browser asks leave without credentials.
  if (credentials_.empty() || request.method == "OPTIONS") return std::string("local");
  if (door == Door::open && !request.field("Authorization")) return std::string();
  if (auto principal = principal_of(request.field("Authorization").value_or("")))
    return std::move(*principal);
  HttpAnswer answer = refusal(401, "a bearer token is required");
  answer.fields.push_back({"WWW-Authenticate", "Bearer realm=\"assay\""});
  return answer;
}

bool Access::host_is_ours(std::string_view host) const {
  const std::string_view name = name_in(host);
  if (!is_port(host.substr(name.size()))) return false;
  return names_this_machine(name) ||
         std::any_of(rules_.hosts.begin(), rules_.hosts.end(), [name](const std::string& ours) {
           return ours == "*" || same_name(ours, name);
         });
}

bool Access::origin_is_allowed(std::string_view origin) const {
  for (const std::string& allowed : rules_.origins)
    if (allowed == "*" || same_name(allowed, origin)) return true;
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string_view::npos) return false;
  if (origin.substr(0, scheme) != "http" && origin.substr(0, scheme) != "https") return false;
  const std::string_view authority = origin.substr(scheme + 3);
  const std::string_view name = name_in(authority);
  return names_this_machine(name) && is_port(authority.substr(name.size()));
}

// Every credential is compared, in time that does not depend on how far one agrees.
std::optional<std::string> Access::principal_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!same_name(authorization.substr(0, kScheme.size()), kScheme)) return std::nullopt;
  const Digest shown = digest_of(trimmed(authorization.substr(kScheme.size())));
  std::optional<std::string> principal;
  for (const Credential& credential : credentials_)
    if (CRYPTO_memcmp(shown.data(), credential.digest.data(), shown.size()) == 0)
      principal = credential.principal;
  return principal;
}

Fields Access::cross_origin_fields(const HttpRequest& request) const {
  const auto origin = request.field("Origin");
  if (!origin || !origin_is_allowed(*origin)) return {};
  Fields fields{{"Access-Control-Allow-Origin", *origin},
                {"Vary", "Origin"},
                {"Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate"}};
  if (request.method != "OPTIONS") return fields;
  fields.push_back({"Access-Control-Allow-Methods", "GET, POST, DELETE"});
  fields.push_back({"Access-Control-Allow-Headers",
                    request.field("Access-Control-Request-Headers").value_or("*")});
  fields.push_back({"Access-Control-Max-Age", "600"});
  return fields;
}

}  // namespace assay::mcp::http
