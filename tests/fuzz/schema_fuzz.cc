// The schema checker against any schema and any value: the first line is the one, the rest the
// other. The claims: a schema is refused with a reason or checks everything; a check ends, says the
// same twice, never more than it may, and always in words.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mcp/json_text.h"
#include "mcp/schema.h"
#include "tests/fuzz/codec_fuzz.h"

namespace {

using namespace assay::mcp;

void require(bool holds) {
  if (!holds) std::abort();
}

bool same(const std::vector<Violation>& a, const std::vector<Violation>& b) {
  return describe(a) == describe(b) && to_json(a) == to_json(b);
}

void check(const Schema& schema, const Json& value) {
  const auto violations = schema.check(value);
  require(violations.size() <= kMaxViolations);
  require(same(violations, schema.check(value)));
  require(violations.empty() == describe(violations).empty());
  for (const Violation& one : violations) require(!one.message.empty() && !one.keyword.empty());
  Json expanded = value;
  (void)expand_json_text(schema, expanded);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return 0;
  Json schema = Json::parse(bytes.substr(0, line), nullptr, false);
  const Json value = Json::parse(bytes.substr(line + 1), nullptr, false);
  if (schema.is_discarded() || value.is_discarded()) return 0;
  try {
    check(Schema(std::move(schema)), value);
  } catch (const std::invalid_argument& refused) {
    require(std::string_view(refused.what()).size() > 0);
  }
  return 0;
}
