#include "mcp/schema_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "mcp/near_name.h"
#include "mcp/place.h"
#include "mcp/utf8.h"

namespace assay::mcp {
namespace {

// A schema that refers to itself without consuming any of the value ends here.
constexpr int kMaxNesting = 1'000;

std::string_view type_name(const Json& value) {
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  return value.type_name();
}

bool has_type(const Json& value, std::string_view type) {
  if (type == "integer") {
    if (value.is_number_float()) return std::trunc(value.get<double>()) == value.get<double>();
    return value.is_number_integer();
  }
  if (type == "number") return value.is_number();
  return type == value.type_name();
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kMaxBytes = 60;
  if (value.is_object() || value.is_array()) return "an " + std::string(type_name(value));
  if (value.is_string())
    return '"' + shortened(value.get_ref<const std::string&>(), kMaxBytes) + '"';
  return shortened(value.dump(), kMaxBytes);
}

// "integer", "object or string", "a, b or c".
std::string either(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

std::vector<std::string> types_of(const Json& schema) {
  const auto type = schema.find("type");
  if (type == schema.end()) return {};
  if (type->is_string()) return {type->get<std::string>()};
  return type->get<std::vector<std::string>>();
}

class Walk {
 public:
  Walk(const Schema& schema, std::vector<Violation>& found, int nesting = 0)
      : schema_(schema), found_(found), nesting_(nesting) {}

  void check(const Json& schema, const Json& value, const Place& place) {
    if (full()) return;
    if (schema.is_boolean()) {
      if (!schema.get<bool>()) add(place, "false", "nothing is allowed here");
      return;
    }
    if (nesting_ >= kMaxNesting) return add(place, "$ref", "nested too deeply to be checked");
    ++nesting_;
    check_references(schema, value, place);
    if (check_type(schema, value, place)) {
      check_choice(schema, value, place);
      if (value.is_number()) check_number(schema, value, place);
      if (value.is_string()) check_string(schema, value, place);
      if (value.is_array()) check_array(schema, value, place);
      if (value.is_object()) check_object(schema, value, place);
      check_combinators(schema, value, place);
    }
    --nesting_;
  }

 private:
  [[nodiscard]] bool full() const { return found_.size() >= kMaxViolations; }

  void add(const Place& place, std::string_view keyword, std::string message,
           std::string suggestion = {}) {
    if (full()) return;
    found_.push_back({.pointer = place.pointer(),
                      .keyword = std::string(keyword),
                      .message = std::move(message),
                      .suggestion = std::move(suggestion)});
  }

  // Of the few members that most schemas have, mostly a size alone tells that it is none of them.
  static const Json* find(const Json& schema, std::string_view keyword) {
    constexpr std::size_t kFew = 8;
    const auto* members = schema.get_ptr<const Json::object_t*>();
    if (members == nullptr) return nullptr;
    if (members->size() > kFew) {
      const auto found = members->find(keyword);
      return found == members->end() ? nullptr : &found->second;
    }
    for (const auto& [name, value] : *members)
      if (name == keyword) return &value;
    return nullptr;
  }

  [[nodiscard]] std::vector<Violation> attempt(const Json& schema, const Json& value,
                                               const Place& place) const {
    std::vector<Violation> found;
    Walk(schema_, found, nesting_).check(schema, value, place);
    return found;
  }

  void check_references(const Json& schema, const Json& value, const Place& place) {
    if (const Json* ref = find(schema, "$ref"))
      check(*schema_.resolve(ref->get_ref<const std::string&>()), value, place);
  }

  // False: the value is of another kind altogether, and more words about it would only confuse.
  bool check_type(const Json& schema, const Json& value, const Place& place) {
    const std::vector<std::string> types = types_of(schema);
    const bool fits =
        types.empty() || std::any_of(types.begin(), types.end(),
                                     [&](const auto& type) { return has_type(value, type); });
    if (!fits)
      add(place, "type",
          "expected " + either(types) + ", got " + std::string(type_name(value)) +
              (value.is_primitive() && !value.is_null() ? " " + excerpt(value) : ""));
    return fits;
  }

  void check_choice(const Json& schema, const Json& value, const Place& place) {
    if (const Json* only = find(schema, "const"); only && *only != value)
      add(place, "const", "must be " + excerpt(*only) + ", got " + excerpt(value));
    const Json* choices = find(schema, "enum");
    if (!choices || std::find(choices->begin(), choices->end(), value) != choices->end()) return;
    std::vector<std::string> names;
    std::vector<std::string> words;
    for (const Json& choice : *choices) {
      names.push_back(excerpt(choice));
      if (choice.is_string()) words.push_back(choice.get<std::string>());
    }
    std::string near =
        value.is_string() ? nearest_name(value.get_ref<const std::string&>(), words) : "";
    add(place, "enum", "must be " + either(names) + ", got " + excerpt(value) + did_you_mean(near),
        near);
  }

  static std::string did_you_mean(const std::string& near) {
    return near.empty() ? "" : "; did you mean \"" + near + "\"?";
  }

  void check_number(const Json& schema, const Json& value, const Place& place) {
    const auto limit = [&](const char* keyword, const char* words, auto holds) {
      const Json* bound = find(schema, keyword);
      if (bound && !holds(value, *bound))
        add(place, keyword, words + bound->dump() + " (is " + excerpt(value) + ")");
    };
    limit("minimum", "below minimum ", std::greater_equal<Json>());
    limit("maximum", "above maximum ", std::less_equal<Json>());
    limit("exclusiveMinimum", "must be above ", std::greater<Json>());
    limit("exclusiveMaximum", "must be below ", std::less<Json>());
    limit("multipleOf", "must be a multiple of ", [](const Json& number, const Json& unit) {
      if (number.is_number_integer() && unit.is_number_unsigned() && number.is_number_unsigned())
        return number.get<std::uint64_t>() % unit.get<std::uint64_t>() == 0;
      const double quotient = number.get<double>() / unit.get<double>();
      return std::abs(quotient - std::round(quotient)) < 1e-9;
    });
  }

  void check_string(const Json& schema, const Json& value, const Place& place) {
    const auto& string = value.get_ref<const std::string&>();
    const Json* least = find(schema, "minLength");
    const Json* most = find(schema, "maxLength");
    if (least || most) {
      const std::size_t length = count_code_points(string);
      if (least && length < least->get<std::size_t>())
        add(place, "minLength",
            string.empty() ? "must not be empty"
                           : "shorter than " + least->dump() + " characters (has " +
                                 std::to_string(length) + ")");
      if (most && length > most->get<std::size_t>())
        add(place, "maxLength",
            "longer than " + most->dump() + " characters (has " + std::to_string(length) + ")");
    }
    if (const Json* pattern = find(schema, "pattern"))
      if (const auto& expression = pattern->get_ref<const std::string&>();
          !schema_.pattern(expression).found_in(string))
        add(place, "pattern", "must match " + expression + ", got " + excerpt(value));
  }

  void check_count(const Json& schema, std::size_t count, const Place& place,
                   const char* least_keyword, const char* most_keyword, const std::string& things) {
    if (const Json* least = find(schema, least_keyword); least && count < least->get<std::size_t>())
      add(place, least_keyword,
          "needs at least " + least->dump() + " " + things + " (has " + std::to_string(count) +
              ")");
    if (const Json* most = find(schema, most_keyword); most && count > most->get<std::size_t>())
      add(place, most_keyword,
          "allows at most " + most->dump() + " " + things + " (has " + std::to_string(count) + ")");
  }

  void check_array(const Json& schema, const Json& value, const Place& place) {
    check_count(schema, value.size(), place, "minItems", "maxItems", "items");
    if (const Json* unique = find(schema, "uniqueItems"); unique && *unique == true) {
      std::set<Json> seen;
      for (std::size_t i = 0; i < value.size(); ++i)
        if (!seen.insert(value[i]).second) add(Place(place, i), "uniqueItems", "occurs twice");
    }
    std::size_t next = 0;
    if (const Json* prefix = find(schema, "prefixItems"))
      for (; next < prefix->size() && next < value.size(); ++next)
        check((*prefix)[next], value[next], Place(place, next));
    if (const Json* items = find(schema, "items"))
      for (; next < value.size() && !full(); ++next) check(*items, value[next], Place(place, next));
  }

  void check_object(const Json& schema, const Json& value, const Place& place) {
    check_count(schema, value.size(), place, "minProperties", "maxProperties", "members");
    if (const Json* required = find(schema, "required"))
      for (const Json& name : *required)
        if (const auto& key = name.get_ref<const std::string&>(); !value.contains(key))
          add(Place(place, key), "required", "required, but missing");
    const Json* properties = find(schema, "properties");
    const Json* patterns = find(schema, "patternProperties");
    const Json* others = find(schema, "additionalProperties");
    const Json* names = find(schema, "propertyNames");
    for (const auto& [key, member] : value.items()) {
      if (full()) return;
      const Place here(place, key);
      if (names) check(*names, key, here);
      bool known = false;
      if (const Json* inner = properties ? find(*properties, key) : nullptr) {
        known = true;
        check(*inner, member, here);
      }
      if (patterns)
        for (const auto& [expression, inner] : patterns->items())
          if (schema_.pattern(expression).found_in(key)) {
            known = true;
            check(inner, member, here);
          }
      if (known || !others) continue;
      if (*others == false)
        unknown_member(schema, properties, value, key, here);
      else
        check(*others, member, here);
    }
  }

  void unknown_member(const Json& schema, const Json* properties, const Json& value,
                      const std::string& key, const Place& here) {
    std::vector<std::string> known;
    if (properties)
      for (const auto& [name, inner] : properties->items())
        if (!value.contains(name)) known.push_back(name);
    std::string near = nearest_name(key, known);
    std::string message = "unknown property" + did_you_mean(near);
    constexpr std::size_t kMaxNames = 40;
    if (near.empty() && known.empty() && !find(schema, "patternProperties"))
      message += properties && !properties->empty() ? "" : "; none is expected here";
    else if (near.empty() && !known.empty() && known.size() <= kMaxNames)
      message += "; expected: " + either(known);
    add(here, "additionalProperties", std::move(message), std::move(near));
  }

  void check_combinators(const Json& schema, const Json& value, const Place& place) {
    if (const Json* all = find(schema, "allOf"))
      for (const Json& branch : *all) check(branch, value, place);
    if (const Json* any = find(schema, "anyOf")) check_alternatives(*any, value, place, "anyOf");
    if (const Json* one = find(schema, "oneOf")) check_alternatives(*one, value, place, "oneOf");
    if (const Json* never = find(schema, "not"); never && attempt(*never, value, place).empty())
      add(place, "not", "has a form that is excluded here");
    if (const Json* condition = find(schema, "if")) {
      const Json* branch =
          find(schema, attempt(*condition, value, place).empty() ? "then" : "else");
      if (branch) check(*branch, value, place);
    }
  }

  // How far a failed alternative is from the value. A wrong kind is furthest; a wrong constant (the
  // usual discriminator) is further than any number of wrong details.
  static int remoteness(const std::vector<Violation>& violations, const std::string& here) {
    int sum = 0;
    for (const Violation& violation : violations) {
      if (violation.pointer == here && violation.keyword == "type") return 1'000'000;
      sum += violation.keyword == "const" || violation.keyword == "enum" ? 100 : 1;
    }
    return sum;
  }

  void check_alternatives(const Json& branches, const Json& value, const Place& place,
                          std::string_view keyword) {
    std::size_t matches = 0;
    std::vector<Violation> nearest;
    int least = -1;
    const std::string here = place.pointer();
    std::vector<std::string> kinds;
    for (const Json& branch : branches) {
      std::vector<Violation> found = attempt(branch, value, place);
      if (found.empty()) {
        ++matches;
        if (keyword == "anyOf") return;
        continue;
      }
      if (branch.is_object())
        for (std::string& type : types_of(branch)) kinds.push_back(std::move(type));
      const int far = remoteness(found, here);
      if (least < 0 || far < least) {
        least = far;
        nearest = std::move(found);
      }
    }
    if (matches == 1) return;
    if (matches > 1)
      return add(place, keyword,
                 "has " + std::to_string(matches) + " of the allowed forms at once");
    if (least >= 1'000'000 && !kinds.empty())
      return add(place, "type",
                 "expected " + either(kinds) + ", got " + std::string(type_name(value)));
    for (Violation& violation : nearest)
      if (!full()) found_.push_back(std::move(violation));
  }

  const Schema& schema_;
  std::vector<Violation>& found_;
  int nesting_;
};

}  // namespace

std::vector<Violation> check_value(const Schema& schema, const Json& value) {
  std::vector<Violation> found;
  Walk(schema, found).check(schema.document(), value, Place());
  return found;
}

}  // namespace assay::mcp
