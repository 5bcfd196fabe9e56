#include "tools/schemas.h"

#include <map>
#include <stdexcept>
#include <string>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_schemas.inc"
#undef FILE
}

namespace assay::tools {

std::string_view schema_text(std::string_view file_name) {
#define FILE(name, symbol)                                            \
  if (file_name == std::string_view(name)) {                          \
    return {symbol, static_cast<std::size_t>(symbol##_end - symbol)}; \
  }
#include "embedded_assay_schemas.inc"
#undef FILE
  // NOLINTEND(bugprone-macro-parentheses)
  throw std::out_of_range("no schema named " + std::string(file_name));
}

mcp::OrderedJson schema(std::string_view file_name) {
  return mcp::OrderedJson::parse(schema_text(file_name));
}

}  // namespace assay::tools
