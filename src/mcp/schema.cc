#include "mcp/schema.h"

#include <algorithm>
#include <array>
#include <functional>
#include <stdexcept>
#include <utility>

#include "mcp/place.h"
#include "mcp/schema_check.h"

namespace assay::mcp {
namespace {

// What stands under a keyword: a walk knows where schemas are, and a check need not look again.
enum class Holds {
  annotation,
  anything,
  text,
  texts,
  text_or_texts,
  list,
  number,
  positive,
  count,
  flag,
  schema,
  schema_list,
  schema_map
};

constexpr std::array<std::pair<std::string_view, Holds>, 48> kKeywords{{
    {"$schema", Holds::annotation},
    {"$id", Holds::annotation},
    {"$anchor", Holds::annotation},
    {"$comment", Holds::annotation},
    {"title", Holds::annotation},
    {"description", Holds::annotation},
    {"default", Holds::annotation},
    {"examples", Holds::annotation},
    {"format", Holds::annotation},
    {"deprecated", Holds::annotation},
    {"readOnly", Holds::annotation},
    {"writeOnly", Holds::annotation},
    {"contentMediaType", Holds::annotation},
    {"contentEncoding", Holds::annotation},
    {"type", Holds::text_or_texts},
    {"enum", Holds::list},
    {"const", Holds::anything},
    {"required", Holds::texts},
    {"minProperties", Holds::count},
    {"maxProperties", Holds::count},
    {"minItems", Holds::count},
    {"maxItems", Holds::count},
    {"uniqueItems", Holds::flag},
    {"minimum", Holds::number},
    {"maximum", Holds::number},
    {"exclusiveMinimum", Holds::number},
    {"exclusiveMaximum", Holds::number},
    {"multipleOf", Holds::positive},
    {"minLength", Holds::count},
    {"maxLength", Holds::count},
    {"pattern", Holds::text},
    {"$ref", Holds::text},
    {"additionalProperties", Holds::schema},
    {"propertyNames", Holds::schema},
    {"items", Holds::schema},
    {"not", Holds::schema},
    {"if", Holds::schema},
    {"then", Holds::schema},
    {"else", Holds::schema},
    {"prefixItems", Holds::schema_list},
    {"allOf", Holds::schema_list},
    {"anyOf", Holds::schema_list},
    {"oneOf", Holds::schema_list},
    {"properties", Holds::schema_map},
    {"patternProperties", Holds::schema_map},
    {"$defs", Holds::schema_map},
    {"x-json-text", Holds::flag},
    {"definitions", Holds::schema_map},
}};

std::optional<Holds> held_by(std::string_view keyword) {
  for (const auto& [name, holds] : kKeywords)
    if (name == keyword) return holds;
  if (keyword.starts_with("x-")) return Holds::annotation;
  return std::nullopt;
}

bool is_texts(const Json& value) {
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
}

// Schemas themselves are looked at where they stand.
bool fits(Holds holds, const Json& value) {
  switch (holds) {
    case Holds::annotation:
    case Holds::anything:
    case Holds::schema:
      return true;
    case Holds::text:
      return value.is_string();
    case Holds::texts:
      return is_texts(value);
    case Holds::text_or_texts:
      return value.is_string() || is_texts(value);
    case Holds::list:
    case Holds::schema_list:
      return value.is_array();
    case Holds::number:
      return value.is_number();
    case Holds::positive:
      return value.is_number() && value > 0;
    case Holds::count:
      return value.is_number_integer() && value >= 0;
    case Holds::flag:
      return value.is_boolean();
    case Holds::schema_map:
      return value.is_object();
  }
  return false;
}

using Visit = std::function<void(const Json& schema, const Place& place)>;

// Every subschema, the root first.
void walk(const Json& schema, const Place& place, const Visit& visit) {
  visit(schema, place);
  if (!schema.is_object()) return;
  for (const auto& [keyword, value] : schema.items()) {
    const auto holds = held_by(keyword);
    if (!holds) continue;
    const Place here(place, keyword);
    if (*holds == Holds::schema) walk(value, here, visit);
    if (*holds == Holds::schema_list && value.is_array())
      for (std::size_t i = 0; i < value.size(); ++i) walk(value[i], Place(here, i), visit);
    if (*holds == Holds::schema_map && value.is_object())
      for (const auto& [name, inner] : value.items()) walk(inner, Place(here, name), visit);
  }
}

}  // namespace

std::vector<std::string> Schema::unsupported_keywords(const Json& schema) {
  std::vector<std::string> found;
  walk(schema, Place(), [&found](const Json& inner, const Place& place) {
    if (!inner.is_object()) {
      if (!inner.is_boolean()) found.push_back(place.pointer() + " (not a schema)");
      return;
    }
    for (const auto& [keyword, value] : inner.items())
      if (const auto holds = held_by(keyword); !holds)
        found.push_back(Place(place, keyword).pointer());
      else if (!fits(*holds, value))
        found.push_back(Place(place, keyword).pointer() + " (not what the keyword takes)");
  });
  return found;
}

Schema::Schema(Json document) : document_(std::move(document)) {
  if (const auto unsupported = unsupported_keywords(document_); !unsupported.empty())
    throw std::invalid_argument("schema keyword that is not checked: " + unsupported.front());
  walk(document_, Place(), [this](const Json& inner, const Place& place) {
    if (!inner.is_object()) return;
    if (const auto ref = inner.find("$ref"); ref != inner.end())
      if (!ref->is_string() || !resolve(ref->get_ref<const std::string&>()))
        throw std::invalid_argument("schema $ref that leads nowhere: " + place.pointer());
    const auto keep = [this](const std::string& expression) {
      patterns_.try_emplace(expression, expression);
    };
    if (const auto pattern = inner.find("pattern"); pattern != inner.end())
      keep(pattern->get<std::string>());
    if (const auto named = inner.find("patternProperties"); named != inner.end())
      for (const auto& [expression, schema] : named->items()) keep(expression);
  });
}

const Json* Schema::resolve(std::string_view reference) const {
  if (reference.empty() || reference.front() != '#') return nullptr;
  try {
    const Json::json_pointer pointer{std::string(reference.substr(1))};
    return document_.contains(pointer) ? &document_.at(pointer) : nullptr;
  } catch (const Json::exception&) {
    return nullptr;  // not the syntax of a pointer: an $anchor, for one
  }
}

std::vector<Violation> Schema::check(const Json& value) const { return check_value(*this, value); }

std::string describe(const std::vector<Violation>& violations) {
  std::string lines;
  for (const Violation& violation : violations) {
    if (!lines.empty()) lines += '\n';
    std::string line =
        (violation.pointer.empty() ? "arguments" : violation.pointer) + ": " + violation.message;
    // A key or value of the client's must not break the line.
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    lines += line;
  }
  if (violations.size() >= kMaxViolations) lines += "\n(further violations are not listed)";
  return lines;
}

OrderedJson to_json(const std::vector<Violation>& violations) {
  OrderedJson list = OrderedJson::array();
  for (const Violation& violation : violations) {
    OrderedJson entry = {{"pointer", violation.pointer},
                         {"keyword", violation.keyword},
                         {"message", violation.message}};
    if (!violation.suggestion.empty()) entry["suggestion"] = violation.suggestion;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace assay::mcp
