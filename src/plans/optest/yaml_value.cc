#include "plans/optest/yaml_value.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>
#include <stdexcept>

namespace assay::optest {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;

struct TooLarge : std::runtime_error {
  using std::runtime_error::runtime_error;
};

Place place_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {.line = mark.line + 1, .column = mark.column + 1};
}

// Copies yaml-cpp's graph, in which an alias is the same node again, into a bounded tree.
class Copy {
 public:
  explicit Copy(Problems& problems) : problems_(problems) {}

  Value of(const YAML::Node& node, int depth) {
    if (++count_ > kMaxPlanValues) throw TooLarge("more values than a plan may have");
    if (depth > kMaxDepth) throw TooLarge("nested deeper than a plan may be");
    Value value{.place = place_of(node.Mark()), .entries = {}};
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        take_scalar(node, value);
        break;
      case YAML::NodeType::Sequence:
        value.kind = Value::Kind::sequence;
        for (const auto& item : node) value.items.push_back(of(item, depth + 1));
        break;
      case YAML::NodeType::Map:
        take_mapping(node, value, depth);
        break;
    }
    return value;
  }

 private:
  void take_scalar(const YAML::Node& node, Value& value) {
    value.text = node.Scalar();
    if (value.text.find('\0') != std::string::npos)
      problems_.error(value.place, "", "holds a NUL, which no path, name or command may");
    value.is_quoted = node.Tag() == "!";
    const bool is_null = !value.is_quoted && (value.text == "~" || value.text == "null" ||
                                              value.text == "Null" || value.text == "NULL");
    value.kind = is_null ? Value::Kind::null : Value::Kind::scalar;
  }

  // "<<: *defaults", or a list of them: keys that the mapping itself has not; the first one counts.
  void merge(const YAML::Node& node, Place place, std::set<std::string>& seen, Value& into,
             int depth) {
    if (node.IsSequence()) {
      for (const auto& one : node) merge_one(one, place, seen, into, depth);
      return;
    }
    merge_one(node, place, seen, into, depth);
  }

  void merge_one(const YAML::Node& node, Place place, std::set<std::string>& seen, Value& into,
                 int depth) {
    if (!node.IsMap()) {
      problems_.error(place, "", "'<<' merges mappings only");
      return;
    }
    Value merged = of(node, depth + 1);
    for (auto& entry : merged.entries) {
      if (seen.insert(entry.key).second) into.entries.push_back(std::move(entry));
    }
  }

  void take_mapping(const YAML::Node& node, Value& value, int depth) {
    value.kind = Value::Kind::mapping;
    std::set<std::string> seen;
    std::vector<std::pair<YAML::Node, Place>> merges;
    for (const auto& pair : node) {
      const Place place = place_of(pair.first.Mark());
      if (!pair.first.IsScalar()) {
        problems_.error(place, "", "a key must be a plain name");
        continue;
      }
      const std::string key = pair.first.Scalar();
      if (key.find('\0') != std::string::npos) {
        problems_.error(place, "", "a key holds a NUL");
        continue;
      }
      if (key == "<<" && pair.first.Tag() != "!") {
        if (!merges.empty()) problems_.error(place, "", "the key '<<' occurs twice");
        merges.emplace_back(pair.second, place);
        continue;
      }
      if (!seen.insert(key).second)
        problems_.error(place, "", "the key '" + key + "' occurs twice");
      value.entries.push_back({key, place, of(pair.second, depth + 1)});
    }
    for (const auto& [node_of_merge, place] : merges)
      merge(node_of_merge, place, seen, value, depth);
  }

  Problems& problems_;
  std::size_t count_ = 0;
};

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Without the sign: digits with one point, and perhaps an exponent.
bool is_decimal(std::string_view text) {
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('+') || power.starts_with('-')) power.remove_prefix(1);
    if (!all_digits(power)) return false;
    text = text.substr(0, exponent);
  }
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text);
  const auto whole = text.substr(0, point);
  const auto part = text.substr(point + 1);
  return (whole.empty() || all_digits(whole)) && (part.empty() || all_digits(part)) &&
         !(whole.empty() && part.empty());
}

template <typename Number>
std::optional<Number> parsed(std::string_view text, int base) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

const Value* Value::find(const std::string& key) const {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& one) { return one.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

std::optional<std::int64_t> as_integer(const Value& value) {
  if (!value.is_scalar() || value.is_quoted) return std::nullopt;
  std::string_view text = value.text;
  if (text.starts_with("0x")) return parsed<std::int64_t>(text.substr(2), 16);
  if (text.starts_with("0o")) return parsed<std::int64_t>(text.substr(2), 8);
  std::string_view digits = text;
  if (digits.starts_with('+') || digits.starts_with('-')) digits.remove_prefix(1);
  if (!all_digits(digits)) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  return parsed<std::int64_t>(text, 10);
}

std::optional<double> as_number(const Value& value) {
  if (const auto integer = as_integer(value)) return static_cast<double>(*integer);
  if (!value.is_scalar() || value.is_quoted) return std::nullopt;
  std::string_view text = value.text;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  if (text == ".inf" || text == ".Inf" || text == ".INF") {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (!is_decimal(text)) return std::nullopt;
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return sign * number;
}

std::optional<bool> as_boolean(const Value& value) {
  if (!value.is_scalar() || value.is_quoted) return std::nullopt;
  for (const char* word : {"true", "True", "TRUE"}) {
    if (value.text == word) return true;
  }
  for (const char* word : {"false", "False", "FALSE"}) {
    if (value.text == word) return false;
  }
  return std::nullopt;
}

json to_json(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return nullptr;
    case Value::Kind::scalar:
      break;
    case Value::Kind::sequence: {
      json list = json::array();
      for (const auto& item : value.items) list.push_back(to_json(item));
      return list;
    }
    case Value::Kind::mapping: {
      json object = json::object();
      for (const auto& entry : value.entries) object[entry.key] = to_json(entry.value);
      return object;
    }
  }
  if (const auto integer = as_integer(value)) return *integer;
  if (const auto number = as_number(value)) return *number;
  if (const auto boolean = as_boolean(value)) return *boolean;
  return value.text;
}

Value parse_yaml(const std::string& text, Problems& problems) {
  if (text.size() > kMaxPlanBytes) {
    problems.error({}, "",
                   "the plan has " + std::to_string(text.size()) + " bytes, more than " +
                       std::to_string(kMaxPlanBytes));
    return {};
  }
  try {
    const auto documents = YAML::LoadAll(text);
    if (documents.size() != 1) {
      problems.error(
          {}, "",
          "the file holds " + std::to_string(documents.size()) + " YAML documents, a plan is one");
      return {};
    }
    return Copy(problems).of(documents.front(), 0);
  } catch (const TooLarge& error) {
    problems.error({}, "", error.what());
  } catch (const YAML::Exception& error) {
    problems.error(place_of(error.mark), "", "not YAML: " + error.msg);
  }
  return {};
}

Value merged(const Value& base, const Value& over) {
  if (!base.is_mapping() || !over.is_mapping()) return over;
  Value result = base;
  result.place = over.place;
  for (const auto& entry : over.entries) {
    const auto known = std::find_if(result.entries.begin(), result.entries.end(),
                                    [&](const auto& one) { return one.key == entry.key; });
    if (known == result.entries.end())
      result.entries.push_back(entry);
    else
      *known = {entry.key, entry.place, merged(known->value, entry.value)};
  }
  return result;
}

}  // namespace assay::optest
