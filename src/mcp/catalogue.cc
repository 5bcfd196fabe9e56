#include "mcp/catalogue.h"

#include <stdexcept>
#include <utility>

#include "mcp/listed_schema.h"
#include "mcp/near_name.h"

namespace assay::mcp {
namespace {

// Clients drop a whole list for one root that is no object.
void require_object_root(const OrderedJson& schema, const char* which) {
  if (!schema.is_object() || schema.value("type", OrderedJson()) != "object")
    throw std::invalid_argument(std::string("the root of the ") + which +
                                " must be of type object");
}

bool is_tool_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  return !name.empty() && name.size() <= 64 && name.find_first_not_of(kAllowed) == name.npos;
}

std::unique_ptr<Entry> make_entry(Tool tool) {
  require_object_root(tool.input_schema, "input schema");
  if (!tool.run) throw std::invalid_argument("it has no function");
  auto entry = std::make_unique<Entry>();
  entry->input = Schema(Json(tool.input_schema));
  entry->headers = param_headers(entry->input.document());
  entry->served_input_schema = listed_input_schema(tool.input_schema);
  if (!tool.output_schema.is_null()) {
    require_object_root(tool.output_schema, "output schema");
    entry->output = Schema(Json(tool.output_schema));
    entry->served_output_schema = listed_output_schema(tool.output_schema);
  }
  entry->tool = std::move(tool);
  return entry;
}

}  // namespace

Catalogue::Catalogue(std::vector<Tool> tools) {
  for (Tool& tool : tools) {
    const std::string name = tool.name;
    try {
      entries_.push_back(make_entry(std::move(tool)));
      const Entry* entry = entries_.back().get();
      take_name(name, {.entry = entry});
      for (const Alias& alias : entry->tool.aliases)
        take_name(alias.name, {.entry = entry, .alias = &alias});
    } catch (const std::invalid_argument& fault) {
      throw std::invalid_argument("tool \"" + name + "\": " + fault.what());
    }
  }
}

void Catalogue::take_name(const std::string& name, Lookup meaning) {
  if (!is_tool_name(name)) throw std::invalid_argument("\"" + name + "\" is no name for a tool");
  if (!names_.emplace(name, meaning).second)
    throw std::invalid_argument("the name \"" + name + "\" is taken");
}

Lookup Catalogue::find(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? Lookup{} : found->second;
}

std::string Catalogue::nearest(std::string_view name) const {
  std::vector<std::string> listed;
  for (const auto& entry : entries_) listed.push_back(entry->tool.name);
  return nearest_name(name, listed);
}

}  // namespace assay::mcp
