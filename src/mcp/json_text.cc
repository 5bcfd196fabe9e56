#include "mcp/json_text.h"

#include <string>
#include <utility>

#include "mcp/codec.h"
#include "mcp/place.h"

namespace assay::mcp {
namespace {

// Bounds text inside text inside text, and schemas that refer to themselves.
constexpr int kMaxNesting = 1'000;

class Expansion {
 public:
  Expansion(const Schema& schema, std::vector<Violation>& found) : schema_(schema), found_(found) {}

  void expand(const Json& schema, Json& value, const Place& place) {
    if (!schema.is_object() || nesting_ >= kMaxNesting || found_.size() >= kMaxViolations) return;
    ++nesting_;
    if (schema.value(kJsonTextMark, false) && value.is_string()) replace(value, place);
    if (const auto ref = schema.find("$ref"); ref != schema.end())
      expand(*schema_.resolve(ref->get_ref<const std::string&>()), value, place);
    for (const char* combinator : {"allOf", "anyOf", "oneOf"})
      if (const auto branches = schema.find(combinator); branches != schema.end())
        for (const Json& branch : *branches) expand(branch, value, place);
    if (value.is_object()) expand_members(schema, value, place);
    if (value.is_array()) expand_items(schema, value, place);
    --nesting_;
  }

 private:
  void replace(Json& value, const Place& place) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return;
    auto decoded = Decoder().decode_json(text);
    if (auto* inner = std::get_if<Json>(&decoded)) {
      value = std::move(*inner);
      return;
    }
    found_.push_back({.pointer = place.pointer(),
                      .keyword = kJsonTextMark,
                      .message = "a string that should hold JSON does not: " +
                                 std::get<JsonFault>(decoded).message});
  }

  void expand_members(const Json& schema, Json& value, const Place& place) {
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    if (properties == schema.end() && others == schema.end()) return;
    for (auto& [key, member] : value.get_ref<Json::object_t&>()) {
      if (properties != schema.end() && properties->contains(key))
        expand(properties->at(key), member, Place(place, key));
      else if (others != schema.end())
        expand(*others, member, Place(place, key));
    }
  }

  void expand_items(const Json& schema, Json& value, const Place& place) {
    std::size_t next = 0;
    if (const auto prefix = schema.find("prefixItems"); prefix != schema.end())
      for (; next < prefix->size() && next < value.size(); ++next)
        expand((*prefix)[next], value[next], Place(place, next));
    if (const auto items = schema.find("items"); items != schema.end())
      for (; next < value.size(); ++next) expand(*items, value[next], Place(place, next));
  }

  const Schema& schema_;
  std::vector<Violation>& found_;
  int nesting_ = 0;
};

}  // namespace

std::vector<Violation> expand_json_text(const Schema& schema, Json& value) {
  std::vector<Violation> found;
  Expansion(schema, found).expand(schema.document(), value, Place());
  return found;
}

OrderedJson without_json_text_marks(const OrderedJson& schema) {
  OrderedJson served = schema;
  if (served.is_object()) served.erase(kJsonTextMark);
  if (served.is_structured())
    for (auto& inner : served) inner = without_json_text_marks(inner);
  return served;
}

}  // namespace assay::mcp
