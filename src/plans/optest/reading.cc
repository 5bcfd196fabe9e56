#include "plans/optest/reading.h"

#include <algorithm>
#include <cmath>

namespace assay::optest {

bool Reading::is_mapping(const Value& value, const std::string& where,
                         const std::vector<std::string>& known) {
  if (!value.is_mapping()) {
    want(value, where, "a mapping");
    return false;
  }
  for (const auto& entry : value.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    const std::string near = closest(entry.key, known);
    problems_.warn(entry.place, below(where, entry.key),
                   "unknown key, ignored" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }
  return true;
}

const Value* Reading::given(const Value& mapping, const std::string& key) const {
  const Value* value = mapping.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void Reading::want(const Value& value, const std::string& where, const std::string& what) {
  problems_.error(value.place, where, "must be " + what);
}

std::optional<std::string> Reading::text(const Value& mapping, const std::string& where,
                                         const std::string& key) {
  const Value* value = given(mapping, key);
  if (value == nullptr) return std::nullopt;
  if (value->is_scalar()) return value->text;
  want(*value, below(where, key), "a text");
  return std::nullopt;
}

std::string Reading::required_text(const Value& mapping, const std::string& where,
                                   const std::string& key) {
  const auto value = text(mapping, where, key);
  if (!value || value->empty()) {
    const Value* there = given(mapping, key);
    problems_.error(there != nullptr ? there->place : mapping.place, below(where, key),
                    "is required");
  }
  return value.value_or("");
}

std::optional<std::int64_t> Reading::integer(const Value& mapping, const std::string& where,
                                             const std::string& key, std::int64_t least,
                                             std::int64_t most) {
  const Value* value = given(mapping, key);
  if (value == nullptr) return std::nullopt;
  const auto number = as_integer(*value);
  if (number && *number >= least && *number <= most) return number;
  want(*value, below(where, key),
       "an integer from " + std::to_string(least) + " to " + std::to_string(most));
  return std::nullopt;
}

std::optional<double> Reading::amount(const Value& mapping, const std::string& where,
                                      const std::string& key) {
  const Value* value = given(mapping, key);
  if (value == nullptr) return std::nullopt;
  const auto number = as_number(*value);
  if (number && std::isfinite(*number) && *number >= 0) return number;
  want(*value, below(where, key), "a number, not negative");
  return std::nullopt;
}

std::vector<std::string> Reading::texts(const Value& mapping, const std::string& where,
                                        const std::string& key) {
  std::vector<std::string> list;
  const Value* value = given(mapping, key);
  if (value == nullptr) return list;
  if (!value->is_sequence()) {
    want(*value, below(where, key), "a list of texts");
    return list;
  }
  for (std::size_t i = 0; i < value->items.size(); ++i) {
    const Value& item = value->items[i];
    if (item.is_scalar())
      list.push_back(item.text);
    else
      want(item, at(below(where, key), i), "a text");
  }
  return list;
}

std::map<std::string, std::string> Reading::text_map(const Value& mapping, const std::string& where,
                                                     const std::string& key) {
  std::map<std::string, std::string> map;
  const Value* value = given(mapping, key);
  if (value == nullptr) return map;
  if (!value->is_mapping()) {
    want(*value, below(where, key), "a mapping of texts");
    return map;
  }
  for (const auto& entry : value->entries) {
    if (entry.value.is_scalar() || entry.value.is_null())
      map[entry.key] = entry.value.text;
    else
      want(entry.value, below(below(where, key), entry.key), "a text");
  }
  return map;
}

nlohmann::json Reading::object(const Value& mapping, const std::string& where,
                               const std::string& key) {
  const Value* value = given(mapping, key);
  if (value == nullptr) return nlohmann::json::object();
  if (value->is_mapping()) return to_json(*value);
  want(*value, below(where, key), "a mapping");
  return nlohmann::json::object();
}

}  // namespace assay::optest
