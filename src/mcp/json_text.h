// Some clients send an object as a string that holds its JSON. Where a schema says
// `"x-json-text": true`, such a string is read and replaced by what it holds, before the check:
//
//   "io": {"type": ["object", "string"], "x-json-text": true, ...}
//
//   {"io": {"grid": 1}}        stays
//   {"io": "{\"grid\": 1}"}    becomes {"io": {"grid": 1}}
//   {"io": "saxpy_contract"}   stays a string: it does not begin with { or [, so `type` decides
//   {"io": "{\"grid\": "}      is a violation: it was meant as JSON and is none
//
// The mark may stand in any subschema that the check reaches through properties,
// additionalProperties, items, prefixItems, $ref, allOf, anyOf or oneOf; marks inside a replaced
// value count too. The listing served to clients does not show it.
#pragma once

#include <vector>

#include "mcp/json.h"
#include "mcp/schema.h"

namespace assay::mcp {

inline constexpr const char* kJsonTextMark = "x-json-text";

[[nodiscard]] std::vector<Violation> expand_json_text(const Schema& schema, Json& value);

// The schema as it is served: without the mark.
[[nodiscard]] OrderedJson without_json_text_marks(const OrderedJson& schema);

}  // namespace assay::mcp
