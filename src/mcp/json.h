// The two JSON types of this room. Json is what arrives: its objects are balanced trees, so that a
// hostile object with a million members costs no quadratic lookups. OrderedJson is what leaves: its
// members keep the order in which the author wrote them, because a model reads from the top. Each
// converts implicitly into the other.
#pragma once

#include <nlohmann/json.hpp>

namespace assay::mcp {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

}  // namespace assay::mcp
