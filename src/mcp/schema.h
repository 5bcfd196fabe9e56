// Checks a JSON value against a JSON Schema and says everything that is wrong with it, in words a
// model can act on. The dialect is 2020-12, in this subset (anything else is refused when a schema
// is made, so nothing is silently unenforced):
//   type enum const · required properties patternProperties additionalProperties propertyNames
//   minProperties maxProperties · prefixItems items minItems maxItems uniqueItems
//   minimum maximum exclusiveMinimum exclusiveMaximum multipleOf · minLength maxLength pattern
//   allOf anyOf oneOf not if/then/else · $ref to "#" or "#/…" · $defs
// Annotations (title, description, examples, default, format, deprecated, $comment, $schema, $id,
// $anchor, x-…) are accepted and have no effect on the check.
// A Schema is immutable: any number of threads may check at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/json.h"
#include "mcp/pattern.h"

namespace assay::mcp {

struct Violation {
  std::string pointer{};     // RFC 6901; "" is the whole value
  std::string keyword{};     // what is violated: "maximum", "required", …
  std::string message{};     // "above maximum 1024"
  std::string suggestion{};  // the known name an unknown one resembles, or empty
};

inline constexpr std::size_t kMaxViolations = 50;

// "/item/io/launch/x: above maximum 1024 (is 2048)", one line per violation.
[[nodiscard]] std::string describe(const std::vector<Violation>& violations);
// [{pointer, keyword, message, suggestion?}]
[[nodiscard]] OrderedJson to_json(const std::vector<Violation>& violations);

class Schema {
 public:
  // Accepts everything.
  Schema() : document_(true) {}
  // Throws std::invalid_argument on keywords outside the subset, a $ref that leads nowhere, a bad
  // pattern.
  explicit Schema(Json document);

  // Empty: valid. At most kMaxViolations.
  [[nodiscard]] std::vector<Violation> check(const Json& value) const;

  // The keywords used in `schema` that the check lacks, each with its pointer:
  // "/properties/a/format2".
  [[nodiscard]] static std::vector<std::string> unsupported_keywords(const Json& schema);

  [[nodiscard]] const Json& document() const { return document_; }
  // The subschema that "#/…" names, or null.
  [[nodiscard]] const Json* resolve(std::string_view reference) const;
  [[nodiscard]] const Pattern& pattern(const std::string& expression) const {
    return patterns_.at(expression);
  }

 private:
  Json document_;
  std::map<std::string, Pattern> patterns_{};
};

}  // namespace assay::mcp
