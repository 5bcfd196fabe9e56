// A report cut down to what a model acts on: about 2,000 tokens whatever the job has to say. What
// is left out is counted in the report and stands in the full one, or in the job's resources. Pure.
#pragma once

#include <cstddef>

#include "mcp/json.h"

namespace assay::tools {

// Of a compiler's log, so much stands in a brief report; the rest is a resource.
inline constexpr std::size_t kBriefLogBytes = 900;
// And in a full one.
inline constexpr std::size_t kFullLogBytes = 6'000;
// Of everything that an answer by default says. detail "full" and max_tokens ask for other lengths.
inline constexpr std::size_t kBriefTokens = 2'000;
// More for the counters of who asked for them: cut, they would have been counted for nothing.
inline constexpr std::size_t kCounterTokens = 3'000;
// Likewise for what checks found.
inline constexpr std::size_t kCheckTokens = 1'000;

void make_brief(mcp::OrderedJson& report);
// The same for build_io_contract. A contract is never cut: a large one is left out whole, and
// `io_contract_omitted` says how to get it.
void make_contract_brief(mcp::OrderedJson& answer);

}  // namespace assay::tools
