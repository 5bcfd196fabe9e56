#include "mcp/param_headers.h"

namespace assay::mcp {
namespace {

void collect(const Json& schema, const std::vector<std::string>& path,
             std::vector<ParamHeader>& into) {
  if (!schema.is_object()) return;
  if (const auto mark = schema.find("x-mcp-header");
      mark != schema.end() && mark->is_string() && !path.empty())
    into.push_back({.path = path, .name = mark->get<std::string>()});
  const auto properties = schema.find("properties");
  if (properties == schema.end() || !properties->is_object()) return;
  for (const auto& [name, member] : properties->items()) {
    std::vector<std::string> inner = path;
    inner.push_back(name);
    collect(member, inner, into);
  }
}

}  // namespace

std::vector<ParamHeader> param_headers(const Json& schema) {
  std::vector<ParamHeader> headers;
  collect(schema, {}, headers);
  return headers;
}

const Json* argument_at(const Json& arguments, const std::vector<std::string>& path) {
  const Json* value = &arguments;
  for (const std::string& name : path) {
    const auto found = value->is_object() ? value->find(name) : value->end();
    if (found == value->end()) return nullptr;
    value = &*found;
  }
  return value;
}

}  // namespace assay::mcp
