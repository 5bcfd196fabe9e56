// What a client is shown of a tool's schema. Checked is the whole of it; shown is what a model
// needs to write a call, since every session pays for every word of a list.
//
//   "x-listed": VALUE   anywhere: VALUE is shown in the place of the schema that has it
//   "x-brief": true     at the root: bounds, patterns and `additionalProperties: false` are not
//                       shown, nor what says that a member may also be null
//
// Never shown are marks of our own, and definitions that nothing shown refers to. Several types
// stand as branches of one each. Pure; any thread.
#pragma once

#include "mcp/json.h"

namespace assay::mcp {

[[nodiscard]] OrderedJson listed_input_schema(const OrderedJson& schema);
// Whatever fits the whole schema fits this one: its members by name and type; of one marked
// "x-brief" not even those.
[[nodiscard]] OrderedJson listed_output_schema(const OrderedJson& schema);

}  // namespace assay::mcp
