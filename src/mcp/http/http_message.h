// One HTTP request and one HTTP answer as plain values: what the endpoints see of the network. No
// sockets and no parser here, so that every rule about headers and status codes is tested as a
// function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::mcp::http {

struct Field {
  std::string name{};
  std::string value{};
};
using Fields = std::vector<Field>;

struct HttpRequest {
  std::string method{};
  std::string path{};   // without the query, not decoded
  std::string query{};  // what follows '?', not decoded
  Fields fields{};
  std::string body{};
  // Of a target that names its server too ("http://NAME:PORT/path"); as good a claim as Host.
  std::optional<std::string> authority{};

  // Names compare without case. A field that occurs twice has its values joined by ", ", so it
  // equals nothing that was expected of it. Surrounding white space is not part of a value.
  [[nodiscard]] std::optional<std::string> field(std::string_view name) const;
  // A parameter of the query, as sent; nothing if it is not there.
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

struct HttpAnswer {
  int status = 200;
  std::string content_type{};  // empty: no body
  std::string body{};
  Fields fields{};
};

[[nodiscard]] std::string_view reason_of(int status);
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);
[[nodiscard]] std::string_view trimmed(std::string_view text);

// The status line and the fields, up to and including the empty line, and the body.
[[nodiscard]] std::string bytes_of(int status, const Fields& fields, std::string_view body = {});

}  // namespace assay::mcp::http
