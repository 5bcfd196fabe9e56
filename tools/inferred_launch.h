// The launch half of an inferred contract. Private to inferred_contract.cc. Pure; any thread.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/launch.h"
#include "engine/source/usage.h"

namespace assay::tools {

using KnownSizes = std::map<std::string, std::int64_t, std::less<>>;

// What an expression over known sizes comes to.
[[nodiscard]] std::optional<std::int64_t> size_value(const std::string& text,
                                                     const KnownSizes& known);

// {"grid": [...], "block": [...], "shared_mem_bytes": …} of a launch in host code, its names
// replaced by the kernel's own scalars; nothing if a name has no value that is known here.
[[nodiscard]] std::optional<nlohmann::json> launch_from_host(const source::Launch& launch,
                                                             const source::Signature& signature,
                                                             const KnownSizes& known);

// The number that the host code passes for a parameter, if it is one there.
[[nodiscard]] std::optional<std::int64_t> constant_argument(const source::Launch& launch,
                                                            std::size_t index);

// The same for a real one: 2.0f, -0.5, or a name that the host code gives such a value.
[[nodiscard]] std::optional<double> constant_real(const source::Launch& launch, std::size_t index);

// From blockIdx and threadIdx in the body. `total`: the expression to cover if nothing bounds an
// index; `dimensions`: the scalars that are extents, outermost first. What was assumed is appended
// to `assumptions`.
[[nodiscard]] nlohmann::json launch_from_body(const source::Usage& usage,
                                              const source::Signature& signature,
                                              const std::string& total,
                                              const std::vector<std::string>& dimensions,
                                              const KnownSizes& known,
                                              std::vector<std::string>& assumptions);

}  // namespace assay::tools
