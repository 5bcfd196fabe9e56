// Whatever a report holds, reading it ends, stays within its bounds, and gives findings that have a
// kind and a place.
#include <cstdlib>
#include <stdexcept>

#include "engine/runner/sanitizer_report.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto findings = assay::runner::findings_of(
        text, {{.name = "x", .address = 4096, .bytes = 64}, {.name = "y"}});
    if (findings.size() > assay::runner::kMaxFindings) std::abort();
    for (const auto& finding : findings) {
      if (!finding.at("kind").is_string() || !finding.at("where").at("line").is_number()) {
        std::abort();
      }
      (void)finding.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
  } catch (const std::runtime_error&) {
  }
  return 0;
}
