// What a refusal tells of its violations: the first ones, as many as a reader can use, and how many
// there are. A call with 500 bad members is not answered with 500 lines. Pure.
#pragma once

#include <string>
#include <vector>

#include "mcp/json.h"
#include "mcp/schema.h"

namespace assay::mcp {

struct ToldViolations {
  // {violations: [{pointer, keyword?, message, suggestion?}], violations_total?}: the total stands
  // there if some are left out.
  OrderedJson error = OrderedJson::object();
  std::string text{};  // a line each, at most six
};

[[nodiscard]] ToldViolations told_violations(const std::vector<Violation>& violations);

}  // namespace assay::mcp
