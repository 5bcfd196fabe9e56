// `kernel`, `ref_kernel`: a source with its type, contract and metadata, from the caller's JSON to
// the form the engine takes. What the arguments alone decide is decided here, with a pointer per
// violation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/contract/contract.h"
#include "mcp/json.h"
#include "tools/library.h"

namespace assay::tools {

struct KernelArgument {
  nlohmann::json body = nlohmann::json::object();  // the order's `kernel`
  std::string kernel_type{};
  std::string given{};  // the source before anything was set aside: its launches tell of a contract
  std::optional<contract::Contract> contract{};
  std::vector<contract::Violation> warnings{};
};

// As a job's `warnings`, which its report repeats.
[[nodiscard]] nlohmann::json warnings_json(const std::vector<contract::Violation>& warnings);

// Of the text, in UTF-8: two of them fit a message however they are escaped (mcp::Limits,
// mcp::http::HttpLimits). As maxLength in the schemas, which counts characters.
inline constexpr std::size_t kMaxSourceBytes = 1U << 20;

// compile_kernel runs nothing, so it needs no contract; one that is given must be right.
enum class ContractNeed { as_the_type_says, none };

// `fallback` is the contract to take when the argument has none (a reference takes the kernel's).
// Violations are appended; the result is meaningful only if none were.
[[nodiscard]] KernelArgument read_kernel(const mcp::Json& argument, const std::string& pointer,
                                         const contract::Contract* fallback,
                                         std::vector<contract::Violation>& violations,
                                         const References& references = {},
                                         ContractNeed need = ContractNeed::as_the_type_says);

// The source alone, from source_code, source_file or job_id, whichever is given.
struct SourceText {
  std::string text{};
  std::string pointer{};                       // of the member that named it
  std::optional<nlohmann::json> job_kernel{};  // the earlier job's own `kernel`
};
[[nodiscard]] std::optional<SourceText> read_source(const mcp::Json& argument,
                                                    const std::string& pointer,
                                                    const References& references,
                                                    std::vector<contract::Violation>& violations);

// A contract as it is given: an object, or the name of a stored one. Nothing after a violation.
[[nodiscard]] std::optional<mcp::Json> contract_document(
    const mcp::Json& io, const std::string& pointer, const References& references,
    std::vector<contract::Violation>& violations);

}  // namespace assay::tools
