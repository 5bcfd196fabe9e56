#include "mcp/arguments.h"

#include <algorithm>
#include <string>

#include "mcp/json_text.h"

namespace assay::mcp {
namespace {

bool lists(const Json& schema, const char* keyword, const Json& value) {
  const auto found = schema.find(keyword);
  if (found == schema.end()) return false;
  if (!found->is_array()) return *found == value;
  return std::find(found->begin(), found->end(), value) != found->end();
}

// As far as its type or its enumeration says so.
bool excludes_null(const Schema& root, const Json& schema) {
  const Json* said = &schema;
  if (const auto reference = schema.find("$ref"); reference != schema.end())
    said = root.resolve(reference->get_ref<const std::string&>());
  if (said == nullptr || !said->is_object()) return false;
  return (said->contains("type") && !lists(*said, "type", "null")) ||
         (said->contains("enum") && !lists(*said, "enum", nullptr));
}

void drop_nulls(const Schema& schema, Json& arguments) {
  if (!arguments.is_object() || !schema.document().is_object()) return;
  const auto properties = schema.document().find("properties");
  if (properties == schema.document().end()) return;
  for (auto member = arguments.begin(); member != arguments.end();) {
    const auto property = properties->find(member.key());
    const bool is_absent = member->is_null() && property != properties->end() &&
                           property->is_object() && excludes_null(schema, *property) &&
                           !lists(schema.document(), "required", member.key());
    member = is_absent ? arguments.erase(member) : std::next(member);
  }
}

}  // namespace

std::vector<Violation> check_arguments(const Schema& schema, Json& arguments) {
  drop_nulls(schema, arguments);
  std::vector<Violation> violations = expand_json_text(schema, arguments);
  if (violations.empty()) violations = schema.check(arguments);
  return violations;
}

}  // namespace assay::mcp
