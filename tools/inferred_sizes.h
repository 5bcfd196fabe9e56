// Which integer scalars of a kernel are extents, and what value each takes in an inferred contract.
// Private to inferred_contract.cc. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/source/launch.h"
#include "engine/source/usage.h"
#include "tools/inferred_instance.h"
#include "tools/inferred_launch.h"

namespace assay::tools {

struct InferredSizes {
  KnownSizes known{};                     // of the instance's numbers too
  std::vector<std::string> dimensions{};  // the scalars that are extents, outermost first

  // What an array covers if its index says nothing: every extent, multiplied.
  [[nodiscard]] std::string total() const;
};

// `given`: what the caller knows. What was chosen is appended to `assumptions`.
[[nodiscard]] InferredSizes infer_sizes(const source::Signature& signature,
                                        const source::Usage& usage,
                                        const InferredInstance& instance,
                                        const std::optional<source::Launch>& launch,
                                        const KnownSizes& given,
                                        std::vector<std::string>& assumptions);

}  // namespace assay::tools
