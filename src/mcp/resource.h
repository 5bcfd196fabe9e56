// What clients may read by URI. The owner of the server hands over the functions; they may block
// and are called on a pool thread, concurrently. What belongs to somebody is listed and read only
// for that principal: to anybody else it does not exist.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mcp/tool.h"

namespace assay::mcp {

struct Resource {
  std::string uri{};
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::optional<std::int64_t> size_bytes{};
};

// A family of resources: `uri_template` is an RFC 6570 template of simple variables, "x://{id}".
struct ResourceTemplate {
  std::string uri_template{};
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
  // Values of a variable that begin with `prefix`, best first. Empty: there is nothing to suggest.
  // `given`: an object of what the template's other variables are already.
  std::function<std::vector<std::string>(const std::string& variable, const std::string& prefix,
                                         const Json& given, const CallContext& context)>
      complete{};
};

struct ResourceContents {
  std::string mime_type{};
  // Text, or bytes if `binary`; bytes are sent as Base64.
  std::string bytes{};
  bool binary = false;
};

struct Resources {
  std::function<std::vector<Resource>(const CallContext& context)> list{};
  std::vector<ResourceTemplate> templates{};
  // Nothing: there is none of that name, or it is somebody else's.
  std::function<std::optional<ResourceContents>(const std::string& uri, const CallContext& context)>
      read{};

  // Legacy clients may subscribe to changes; nothing here changes, so nothing is sent.
  bool subscriptions = false;

  [[nodiscard]] bool offered() const { return static_cast<bool>(read); }
};

[[nodiscard]] std::string to_base64(const std::string& bytes);

}  // namespace assay::mcp
