#include "engine/node/wrapper_headers.h"

#include <string>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_wrapper_headers.inc"
#undef FILE
}

namespace assay::node {

nlohmann::json wrapper_headers() {
  nlohmann::json texts = nlohmann::json::object();
#define FILE(name, symbol) \
  texts[name] = std::string(symbol, static_cast<std::size_t>(symbol##_end - symbol));
#include "embedded_assay_wrapper_headers.inc"
#undef FILE
  // NOLINTEND(bugprone-macro-parentheses)
  return texts;
}

}  // namespace assay::node
