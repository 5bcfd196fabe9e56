#include "mcp/http/http_message.h"

#include <algorithm>
#include <array>
#include <utility>

namespace assay::mcp::http {
namespace {

constexpr std::array<std::pair<int, std::string_view>, 23> kReasons{{
    {200, "OK"},
    {202, "Accepted"},
    {204, "No Content"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

constexpr std::size_t kUsualHeadBytes = 512;

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string_view reason_of(int status) {
  for (const auto& [code, reason] : kReasons)
    if (code == status) return reason;
  return "Unknown";
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string> HttpRequest::field(std::string_view name) const {
  std::optional<std::string> value;
  for (const Field& field : fields) {
    if (!same_name(field.name, name)) continue;
    if (value)
      value->append(", ").append(trimmed(field.value));
    else
      value = std::string(trimmed(field.value));
  }
  return value;
}

std::optional<std::string> HttpRequest::parameter(std::string_view name) const {
  std::string_view rest = query;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != name) continue;
    return std::string(pair.substr(std::min(equals + 1, pair.size())));
  }
  return std::nullopt;
}

std::string bytes_of(int status, const Fields& fields, std::string_view body) {
  std::string head;
  head.reserve(kUsualHeadBytes + body.size());
  head.append("HTTP/1.1 ").append(std::to_string(status)).push_back(' ');
  head.append(reason_of(status)).append("\r\n");
  for (const Field& field : fields)
    head.append(field.name).append(": ").append(field.value).append("\r\n");
  head.append("\r\n").append(body);
  return head;
}

}  // namespace assay::mcp::http
