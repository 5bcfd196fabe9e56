// What the template parameters of a kernel stand for in an inferred contract. Private to
// inferred_contract.cc. Pure; any thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/source/instances.h"
#include "engine/source/launch.h"
#include "engine/source/usage.h"
#include "tools/inferred_launch.h"

namespace assay::tools {

// Empty of a kernel that is no template.
struct InferredInstance {
  std::vector<std::string> arguments{};                      // in order
  std::map<std::string, std::string, std::less<>> values{};  // by parameter
  KnownSizes numbers{};                                      // those that are numbers

  // "ops::scale<float, 4>".
  [[nodiscard]] std::string name(const source::Signature& signature) const;
  // A type as it is spelled in this instance.
  [[nodiscard]] const std::string& type(const std::string& spelled) const;
};

// Each as asked for in `wanted`, else from the launch, else from an instance, from its default,
// else float and 16, which is appended to `assumptions`.
[[nodiscard]] InferredInstance infer_instance(
    const source::Unit& unit, const source::Signature& signature, const source::Usage& usage,
    const std::optional<source::Launch>& launch, const std::vector<source::Instance>& instances,
    std::vector<std::string> wanted, std::vector<std::string>& assumptions);

}  // namespace assay::tools
