#include "engine/source/macro_option.h"

namespace assay::source {

std::string_view defined_by(std::string_view option) {
  for (const std::string_view front : {"-D", "--define-macro="}) {
    if (option.starts_with(front)) return option.substr(front.size());
  }
  return {};
}

}  // namespace assay::source
