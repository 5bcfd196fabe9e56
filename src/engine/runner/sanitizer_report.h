// What compute-sanitizer wrote, as findings of `checks`: its XML is a list of records, each with
// who, what and where. The process that it looked at could have written there too: the text may
// hold anything, and what comes of it is a claim.
//
// Pure; bounded in what it returns, linear in what it reads.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace assay::runner {

// A tensor as it lay on the device.
struct SanitizedTensor {
  std::string name{};
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::size_t kMaxReportBytes = 16U << 20;
inline constexpr std::size_t kMaxFindings = 100;

// [{kind, severity, message, where: {file, line, column}, block, thread, count, by, kernel?,
// memory?, offset_bytes?, element?, other?: {where}}], the same of one line folded into one; kinds
// as the emulator names them. Throws std::runtime_error for what is no report.
[[nodiscard]] nlohmann::json findings_of(std::string_view report,
                                         const std::vector<SanitizedTensor>& tensors);

}  // namespace assay::runner
