#include "plans/scripts.h"

#include <stdexcept>
#include <string>

// The arguments become names, which parentheses would spoil.
// NOLINTBEGIN(bugprone-macro-parentheses)
extern "C" {
#define FILE(name, symbol)    \
  extern const char symbol[]; \
  extern const char symbol##_end[];
#include "embedded_assay_plan_scripts.inc"
#undef FILE
}

namespace assay::plans {

std::string_view script_text(std::string_view file_name) {
#define FILE(name, symbol)                                            \
  if (file_name == std::string_view(name)) {                          \
    return {symbol, static_cast<std::size_t>(symbol##_end - symbol)}; \
  }
#include "embedded_assay_plan_scripts.inc"
#undef FILE
  // NOLINTEND(bugprone-macro-parentheses)
  throw std::out_of_range("no script named " + std::string(file_name));
}

}  // namespace assay::plans
