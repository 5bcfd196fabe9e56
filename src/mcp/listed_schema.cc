#include "mcp/listed_schema.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "mcp/json_text.h"

namespace assay::mcp {
namespace {

constexpr const char* kListedMark = "x-listed";
constexpr const char* kBriefMark = "x-brief";
constexpr std::array<std::string_view, 8> kBounds{"minLength", "maxLength",     "minItems",
                                                  "maxItems",  "maxProperties", "minProperties",
                                                  "minimum",   "maximum"};

// `type: [T, "null"]` as `type: T`: a member that may be null may as well be left out.
void drop_null(OrderedJson& schema) {
  const auto type = schema.find("type");
  if (type == schema.end() || !type->is_array()) return;
  OrderedJson kept = OrderedJson::array();
  for (const auto& one : *type) {
    if (one != "null") kept.push_back(one);
  }
  *type = kept.size() == 1 ? kept.front() : kept;
}

// `type: [T, U]` as `anyOf: [{type: T}, {type: U}]`: clients that make a schema of a single type of
// theirs out of ours refuse the first, and the tool with it.
void split_types(OrderedJson& schema) {
  const auto type = schema.find("type");
  if (type == schema.end() || !type->is_array() || schema.contains("anyOf")) return;
  OrderedJson branches = OrderedJson::array();
  for (const auto& one : *type) branches.push_back({{"type", one}});
  schema.erase("type");
  schema["anyOf"] = std::move(branches);
}

bool refers(const OrderedJson& schema) {
  if (schema.is_object() && schema.contains("$ref")) return true;
  return schema.is_structured() && std::any_of(schema.begin(), schema.end(), refers);
}

OrderedJson listed(const OrderedJson& schema, bool brief) {
  OrderedJson shown = schema;
  if (schema.is_object()) {
    const auto instead = schema.find(kListedMark);
    if (instead != schema.end()) shown = *instead;
  }
  if (shown.is_object() && brief) {
    for (const auto bound : kBounds) {
      // A property may have such a name: then it is a schema, no number.
      const auto found = shown.find(std::string(bound));
      if (found != shown.end() && found->is_number()) shown.erase(found);
    }
    if (shown.contains("pattern") && shown["pattern"].is_string()) shown.erase("pattern");
    // How members may be called is a bound too; what is left of it without its pattern says
    // nothing.
    const auto names = shown.find("propertyNames");
    if (names != shown.end() && names->is_object() && names->contains("pattern")) {
      shown.erase("propertyNames");
    }
    if (shown.value("additionalProperties", OrderedJson()) == false) {
      shown.erase("additionalProperties");
    }
    drop_null(shown);
  }
  if (shown.is_object()) split_types(shown);
  if (shown.is_structured()) {
    for (auto& inner : shown) inner = listed(inner, brief);
  }
  return shown;
}

}  // namespace

OrderedJson listed_input_schema(const OrderedJson& schema) {
  OrderedJson shown = listed(without_json_text_marks(schema), schema.value(kBriefMark, false));
  if (shown.erase(kBriefMark) > 0) shown.erase("$schema");
  if (!refers(shown)) shown.erase("$defs");
  return shown;
}

OrderedJson listed_output_schema(const OrderedJson& schema) {
  OrderedJson shown = {{"type", "object"}};
  for (const char* key : {"description", "required"}) {
    if (schema.contains(key)) shown[key] = schema.at(key);
  }
  const auto members = schema.find("properties");
  if (schema.value(kBriefMark, false) || members == schema.end()) return shown;
  OrderedJson properties = OrderedJson::object();
  for (const auto& [name, member] : members->items()) {
    properties[name] = OrderedJson::object();
    for (const char* key : {"type", "enum", "const", "description"}) {
      if (member.is_object() && member.contains(key)) properties[name][key] = member.at(key);
    }
  }
  shown["properties"] = std::move(properties);
  return shown;
}

}  // namespace assay::mcp
